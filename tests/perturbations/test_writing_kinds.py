"""What each perturbation of writing does, and does not."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from string import ascii_letters

import pytest
from hydra.utils import instantiate
from omegaconf import OmegaConf

from argus.perturbations.typo import Typo
from argus.perturbations.writing.additions import EMOJI, FILLERS, Emoji, Filler, Stutter
from argus.perturbations.writing.case import MixedCase, Uppercase
from argus.perturbations.writing.letters import ExtraLetter, MissingLetter, RepeatedLetter, SwappedLetters, WrongLetter
from argus.perturbations.writing.looks import ACCENTED, LOOKALIKES, Accents, Homoglyphs, Leet
from argus.perturbations.writing.meaning import TOLD, meaning_of
from argus.perturbations.writing.misspelling import Misspelling, mistakes, one_slip_apart
from argus.perturbations.writing.numbers import NumberWords
from argus.perturbations.writing.ocr import MORE, Ocr, confusions
from argus.perturbations.writing.order import WordDrop, WordRepeat, WordSwap
from argus.perturbations.writing.punctuation import Punctuation
from argus.perturbations.writing.replaced import Abbreviation, Contraction, Homophone, Synonym, homophones
from argus.perturbations.writing.spacing import GAPS, Whitespace, WordMerge, WordSplit
from argus.perturbations.writing.table import TABLES, table
from argus.perturbations.writing.words import WordPerturbation, core_of

FOLDER = Path(__file__).resolve().parents[2] / "conf" / "perturbation"
TEXT = ' Two  dogs, "A-1" TV-sets\tand it\'s Über café: 35-mm (OK)  '
SEEDS = range(300)
FOUND = {
    "abbreviation": "What iz in front of the two red cars, & how many people r ther?",
    "accents": "What is in front of thë twô red carś, ànd how many people are ťhere?",
    "contraction": "What is in front of the two red cars, and how many people are there?",
    "emoji": "What 😂 is in front of the two ❤️ red cars, 😂 and ❤️ how 👍 many people are there?",
    "extra_letter": "Whaht ios ien front of the two red cars, annd how many people are txhere?",
    "filler": "What is well in um front hmm of the two red hmm cars, and uh how many people are there?",
    "homoglyphs": "Whаt is in front оf the two reԁ carѕ, and hоw many people are there?",
    "homophone": "What his in front of the to read cars, an how many people are their?",
    "leet": "What is 1n front of the two red c4r5, and how m4ny people are 7h3r3?",
    "missing_letter": "What is in front o the to red cars, an how may people are there?",
    "misspelling": "Whan is in fromt of the two red cars, and how mnay people are there?",
    "mixed_case": "What is iN FRonT of the two red cars, and how ManY people are tHERe?",
    "number_words": "What is in front of the 2 red cars, and how many people are there?",
    "ocr": "What is in frorit 0f thc two ked cars, and how many people are there?",
    "punctuation": "What is in front of the two red cars? and!! how - many people are - there.",
    "repeated_letter": "Whaat is in fronttt of the two red cars, and how maany people are thhhere?",
    "stutter": "What is i-i-in front of the two red cars, a-and h-how many p-p-people a-a-are there?",
    "swapped_letters": "What is in front of hte wto red cars, adn how mnay people are three?",
    "synonym": "What is in front of the two red automobiles, and how many people are there?",
    "typo": "What is in front lf thf twl ded cars, and hoq many people are there?",
    "uppercase": "What is IN front of the two red CARS, AND how many PEOPLE are there?",
    "whitespace": "What is\nin front of the two red\ncars, and\thow\nmany people  are there?",
    "word_drop": "What in front of the two red cars, and many are",
    "word_merge": "Whatis in frontof the two red cars, and how manypeople arethere?",
    "word_repeat": "What is is in in front of the two two red cars cars, and and how many people are there?",
    "word_split": "Wh at is in front of t he t wo red c ars, and h ow many people are there?",
    "word_swap": "What is in of front the two red cars, and how people many are there?",
    "wrong_letter": "Whzt is zn front og the tno red cars, and how vany people are there?",
}


def outcomes(perturbation: WordPerturbation, text: str) -> set[str]:
    return {perturbation.text(text, seed, "id") for seed in SEEDS}


def touched(perturbation: WordPerturbation, text: str) -> list[tuple[str, str]]:
    """Return (before, after) of the words that changed, where none comes or goes."""
    pairs = []
    for seed in SEEDS:
        after = perturbation.text(text, seed, "id")
        assert re.findall(r"\s+", after) == re.findall(r"\s+", text)
        pairs += [(old, new) for old, new in zip(text.split(), after.split(), strict=True) if old != new]
    return pairs


def is_subsequence(short: str, long: str) -> bool:
    rest = iter(long)
    return all(char in rest for char in short)


@pytest.mark.parametrize("kind", [Typo, WrongLetter])
def test_one_letter_is_another_of_the_same_case(kind: type[WordPerturbation]) -> None:
    for old, new in touched(kind(5), TEXT):
        (pair,) = [(a, b) for a, b in zip(old, new, strict=True) if a != b]
        assert pair[0] in ascii_letters
        assert pair[1] in ascii_letters
        assert pair[0].isupper() == pair[1].isupper()


def test_a_wrong_letter_may_be_any_other() -> None:
    assert outcomes(WrongLetter(1), "a") == set("bcdefghijklmnopqrstuvwxyz")


def test_swapped_letters_are_neighbours_and_capitals_stay_in_place() -> None:
    for old, new in touched(SwappedLetters(5), TEXT):
        assert Counter(old.lower()) == Counter(new.lower())
        assert [char.isupper() for char in old] == [char.isupper() for char in new]
        first, second = [place for place, (a, b) in enumerate(zip(old, new, strict=True)) if a.lower() != b.lower()]
        assert second == first + 1
    assert outcomes(SwappedLetters(5), "See") == {"Ese"}
    assert outcomes(SwappedLetters(5), "a aa I") == {"a aa I"}


def test_a_missing_letter_leaves_the_others_and_never_an_empty_word() -> None:
    for old, new in touched(MissingLetter(5), TEXT):
        assert len(new) == len(old) - 1
        assert is_subsequence(new, old)
    assert outcomes(MissingLetter(5), "dog") == {"og", "dg", "do"}
    assert outcomes(MissingLetter(5), "a I") == {"a I"}


def test_an_extra_letter_may_come_first_and_last() -> None:
    for old, new in touched(ExtraLetter(5), TEXT):
        assert len(new) == len(old) + 1
        assert is_subsequence(old, new)
    found = outcomes(ExtraLetter(5), "dog")
    assert any(word.endswith("dog") for word in found)
    assert any(word.startswith("dog") for word in found)


def test_a_repeated_letter_stands_there_two_to_four_times() -> None:
    assert outcomes(RepeatedLetter(5), "Go") == {"GGo", "GGGo", "GGGGo", "Goo", "Gooo", "Goooo"}


def test_a_misread_character_is_one_of_those_it_is_confused_with() -> None:
    assert outcomes(Ocr(5), "m") == {"rn"}
    assert outcomes(Ocr(5), "0") == {"8", "9", "o", "O", "D"}
    for old, new in touched(Ocr(5), TEXT):
        assert any(
            new == old[:place] + other + old[place + 1 :]
            for place, char in enumerate(old)
            for other in confusions().get(char, ())
        )


def test_nlpaugs_confusions_are_all_there() -> None:
    assert {"8", "O"} <= set(confusions()["0"])
    assert set(confusions()["l"]) == {"1"}
    assert all(set(others) <= set(confusions()[char]) for char, others in MORE.items())
    assert all(char not in others for char, others in confusions().items())


@pytest.mark.parametrize(("kind", "others"), [(Accents, ACCENTED), (Homoglyphs, LOOKALIKES)])
def test_one_letter_gets_a_likeness(kind: type[WordPerturbation], others: dict[str, str]) -> None:
    for old, new in touched(kind(5), TEXT):
        ((before, after),) = [(a, b) for a, b in zip(old, new, strict=True) if a != b]
        assert after in others[before]


def test_lookalikes_and_accented_letters_are_no_latin_ones_and_of_the_same_case() -> None:
    for letter, options in {**ACCENTED, **LOOKALIKES}.items():
        for option in options:
            assert not option.isascii()
            assert option.isupper() == letter.isupper() or option == "ӏ"  # a small letter that looks like l


def test_leet_turns_every_letter_it_can_and_never_makes_a_number() -> None:
    assert outcomes(Leet(5), "surfboard") == {"5urf804rd"}
    assert outcomes(Leet(5), "at A is") == {"at A is"}


def test_capitals_are_those_of_latin_letters() -> None:
    assert outcomes(Uppercase(5), "straße") == {"STRAßE"}
    assert outcomes(Uppercase(5), "TV") == {"TV"}
    assert all(old.lower() == new.lower() for old, new in touched(MixedCase(5), TEXT))
    assert outcomes(MixedCase(5), "ab") == {"Ab", "aB", "AB"}


def test_words_left_out_leave_the_others_in_order_and_no_stray_space() -> None:
    text = " one two three four five "
    for seed in SEEDS:
        after = WordDrop(5).text(text, seed, "id")
        assert re.fullmatch(r" \w+( \w+)* ", after)
        kept = after.split()
        assert 1 <= len(kept) < 5
        assert kept == [word for word in text.split() if word in kept]
    assert outcomes(WordDrop(5), "one two") == {"one", "two"}
    assert outcomes(WordDrop(5), " one ") == {" one "}


def test_swapped_words_are_the_same_words_in_another_order() -> None:
    for seed in SEEDS:
        after = WordSwap(5).text("one two three four", seed, "id")
        assert sorted(after.split()) == sorted(["one", "two", "three", "four"])
    assert outcomes(WordSwap(5), "one, two") == {"two one,"}
    assert outcomes(WordSwap(5), "two two") == {"two two"}


def test_a_word_is_said_twice_within_its_punctuation() -> None:
    assert outcomes(WordRepeat(5), '"dog"') == {'"dog dog"'}


def test_words_run_together_lose_one_gap() -> None:
    assert outcomes(WordMerge(1), "one  two three") == {"onetwo three", "one  twothree"}


def test_a_split_word_gains_one_space_between_letters() -> None:
    assert outcomes(WordSplit(5), "(cat)") == {"(c at)", "(ca t)"}
    assert outcomes(WordSplit(5), "a (b)") == {"a (b)"}


def test_white_space_changes_alone() -> None:
    assert outcomes(Whitespace(5), "cat") == {f"cat{gap}" for gap in GAPS}
    for seed in SEEDS:
        assert Whitespace(5).text(TEXT, seed, "id").split() == TEXT.split()


def test_punctuation_changes_after_words_alone() -> None:
    found = outcomes(Punctuation(5), "it's")
    assert "it's" not in found
    assert all(re.fullmatch(r"it's(?: -|[,.;:!?]+)", after) for after in found)
    assert {"cat", "cat?"} <= outcomes(Punctuation(5), "cat.")


def test_fillers_stutter_and_emoji_leave_every_word_in_place() -> None:
    assert outcomes(Filler(5), "cat") == {f"{filler} cat" for filler in FILLERS}
    assert outcomes(Stutter(5), '"Cat') == {'"C-Cat', '"C-C-Cat'}
    assert outcomes(Emoji(5), "cat") == {f"cat {emoji}" for emoji in EMOJI}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Two", "2"),
        ("(two)", "(2)"),
        ("Twenty-one", "21"),
        ("99.", "ninety-nine."),
        ("0", "zero"),
        ("100 007 2.5 3rd 35-mm two-story hundred dozen", "100 007 2.5 3rd 35-mm two-story hundred dozen"),
    ],
)
def test_numbers_are_written_the_other_way(before: str, after: str) -> None:
    assert outcomes(NumberWords(5), before) == {after}
    assert meaning_of(before) == meaning_of(after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("It is red.", "It's red."),
        ("it is.", "it's."),
        ("IT'S red", "IT IS red"),
        ("(isn't)", "(is not)"),
        ("it’s", "it is"),
        ("the dog's is not, is", "the dog's isn't, is"),
        ("it, is it", "it, is it"),
        ("I am here", "I'm here"),
    ],
)
def test_contractions_go_both_ways(before: str, after: str) -> None:
    assert outcomes(Contraction(5), before) == {after}


def test_a_word_protected_is_not_contracted() -> None:
    assert outcomes(Contraction(5, protect=["is"]), "it is not it's") == {"it is not it is"}


def test_words_sound_like_all_others_of_their_row() -> None:
    assert outcomes(Homophone(5), "Two,") == {"To,", "Too,"}
    rows = [(first, *others) for first, others in table("homophones").items()]
    assert len({word for row in rows for word in row}) == sum(map(len, rows))  # no word in two rows
    assert all(word in homophones()[other] for word, others in homophones().items() for other in others)


def test_abbreviations_and_synonyms_keep_case_and_punctuation() -> None:
    assert outcomes(Abbreviation(5), "(People,") == {"(Ppl,"}
    assert outcomes(Synonym(5), "PEOPLE?") == {"PERSONS?", "FOLKS?"}


@pytest.mark.parametrize("name", ["abbreviations", "synonyms", "contractions", "homophones"])
def test_a_word_list_has_a_source_and_no_entry_twice_nor_for_itself(name: str) -> None:
    lines = (TABLES / f"{name}.tsv").read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("# ")
    firsts = [line.split("\t")[0] for line in lines if not line.startswith("#")]
    assert len(firsts) == len(set(firsts))
    for first, others in table(name).items():
        assert others
        assert first not in others
        assert first == first.lower()


@pytest.mark.parametrize("name", ["abbreviations", "synonyms"])
def test_no_word_that_meaning_hangs_on_is_abbreviated_or_has_a_synonym(name: str) -> None:
    for first, others in table(name).items():
        assert not TOLD & {first, *(word for other in others for word in other.split())}
        assert meaning_of(first) == []
        assert all(meaning_of(other) == [] for other in others)


def test_mistakes_are_one_slip_from_the_word_and_no_other_word() -> None:
    assert "kichen" in mistakes("kitchen")
    assert "freind" in mistakes("friend")
    assert mistakes("beach")
    assert "bitch" not in mistakes("beach")
    assert mistakes("the") == ()  # its mistakes are other words: "he", "them"
    assert all(one_slip_apart("people", wrong) for wrong in mistakes("people"))
    assert outcomes(Misspelling(5), "(Kitchen)") == {f"({wrong.capitalize()})" for wrong in mistakes("kitchen")}


@pytest.mark.parametrize(
    ("one", "other", "apart"),
    [
        ("cat", "cart", True),
        ("cart", "cat", True),
        ("cat", "cut", True),
        ("cat", "act", True),
        ("cat", "cta", True),
        ("cat", "scat", True),
        ("cat", "cats", True),
        ("cat", "cat", False),
        ("cat", "tac", False),
        ("cat", "cutt", False),
        ("beach", "bitch", False),
        ("", "a", True),
    ],
)
def test_one_slip_is_a_letter_more_less_replaced_or_swapped(one: str, other: str, apart: bool) -> None:
    assert one_slip_apart(one, other) is apart


def test_word_lists_load_no_heavy_library() -> None:
    light = {path.stem for path in TABLES.parent.glob("*.py")} - {"misspelling", "ocr"}
    code = "\n".join(f"import argus.perturbations.writing.{name}" for name in sorted(light))
    code += "\nimport sys; print([m for m in ('nlpaug', 'torch', 'pandas', 'transformers') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_no_perturbation_of_writing_loads_transformers() -> None:
    code = "import argus.perturbations.writing.misspelling, argus.perturbations.writing.ocr, argus.perturbations.typo\n"
    code += "import sys; print('transformers' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


QUESTION = "What is in front of the two red cars, and how many people are there?"


@pytest.mark.parametrize("name", FOUND)
def test_results_are_those_of_earlier_runs(name: str) -> None:
    config = OmegaConf.create({"perturbation": OmegaConf.load(FOLDER / f"{name}.yaml")})
    assert instantiate(config.perturbation.transform).text(QUESTION, 7, "text 0") == FOUND[name]


def test_the_parts_of_a_word_are_found_around_its_letters_and_digits() -> None:
    assert [core_of(word) for word in ('"dog"', "(TV-set),", "it's", "35-mm.", "...", "_x_")] == [
        "dog",
        "TV-set",
        "it's",
        "35-mm",
        "",
        "_x_",
    ]
