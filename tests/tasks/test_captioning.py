from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch
from PIL.Image import Image
from torch import Tensor

from argus.errors import ArgusError, ConfigError, DataError
from argus.models.base import Embedder, Generator, Matcher
from argus.tasks.captioning import Captioning, source


class Bare:
    def modules(self, task: str) -> tuple[torch.nn.Module, ...]:
        return ()

    @property
    def revision(self) -> str:
        return "by hand"


class Writer(Bare, Generator):
    """Writes the n-th text for the n-th image, and keeps the prompts it was given."""

    def __init__(self, texts: Sequence[str], caption_prompt: str = "a picture of") -> None:
        self.texts = texts
        self.caption_prompt = caption_prompt
        self.prompts: dict[int, str] = {}

    def generate(self, images: Sequence[Image], prompts: Sequence[str]) -> list[str]:
        numbers = [image.getpixel((0, 0))[0] for image in images]
        self.prompts |= dict(zip(numbers, prompts, strict=True))
        return [self.texts[number] for number in numbers]


class Picker(Bare, Embedder):
    """Likes a text as its table says: `likes[text]`, whatever the image."""

    def __init__(self, likes: dict[str, float]) -> None:
        self.likes = likes

    def embed_images(self, images: Sequence[Image]) -> Tensor:
        return torch.ones(len(images), 1)

    def embed_texts(self, texts: Sequence[str]) -> Tensor:
        return torch.tensor([[self.likes[text]] for text in texts])

    def truncated(self, texts: Sequence[str]) -> int:
        return 0


class WriterAndPicker(Writer, Picker):
    pass


class Judge(Bare, Matcher):
    def match(self, images: Sequence[Image], texts: Sequence[Sequence[str]]) -> list[Tensor]:
        return []


CAPTIONS = {
    "x": ["a red dog runs on the grass", "a dog is running"],
    "y": ["two cats sleep on a sofa", "cats are sleeping"],
    "z": ["a plane in the blue sky", "a plane flies"],
}


def texts_of(predictions) -> dict[str, str]:
    return {p.image_id: p.text for p in predictions}


def test_perfect_captions_score_one_up_to_the_ceiling_and_wrong_ones_zero(make_work):
    right = Captioning(1.5).predict(Writer([texts[0] for texts in CAPTIONS.values()]), make_work(CAPTIONS))
    metrics = Captioning(1.5).measure(right)
    assert metrics["bleu_1"] == pytest.approx(1)
    assert metrics["rouge_l"] == pytest.approx(1)
    assert metrics["score"] == min(metrics["cider_d"] / 1.5, 1)
    assert Captioning(2 * metrics["cider_d"]).measure(right)["score"] == pytest.approx(0.5)
    wrong = Captioning(1.5).predict(Writer(["zebra"] * 3), make_work(CAPTIONS))
    assert Captioning(1.5).measure(wrong)["score"] == 0


def test_length_and_variety_of_captions_are_counted(make_work):
    predictions = Captioning(1.5).predict(Writer(["a dog", "a dog", "three words here"]), make_work(CAPTIONS))
    metrics = Captioning(1.5).measure(predictions)
    assert metrics["caption_words"] == pytest.approx(7 / 3)
    assert metrics["distinct_captions"] == pytest.approx(2 / 3)


def test_all_metrics_of_the_family_are_there(make_work):
    metrics = Captioning(1.5).measure(Captioning(1.5).predict(Writer(["a", "b", "c"]), make_work(CAPTIONS)))
    assert {"score", "bleu_1", "bleu_2", "bleu_3", "bleu_4", "rouge_l", "cider_d"} <= set(metrics)


def test_prompt_is_perturbed_for_each_sample_and_references_never(make_work):
    work = make_work(CAPTIONS, perturb=str.upper, perturb_prompt=lambda prompt, sample_id: f"{prompt}~{sample_id}")
    model = Writer(["a", "b", "c"])
    predictions = Captioning(1.5).predict(model, work)
    assert model.prompts == {0: "a picture of~x", 1: "a picture of~y", 2: "a picture of~z"}
    assert {p.image_id: list(p.references) for p in predictions} == CAPTIONS


def test_model_without_prompt_gets_none(make_work):
    model = Writer(["a", "b", "c"], caption_prompt="")
    Captioning(1.5).predict(model, make_work(CAPTIONS, perturb_prompt=lambda prompt, sample_id: "made up"))
    assert set(model.prompts.values()) == {""}


def test_embedder_picks_the_most_similar_caption_of_another_image(make_work):
    likes = dict.fromkeys((text for texts in CAPTIONS.values() for text in texts), 0.1)
    likes |= {"a dog is running": 0.9, "a plane flies": 0.5}
    predictions = Captioning(1.5).predict(Picker(likes), make_work(CAPTIONS))
    assert texts_of(predictions) == {"x": "a plane flies", "y": "a dog is running", "z": "a dog is running"}


def test_bank_leaves_out_texts_equal_to_a_reference_and_ignores_perturbed_texts(make_work):
    captions = {"x": ["a dog"], "y": ["a dog ", "a cat"], "z": ["a bird"]}
    likes = {"a dog": 0.9, "a cat": 0.5, "a bird": 0.1}
    predictions = Captioning(1.5).predict(Picker(likes), make_work(captions, perturb=str.upper))
    assert texts_of(predictions) == {"x": "a cat", "y": "a bird", "z": "a dog"}


def test_captions_of_an_unreadable_image_stay_in_the_bank(make_work):
    likes = {"a": 0.1, "b": 0.9, "c": 0.5}
    work = make_work({"x": ["a"], "y": ["b"], "z": ["c"]}, unreadable=["y"])
    assert texts_of(Captioning(1.5).predict(Picker(likes), work)) == {"x": "b", "z": "b"}


def test_bank_without_a_caption_of_another_image_is_refused(make_work):
    with pytest.raises(DataError, match="'x'"):
        Captioning(1.5).predict(Picker({"a": 0.1}), make_work({"x": ["a"], "y": ["a"]}))


def test_model_that_can_write_does_not_pick(make_work):
    model = WriterAndPicker(["one", "two", "three"])
    assert set(texts_of(Captioning(1.5).predict(model, make_work(CAPTIONS))).values()) == {"one", "two", "three"}
    assert (source(model), source(WriterAndPicker), source(Picker)) == ("generated", "generated", "bank")


def test_picked_captions_are_labelled(make_work):
    work = make_work(CAPTIONS)
    assert Captioning(1.5).facts(Picker({}), work) == {"captions_from_bank": 1}
    assert Captioning(1.5).facts(Writer([]), work) == {"captions_from_bank": 0}


def test_predictions_do_not_depend_on_the_batch_size(make_work):
    captions = {f"i{n}": [f"{n} one", f"{n} two"] for n in range(33)}
    likes = {text: (n * 7 % 66) / 66 for n, text in enumerate(text for own in captions.values() for text in own)}
    for model in (Picker(likes), Writer([str(n) for n in range(33)])):
        one, many = (Captioning(1.5).predict(model, make_work(captions, batch_size=size)) for size in (1, 32))
        assert one == many
        assert len(one) == 33


def test_a_single_image_is_an_error_not_a_zero(make_work):
    predictions = Captioning(1.5).predict(Writer(["a dog"]), make_work({"x": ["a dog"]}))
    with pytest.raises(DataError, match="CIDEr-D"):
        Captioning(1.5).measure(predictions)


def test_only_empty_captions_are_an_error_with_the_way_out(make_work):
    with pytest.raises(ArgusError, match="float32"):
        Captioning(1.5).predict(Writer(["", " ", ""]), make_work(CAPTIONS))
    assert len(Captioning(1.5).predict(Writer(["", "a", ""]), make_work(CAPTIONS))) == 3


def test_nan_similarity_is_an_error_that_names_the_sample(make_work):
    likes = dict.fromkeys((text for texts in CAPTIONS.values() for text in texts), float("nan"))
    with pytest.raises(ArgusError, match="float32"):
        Captioning(1.5).predict(Picker(likes), make_work(CAPTIONS))


def test_model_that_can_neither_write_nor_embed_is_refused(make_work):
    with pytest.raises(ConfigError, match="writes no text and embeds no pictures, so it cannot do captioning"):
        Captioning(1.5).predict(Judge(), make_work(CAPTIONS))


def test_entry_without_reference_is_refused(make_work):
    with pytest.raises(DataError, match="'y'"):
        Captioning(1.5).predict(Writer(["a", "b"]), make_work({"x": ["a"], "y": []}))


@pytest.mark.parametrize("ceiling", [0, -1, float("nan")])
def test_impossible_ceiling_is_refused(ceiling):
    with pytest.raises(ConfigError, match="ceiling"):
        Captioning(ceiling)
