"""Caption scores: by hand, equal to the recorded reference scores, and to the reference scorers on the same tokens."""

from __future__ import annotations

import json
import math
import random

import pytest

from argus.errors import DataError
from argus.metrics.captions import bleu, score_captions, total
from argus.metrics.captions.bleu import bleu_statistics
from argus.metrics.captions.cider import cider_d
from argus.metrics.captions.rouge import rouge_l
from argus.metrics.captions.scores import score_overlap, tokenize_captions

NAMES = {
    "Bleu_1": "bleu_1",
    "Bleu_2": "bleu_2",
    "Bleu_3": "bleu_3",
    "Bleu_4": "bleu_4",
    "ROUGE_L": "rouge_l",
    "CIDEr": "cider_d",
}


def _split(words: str) -> list[str]:
    return words.split()


def test_scores_equal_the_reference_implementation_for_the_corpus_and_each_image(sample_data):
    folder = sample_data / "coco_caption_eval"
    expected = json.loads((folder / "expected" / "fakecap126_expected.json").read_text())
    references: dict[int, list[str]] = {}
    for a in json.loads((folder / "annotations" / "captions_val2014_fakecap126.json").read_text())["annotations"]:
        references.setdefault(a["image_id"], []).append(a["caption"])
    results = json.loads((folder / "results" / "captions_val2014_fakecap126_results.json").read_text())
    scores = score_captions({r["image_id"]: r["caption"] for r in results}, references)
    assert len(scores.images) == len(expected["per_image"]) == 126
    for theirs, ours in NAMES.items():
        assert scores.corpus[ours] == pytest.approx(expected["corpus"][theirs], abs=1e-9)
        for image in expected["per_image"]:
            assert scores.images[image["image_id"]][ours] == pytest.approx(image[theirs], abs=1e-9)


def test_published_counts_of_the_demo_results(sample_data):
    folder = sample_data / "coco_caption_eval"
    published = json.loads((folder / "expected" / "fakecap1000_published.json").read_text())["corpus_stats"]
    results = json.loads((folder / "results" / "captions_val2014_fakecap_results.json").read_text())
    captions = {r["image_id"]: r["caption"] for r in results}
    scores = score_captions(captions, {image: ["a"] for image in captions})
    counts = total(scores.bleu_statistics.values())
    assert (counts.length, list(counts.written)) == (published["testlen"], published["guess"])


def _random_corpus(seed: int) -> tuple[dict[int, str], dict[int, list[str]]]:
    draw = random.Random(seed)
    words = _split("a dog cat red hat runs on 1 1/2 the street , ( . K. cannot two")

    def caption() -> str:
        return " ".join(draw.choices(words, k=draw.randint(0, 9)))

    references = {image: [caption() for _ in range(draw.randint(1, 5))] for image in range(12)}
    copied = {image: draw.choice(group) for image, group in references.items()}
    return {image: draw.choice([caption(), copied[image]]) for image in references}, references


@pytest.mark.parametrize("seed", range(8))
def test_scores_equal_the_reference_scorers_given_our_tokens(seed):
    pytest.importorskip("pycocoevalcap")
    from pycocoevalcap.bleu.bleu import Bleu
    from pycocoevalcap.cider.cider import Cider
    from pycocoevalcap.rouge.rouge import Rouge

    candidates, references = _random_corpus(seed)
    tokenized = tokenize_captions(candidates, references)
    theirs = {i: list(group) for i, group in tokenized.references.items()}
    written = {i: [text] for i, text in tokenized.candidates.items()}
    ours = score_captions(candidates, references)
    corpus, images = Bleu(4).compute_score(theirs, written, verbose=0)
    for name, scorer in (("rouge_l", Rouge()), ("cider_d", Cider())):
        value, values = scorer.compute_score(theirs, written)
        assert ours.corpus[name] == pytest.approx(value, abs=1e-9)
        assert [scores[name] for scores in ours.images.values()] == pytest.approx(list(values), abs=1e-9)
    for n in range(4):
        assert ours.corpus[f"bleu_{n + 1}"] == pytest.approx(corpus[n], abs=1e-9)
        assert [s[f"bleu_{n + 1}"] for s in ours.images.values()] == pytest.approx(images[n], abs=1e-9)


def test_bleu_clips_repeated_words_and_punishes_a_short_caption():
    # "the the the" has one of its three words allowed twice: 2/3. No pair "the the" in the reference.
    clipped = bleu(bleu_statistics(_split("the the the"), [_split("the cat on the mat")]))
    assert clipped[0] == pytest.approx(2 / 3 * math.exp(1 - 5 / 3))
    assert clipped[1] == pytest.approx(0, abs=1e-6)
    assert bleu(bleu_statistics(_split("a b c d"), [_split("a b c d")])) == pytest.approx((1, 1, 1, 1))


def test_bleu_takes_the_nearest_reference_length_and_the_shorter_of_two_as_near():
    references = [["x"] * 2, ["x"] * 4, ["x"] * 9]
    assert bleu_statistics(["x"] * 3, references).reference_length == 2
    assert bleu_statistics(["x"] * 8, references).reference_length == 9


def test_bleu_of_a_resample_is_the_sum_of_its_captions():
    candidates, references = _random_corpus(seed=3)
    scores = score_captions(candidates, references)
    drawn = [0, 5, 5, 7, 11, 11, 11]
    again = score_captions(
        dict(enumerate(candidates[image] for image in drawn)), dict(enumerate(references[image] for image in drawn))
    )
    summed = bleu(total(scores.bleu_statistics[image] for image in drawn))
    assert summed == pytest.approx([again.corpus[f"bleu_{n}"] for n in range(1, 5)])


def test_rouge_l_is_the_f_score_of_the_longest_common_subsequence():
    # common: "a dog on street" = 4 of 5 words written, 4 of 6 words of the reference
    precision, recall, beta = 4 / 5, 4 / 6, 1.2
    expected = (1 + beta**2) * precision * recall / (recall + beta**2 * precision)
    assert rouge_l(_split("a dog on hot street"), [_split("a dog runs on the street")]) == pytest.approx(expected)


def test_rouge_l_takes_the_best_precision_and_the_best_recall_over_references():
    # the first reference is fully recalled (1/1), the second gives the better precision (2/3)
    expected = (1 + 1.2**2) * (2 / 3) * 1 / (1 + 1.2**2 * (2 / 3))
    assert rouge_l(_split("a b c"), [["c"], _split("a b x y")]) == pytest.approx(expected)


def test_cider_d_by_hand_for_two_images_of_one_word():
    # "dog" is in one image of two, so it weighs log 2 on both sides: cosine 1 for words, nothing for longer sequences.
    assert cider_d([["dog"], ["x"]], [[["dog"]], [["cat"]]]) == pytest.approx([10 / 4, 0])
    # Both images have "dog": it weighs nothing.
    assert cider_d([["dog"], ["dog"]], [[["dog"]], [["dog"]]]) == [0, 0]


def test_cider_d_punishes_a_difference_in_length():
    # One word too many is one word pair too many: exp(-1 / (2 * 36)); words cosine log2 / sqrt(2 log2^2).
    scores = cider_d([["dog", "red"], ["x"]], [[["dog"]], [["cat"]]])
    assert scores[0] == pytest.approx(10 / 4 * math.exp(-1 / 72) / math.sqrt(2))


def test_one_image_is_an_error_for_cider_d_and_not_a_silent_zero():
    with pytest.raises(DataError, match="CIDEr-D needs at least two images"):
        score_captions({1: "a dog"}, {1: ["a dog"]})
    assert score_overlap(tokenize_captions({1: "a dog"}, {1: ["a dog"]})).corpus["bleu_2"] == pytest.approx(1)


def test_an_empty_caption_scores_zero():
    scores = score_captions({1: "", 2: "a cat"}, {1: ["a dog"], 2: ["a cat sits"]})
    assert scores.images[1] == pytest.approx(dict.fromkeys(NAMES.values(), 0), abs=1e-12)


def test_scores_do_not_depend_on_the_order_of_the_captions_given():
    candidates, references = _random_corpus(seed=1)
    shuffled = dict(reversed(candidates.items()))
    assert score_captions(shuffled, references) == score_captions(candidates, references)


@pytest.mark.parametrize(
    ("candidates", "references", "message"),
    [
        ({1: "a", 2: "b", 3: "c"}, {1: ["a"], 2: ["b"]}, "1 image.* with a caption but without references: 3"),
        ({1: "a"}, {1: ["a"], 2: ["b"]}, "1 image.* with references but without a caption: 2"),
        ({1: "a", 2: "b"}, {1: ["a"], 2: []}, "1 image.* without a reference, first 2"),
        ({}, {}, "no image to score"),
    ],
)
def test_ids_that_do_not_match_are_named(candidates, references, message):
    with pytest.raises(DataError, match=message):
        score_captions(candidates, references)
