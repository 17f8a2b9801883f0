from __future__ import annotations

import shutil
from dataclasses import replace

import pytest
import torch
from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerFast

from argus.errors import ArgusError, ConfigError, DataError
from argus.models.base import Choice
from argus.models.chat import Chat, choice_rows, choice_scores
from argus.models.loading import digest
from argus.models.prefix import Row, shared_length
from argus.models.prompts import answer_tokens
from tests.models import tiny
from tests.models.plain import MATCH_PROMPT, QUESTION_PROMPT, PlainChat

TEXTS = ["a red cube", "no", "a very long caption about a blue ball and some other things on the left", '"?', ""]
QUESTIONS = [
    Choice("What is red?", ("cube", "yes", "a blue ball")),
    Choice("Does it?", ("yes", "no")),
    Choice("What is this small thing in the image on the left?", ("red", "no", "x" * 12, "blue cube")),
]


def make(folder, runtime, **changes) -> Chat:
    settings = {
        "checkpoint": str(folder),
        "revision": None,
        "caption_prompt": "Describe this image in one sentence.",
        "match_prompt": MATCH_PROMPT,
        "question_prompt": QUESTION_PROMPT,
        "num_beams": 1,
        "max_new_tokens": 8,
        "image_options": {},
        "pairs_at_once": 7,
    }
    return Chat(**{**settings, **changes}, runtime=runtime)


@pytest.fixture(scope="module")
def chat(chat_folder, runtime) -> Chat:
    return make(chat_folder, runtime)


@pytest.fixture(scope="module")
def reference(chat_folder) -> PlainChat:
    return PlainChat(chat_folder)


def test_matching_scores_equal_those_of_whole_sequences(chat, reference, images, odd_images):
    pictures = [*images[:3], *odd_images]
    scores = chat.match(pictures, [TEXTS] * len(pictures))
    for image, row in zip(pictures, scores, strict=True):
        expected = torch.tensor([reference.match(image, text) for text in TEXTS])
        torch.testing.assert_close(row, expected, atol=1e-4, rtol=0)
    assert torch.stack(scores).std(dim=0).min() > 1e-3  # the picture matters
    assert torch.stack(scores).std(dim=1).min() > 1e-3  # the text matters


def test_choice_scores_equal_those_of_whole_sequences(chat, reference, images, odd_images):
    pictures = [*images[:2], *odd_images[2:4]]
    for image, scores in zip(pictures, chat.choose(pictures, [QUESTIONS] * 4), strict=True):
        for question, row in zip(QUESTIONS, scores, strict=True):
            expected = torch.tensor(reference.choose(image, question))
            torch.testing.assert_close(row, expected, atol=1e-4, rtol=0)


def test_captions_equal_those_of_the_plain_model_whatever_their_company(chat, reference, images, odd_images):
    pictures = [*images, *odd_images]
    prompts = ["Describe.", TEXTS[2] * 3, "", "What is it?", "a", "red"] * 2
    captions = chat.generate(pictures, prompts)
    assert captions == [reference.generate(*pair) for pair in zip(pictures, prompts, strict=True)]
    assert len(set(captions)) > 3


@pytest.mark.parametrize("window", [8, 24, 400])
def test_the_shared_prefix_holds_for_any_sliding_window(tmp_path, runtime, images, window):
    folder = tiny.save_gemma(tmp_path, sliding_window=window)
    chat, reference = make(folder, runtime), PlainChat(folder)
    scores = chat.match(images[:2], [TEXTS, TEXTS[:2]])
    for image, texts, row in zip(images, (TEXTS, TEXTS[:2]), scores, strict=False):
        expected = torch.tensor([reference.match(image, text) for text in texts])
        torch.testing.assert_close(row, expected, atol=1e-4, rtol=0)


@pytest.mark.parametrize("pairs_at_once", [1, 5, 1000])
def test_scores_do_not_depend_on_the_company(chat, chat_folder, runtime, images, odd_images, pairs_at_once):
    other = make(chat_folder, runtime, pairs_at_once=pairs_at_once)
    pictures = [images[0], odd_images[0], images[1], images[2]]
    texts = [TEXTS, TEXTS[:1], [], TEXTS[::-1]]
    questions = [QUESTIONS[:1], [], QUESTIONS, QUESTIONS[2:]]
    matched, chosen = other.match(pictures, texts), other.choose(pictures, questions)
    assert [len(row) for row in matched] == [5, 1, 0, 5]
    assert [len(row) for row in chosen] == [1, 0, 3, 1]
    for image, own, row in zip(pictures, texts, matched, strict=True):
        for text, score in zip(own, row, strict=True):
            torch.testing.assert_close(score, chat.match([image], [[text]])[0][0], atol=1e-4, rtol=0)
    for image, asked, row in zip(pictures, questions, chosen, strict=True):
        for question, scores in zip(asked, row, strict=True):
            torch.testing.assert_close(scores, chat.choose([image], [[question]])[0][0], atol=1e-4, rtol=0)


def test_the_side_that_the_checkpoint_fills_up_changes_nothing(chat, chat_folder, runtime, images, tmp_path):
    prompts = ["Describe.", "", TEXTS[2]]
    for side in ("left", "right"):
        turned = make(tiny.filled_up(chat_folder, tmp_path / side, side), runtime)
        assert turned.prompts.processor.tokenizer.padding_side == side
        assert turned.generate(images[:3], prompts) == chat.generate(images[:3], prompts)
        assert torch.equal(turned.match(images[:1], [TEXTS])[0], chat.match(images[:1], [TEXTS])[0])


def test_a_picture_is_read_once_for_all_its_texts(chat, images):
    seen = []
    tower = next(
        module
        for name, module in chat.model.model.named_children()
        if name in ("vision_tower", "visual", "vision_model")
    )
    hook = tower.register_forward_hook(lambda module, inputs, output: seen.append(1))
    chat.match(images, [TEXTS] * len(images))
    chat.choose(images, [QUESTIONS] * len(images))
    hook.remove()
    assert len(seen) == 2


def test_prompts_have_exactly_the_tokens_of_the_processor(chat, reference, images, odd_images):
    texts = [*TEXTS, '"a red', "\n\nDoes it", "  spaces  ", "D"]
    for image in [images[0], *odd_images]:
        expected = [reference.inputs(image, text)["input_ids"][0].tolist() for text in texts]
        assert chat.prompts.tokens(image, texts) == expected


def test_image_options_reach_the_image_processor(gemma_folder, runtime, images, odd_images):
    options = {"do_pan_and_scan": True, "pan_and_scan_min_crop_size": 8, "pan_and_scan_min_ratio_to_activate": 1.2}
    options["pan_and_scan_max_num_crops"] = 4
    chat = make(gemma_folder, runtime, image_options=options)
    wide = odd_images[3]
    plain, scanned = (len(own.prompts.tokens(wide, ["a"])[0]) for own in (make(gemma_folder, runtime), chat))
    assert scanned > plain
    assert scanned == chat.prompts.inputs([wide], ["a"])["input_ids"].shape[1]
    both = chat.match([wide, images[0]], [TEXTS, TEXTS])
    torch.testing.assert_close(both[0], chat.match([wide], [TEXTS])[0], atol=1e-4, rtol=0)


def test_sampling_in_the_checkpoint_is_overruled(gemma_folder, runtime, images):
    chat = make(gemma_folder, runtime)
    assert '"do_sample": true' in (gemma_folder / "generation_config.json").read_text()
    captions = [chat.generate(images, [chat.caption_prompt] * len(images)) for _ in range(2)]
    assert captions[0] == captions[1]


def test_beams_are_a_knob(chat_folder, chat, runtime, images):
    wide = make(chat_folder, runtime, num_beams=4).generate(images, ["What?"] * len(images))
    assert wide != chat.generate(images, ["What?"] * len(images))


def hand_made(pieces) -> PreTrainedTokenizerFast:
    model = models.BPE(vocab={piece: index for index, piece in enumerate(pieces)}, merges=[], unk_token="?")
    return PreTrainedTokenizerFast(tokenizer_object=Tokenizer(model))


def test_every_way_to_begin_a_yes_counts_once_and_a_token_that_begins_both_does_not():
    tokenizer = hand_made(["?", "y", "n", "Y", "N", " ", "e", "s", "o"])
    # "yes" begins with 1, "Yes" with 3, "no" with 2, "No" with 4; " yes" and " no" both begin with a space.
    assert answer_tokens(tokenizer) == ([1, 3], [2, 4])


def test_a_tokenizer_that_cannot_tell_yes_from_no_is_an_error():
    with pytest.raises(ConfigError, match="cannot tell a yes from a no"):
        answer_tokens(hand_made(["?"]))


def test_a_choice_scores_the_mean_log_probability_of_its_tokens_without_an_end_token():
    rows = choice_rows([5, 6], [[1], [2, 3, 4]])
    assert rows == [Row((5, 6), (1, 1), (1, 2)), Row((5, 6, 2, 3), (2, 3), (3, 4))]
    read = iter([torch.tensor([-4.0, -1.0]), torch.tensor([-2.0, -6.0])])
    assert choice_scores(read, [[1], [2, 3, 4]]) == [-4.0, (-1.0 - 2.0 - 6.0) / 3]


def test_a_choice_without_a_token_is_an_error(chat, images):
    with pytest.raises(DataError, match=r"the choice '' .* has no tokens"):
        chat.choose(images[:1], [[Choice("What?", ("red", ""))]])


def test_the_shared_prefix_ends_before_the_first_difference_and_the_first_question():
    assert shared_length([Row((1, 2, 3, 4), (3,), (0,)), Row((1, 2, 5, 4), (3,), (0,))]) == 2
    assert shared_length([Row((1, 2, 3), (2,), (0,))]) == 2
    assert shared_length([Row((1, 2, 3, 4), (1, 2), (0, 0)), Row((1, 2, 3, 4, 5), (4,), (0,))]) == 1


@pytest.mark.parametrize("name", ["match_prompt", "question_prompt"])
def test_a_prompt_without_its_place_is_an_error(gemma_folder, runtime, name):
    with pytest.raises(ConfigError, match=f"{name} is 'Really.'"):
        make(gemma_folder, runtime, **{name: "Really?"})


def test_a_template_with_the_text_before_the_picture_is_an_error(chat_folder, runtime, tmp_path):
    folder = shutil.copytree(chat_folder, tmp_path / "copy")
    template = (folder / "chat_template.jinja").read_text()
    (folder / "chat_template.jinja").write_text(template.replace("message['content']", "message['content'] | reverse"))
    with pytest.raises(ConfigError, match="does not put the picture before the text"):
        make(folder, runtime)


def test_an_image_option_that_the_processor_does_not_know_is_an_error(chat_folder, runtime):
    with pytest.raises(ConfigError, match=r"image_options .*'do_pan_and_scam'"):
        make(chat_folder, runtime, image_options={"do_pan_and_scam": True})


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_half_precision_gives_nearly_the_same_scores(chat, chat_folder, runtime, images, dtype):
    half = make(chat_folder, replace(runtime, dtype=dtype)).match(images[:2], [TEXTS] * 2)
    torch.testing.assert_close(torch.stack(half), torch.stack(chat.match(images[:2], [TEXTS] * 2)), atol=0.1, rtol=0.1)


def test_values_that_are_not_finite_are_an_error_with_advice(gemma_folder, runtime, images):
    chat = make(gemma_folder, replace(runtime, dtype="float16"))
    with torch.no_grad():
        chat.model.model.language_model.norm.weight[0] = torch.nan
    for use in (
        lambda: chat.match(images[:1], [TEXTS]),
        lambda: chat.generate(images[:1], ["What?"]),
        lambda: chat.choose(images[:1], [QUESTIONS]),
    ):
        with pytest.raises(ArgusError, match="use bfloat16 or float32"):
            use()


def test_revision_is_the_digest_of_the_folder(chat, chat_folder):
    assert chat.revision == digest(chat_folder)


def test_use_prints_nothing_and_warns_nothing(chat_folder, runtime, images, capfd, recwarn):
    chat = make(chat_folder, runtime)
    chat.generate(images, [""] * len(images))
    chat.choose(images, [QUESTIONS] * len(images))
    chat.match(images, [TEXTS] * len(images))
    assert capfd.readouterr() == ("", "")
    assert not recwarn.list
