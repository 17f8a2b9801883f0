from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
import torch
from PIL.Image import Image
from torch import Tensor

from argus.errors import ArgusError, ConfigError, DataError
from argus.models.base import Chooser, Embedder, Matcher
from argus.records import RankPrediction
from argus.tasks.galleries import cut
from argus.tasks.retrieval import Retrieval

Table = Sequence[Mapping[str, float]]
"""For the n-th image, its score for each text."""


def red(image: Image) -> int:
    return image.getpixel((0, 0))[0]


class Known(Embedder):
    """Cosines as in the table: a text is a basis vector, an image its row of the table."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.texts = sorted({text for row in table for text in row})
        self.embedded: list[str] = []

    def modules(self, task: str) -> tuple[torch.nn.Module, ...]:
        return ()

    @property
    def revision(self) -> str:
        return "by hand"

    def embed_images(self, images: Sequence[Image]) -> Tensor:
        return torch.tensor([[self.table[red(image)].get(text, 0.0) for text in self.texts] for image in images])

    def embed_texts(self, texts: Sequence[str]) -> Tensor:
        self.embedded += texts
        return torch.tensor([[float(text == known) for known in self.texts] for text in texts])

    def truncated(self, texts: Sequence[str]) -> int:
        return sum(len(text) > 3 for text in texts)


class KnownPairs(Matcher):
    """Match scores as in the table; `pairs` keeps what was asked."""

    def __init__(self, table: Table) -> None:
        self.pair_table = table
        self.pairs: list[tuple[int, str]] = []

    def modules(self, task: str) -> tuple[torch.nn.Module, ...]:
        return ()

    @property
    def revision(self) -> str:
        return "by hand"

    def match(self, images: Sequence[Image], texts: Sequence[Sequence[str]]) -> list[Tensor]:
        self.pairs += [(red(image), text) for image, asked in zip(images, texts, strict=True) for text in asked]
        return [
            torch.tensor([self.pair_table[red(image)][text] for text in asked])
            for image, asked in zip(images, texts, strict=True)
        ]


class KnownBoth(Known, KnownPairs):
    def __init__(self, cosines: Table, matches: Table) -> None:
        Known.__init__(self, cosines)
        KnownPairs.__init__(self, matches)


class Mute(Chooser):
    def modules(self, task: str) -> tuple[torch.nn.Module, ...]:
        return ()

    @property
    def revision(self) -> str:
        return "by hand"

    def choose(self, images, questions):
        return []


CAPTIONS = {"x": ["a"], "y": ["b"], "z": ["c"]}
TABLE = [  # rows are the images x, y, z
    {"a": 0.9, "b": 0.5, "c": 0.1},  # a is first for x
    {"a": 0.6, "b": 0.4, "c": 0.5},  # b is last for y
    {"a": 0.2, "b": 0.3, "c": 0.8},  # c is first for z
]


def found(predictions, direction: str) -> dict[str, int]:
    return {p.id: p.rank for p in predictions if p.direction == direction}


def whole() -> Retrieval:
    return Retrieval(gallery_size=None, rerank_top_k=None)


@pytest.mark.parametrize("model", [Known(TABLE), KnownPairs(TABLE)], ids=["embedder", "matcher"])
def test_ranks_and_metrics_are_those_computed_by_hand(make_work, model):
    work = make_work(CAPTIONS)
    predictions = whole().predict(model, work)
    assert found(predictions, "image_to_text") == {"x": 1, "y": 3, "z": 1}
    assert found(predictions, "text_to_image") == {"x#0": 1, "y#0": 2, "z#0": 1}  # b: 0.5 for x, 0.4 for y, 0.3 for z
    metrics = whole().measure(predictions)
    assert metrics["image_to_text_recall_at_1"] == pytest.approx(2 / 3)
    assert metrics["image_to_text_recall_at_5"] == 1
    assert metrics["text_to_image_recall_at_1"] == pytest.approx(2 / 3)
    assert metrics["image_to_text_median_rank"] == 1
    assert metrics["image_to_text_mean_reciprocal_rank"] == pytest.approx((1 + 1 / 3 + 1) / 3)
    assert metrics["text_to_image_mean_reciprocal_rank"] == pytest.approx((1 + 1 / 2 + 1) / 3)
    assert metrics["score"] == pytest.approx(2 / 3)


def test_prediction_tells_what_came_first_and_the_score_of_the_right_answer(make_work):
    y = next(p for p in whole().predict(Known(TABLE), make_work(CAPTIONS)) if p.id == "y")
    assert y.image_id == "y"
    assert (y.top, y.candidates) == ("x#0", 3)
    assert y.score == pytest.approx(0.4)


def test_image_with_several_captions_has_the_rank_of_its_best_and_each_caption_its_own(make_work):
    captions = {"x": ["a1"], "y": ["b1", "b2", "b3", "b4", "b5"], "z": [f"c{n}" for n in range(1, 8)]}
    table = [
        {"a1": 0.5, "b1": 0.6, "b2": 0.7, **{f"c{n}": 0.0 for n in range(1, 8)}},  # two of y's are ahead: rank 3
        {"a1": 0.4, "b1": 0.1, "b2": 0.2, "b3": 0.3, "b4": 0.6, "b5": 0.1, "c1": 0.5},  # b4 is ahead of all: rank 1
        {"a1": 0.9, "b1": 0.8, "b2": 0.1, "b3": 0.1, "c1": 0.2, "c2": 0.7, "c7": 0.7},  # a1 and b1 are ahead: rank 3
    ]
    predictions = whole().predict(Known(table), make_work(captions))
    assert found(predictions, "image_to_text") == {"x": 3, "y": 1, "z": 3}
    by_text = found(predictions, "text_to_image")
    assert len(by_text) == 13
    # b1: 0.6 for x, 0.1 for y, 0.8 for z; c1: 0 for x, 0.5 for y, 0.2 for z; c3 is 0 everywhere, so ties make it last
    assert (by_text["x#0"], by_text["y#0"], by_text["z#0"], by_text["z#2"]) == (2, 3, 2, 3)


def test_caption_shared_by_two_images_is_right_for_both(make_work):
    captions = {"x": ["a", "same "], "y": ["same"], "z": ["c"]}
    table = [
        {"a": 0.1, "same ": 0.2, "same": 0.9, "c": 0.5},  # y's copy is first: right for x too
        {"a": 0.1, "same ": 0.9, "same": 0.2, "c": 0.5},  # x's copy is first: right for y too
        {"a": 0.1, "same ": 0.95, "same": 0.1, "c": 0.9},
    ]
    predictions = whole().predict(Known(table), make_work(captions))
    assert found(predictions, "image_to_text") == {"x": 1, "y": 1, "z": 2}
    # "same" of y: x has 0.9, and x is right for it
    assert found(predictions, "text_to_image") == {"x#0": 3, "x#1": 2, "y#0": 1, "z#0": 1}


def test_texts_are_compared_clean_and_searched_as_perturbed(make_work):
    work = make_work({"x": ["ab"], "y": ["ac"]}, perturb=lambda text: text[0])  # both become "a" to the model
    predictions = whole().predict(Known([{"a": 0.5}, {"a": 0.5}]), work)
    assert found(predictions, "image_to_text") == {"x": 2, "y": 2}  # a tie with a wrong caption, though of equal text


def test_constant_model_is_never_right_whatever_the_order(make_work):
    table = [dict.fromkeys("abc", 0.5)] * 3
    for captions in (CAPTIONS, dict(reversed(CAPTIONS.items()))):
        for model in (Known(table), KnownPairs(table), KnownBoth(table, table)):
            metrics = Retrieval(None, rerank_top_k=2).measure(
                Retrieval(None, rerank_top_k=2).predict(model, make_work(captions))
            )
            assert metrics["score"] == 0


@pytest.mark.parametrize("rerank_top_k", [None, 2])
def test_predictions_do_not_depend_on_the_batch_size(make_work, rerank_top_k):
    generator = torch.Generator().manual_seed(0)
    captions = {f"i{n}": [f"{n} one", f"{n} two"] for n in range(33)}
    texts = [text for own in captions.values() for text in own]
    table = [dict(zip(texts, torch.rand(66, generator=generator).tolist(), strict=True)) for _ in range(33)]
    task = Retrieval(gallery_size=20, rerank_top_k=rerank_top_k)
    one, many = (task.predict(KnownBoth(table, table[::-1]), make_work(captions, batch_size=size)) for size in (1, 32))
    assert one == many
    assert len(one) == 33 + 66


def test_unreadable_image_leaves_with_its_captions(make_work):
    table = [{"a": 0.1, "b": 0.9, "c": 0.0}, {"a": 0, "b": 0, "c": 0}, {"a": 0.2, "b": 0.9, "c": 0.8}]
    for model in (Known(table), KnownPairs(table), KnownBoth(table, table)):
        predictions = Retrieval(None, rerank_top_k=1).predict(model, make_work(CAPTIONS, unreadable=["y"]))
        assert found(predictions, "image_to_text") == {"x": 1, "z": 1}  # "b" would be ahead of both
        assert found(predictions, "text_to_image") == {"x#0": 2, "z#0": 1}
        assert {p.candidates for p in predictions} == {2}


def test_gallery_with_one_readable_image_is_an_error_that_names_it(make_work):
    with pytest.raises(DataError, match="starts with 'x'"):
        whole().predict(Known(TABLE), make_work(CAPTIONS, unreadable=["y", "z"]))


def test_rerank_reorders_only_the_first_k_of_each_query(make_work):
    cosines = [
        {"a": 0.5, "b": 0.8, "c": 0.1},  # x: b a | c
        {"a": 0.1, "b": 0.2, "c": 0.9},  # y: c b | a
        {"a": 0.7, "b": 0.9, "c": 0.3},  # z: b a | c
    ]
    matches = [
        {"a": 2.0, "b": 1.0},  # x: a 2.5, b 1.8: a comes first
        {"a": 9.0, "b": 1.0, "c": 0.5},  # y: c 1.4, b 1.2: c stays first, and a is not asked for y as a query
        {"a": 0.0, "b": 0.5, "c": 9.0},  # z: c 9.3 would come first, but is not among the first two
    ]
    model = KnownBoth(cosines, matches)
    predictions = Retrieval(None, rerank_top_k=2).predict(model, make_work(CAPTIONS))
    assert found(predictions, "image_to_text") == {"x": 1, "y": 2, "z": 3}
    # a: z 0.7, x 0.5 -> x 2.5, z 0.7: x first.  b: z 0.9, x 0.8 | y: y is third.  c: y 0.9, z 0.3 -> z 9.3: z first.
    assert found(predictions, "text_to_image") == {"x#0": 1, "y#0": 3, "z#0": 1}


def test_rerank_scores_each_wanted_pair_once_and_no_other(make_work):
    cosines = [{"a": 0.5, "b": 0.8, "c": 0.1}, {"a": 0.1, "b": 0.2, "c": 0.9}, {"a": 0.7, "b": 0.9, "c": 0.3}]
    model = KnownBoth(cosines, [dict.fromkeys("abc", 1.0)] * 3)
    Retrieval(None, rerank_top_k=1).predict(model, make_work(CAPTIONS))
    # image to text: x-b, y-c, z-b; text to image: a-z, b-z, c-y
    assert sorted(model.pairs) == [(0, "b"), (1, "c"), (2, "a"), (2, "b")]


def test_without_rerank_a_model_that_can_do_both_ranks_by_cosine(make_work):
    model = KnownBoth(TABLE, [])
    assert found(whole().predict(model, make_work(CAPTIONS)), "image_to_text") == {"x": 1, "y": 3, "z": 1}
    assert not model.pairs


@pytest.mark.parametrize(
    ("count", "size", "sizes"),
    [
        (100, 20, [20, 20, 20, 20, 20]),
        (49, 20, [20, 29]),  # 9 are under half of 20, so they join
        (50, 20, [20, 20, 10]),
        (7, 20, [7]),
        (21, 20, [21]),
        (5, 2, [2, 2, 1]),  # one is half of two
        (100, None, [100]),
    ],
)
def test_galleries_follow_the_stated_rule(count, size, sizes):
    parts = cut(count, size)
    assert [len(part) for part in parts] == sizes
    assert [index for part in parts for index in part] == list(range(count))


def test_a_gallery_holds_only_its_own_images_and_captions(make_work):
    captions = {"x": ["a"], "y": ["b"], "z": ["c"], "w": ["d"]}
    table = [{"a": 0.5, "b": 0.1, "c": 0.9}, {"b": 0.5, "a": 0.1, "c": 0.9}, {"c": 0.5, "d": 0.1}, {"d": 0.5, "c": 0.1}]
    task = Retrieval(gallery_size=2, rerank_top_k=None)
    work = make_work(captions, batch_size=4)
    predictions = task.predict(Known(table), work)
    assert task.measure(predictions)["score"] == 1
    assert {p.candidates for p in predictions} == {2}
    assert task.facts(Known(table), work) == {
        "galleries": 2,
        "smallest_gallery": 2,
        "largest_gallery": 2,
        "truncated_texts": 0,
    }


def test_facts_count_the_texts_that_an_embedder_cuts(make_work):
    work = make_work({"x": ["a", "long text"], "y": ["b"]})
    assert whole().facts(Known(TABLE), work)["truncated_texts"] == 1
    assert "truncated_texts" not in whole().facts(KnownPairs(TABLE), work)


def test_equal_texts_are_embedded_once(make_work):
    model = Known([{"a": 0.5, "b": 0.1}, {"a": 0.5, "b": 0.9}])
    whole().predict(model, make_work({"x": ["a", "a"], "y": ["a", "b"]}))
    assert sorted(model.embedded) == ["a", "b"]


@pytest.mark.parametrize("kind", [Known, KnownPairs])
def test_nan_is_an_error_that_names_the_sample_and_the_way_out(make_work, kind):
    table = [TABLE[0], {"a": float("nan"), "b": 0.4, "c": 0.5}, TABLE[2]]
    with pytest.raises(ArgusError, match=r"'y'.*float32"):
        whole().predict(kind(table), make_work(CAPTIONS))


def test_model_that_can_neither_embed_nor_match_is_refused(make_work):
    with pytest.raises(
        ConfigError, match="embeds no pictures and matches no text to a picture, so it cannot do retrieval"
    ):
        whole().predict(Mute(), make_work(CAPTIONS))


def test_entry_without_caption_is_refused(make_work):
    with pytest.raises(DataError, match="'y'"):
        whole().predict(Known(TABLE), make_work({"x": ["a"], "y": []}))


@pytest.mark.parametrize(("gallery_size", "rerank_top_k"), [(1, None), (0, None), (20, 0)])
def test_impossible_settings_are_refused(gallery_size, rerank_top_k):
    with pytest.raises(ConfigError):
        Retrieval(gallery_size, rerank_top_k)


def test_score_stands_over_any_part_of_the_predictions():
    def hit(query: str, direction: str, rank: int) -> RankPrediction:
        return RankPrediction(query, query, direction, rank, 3, "", 0.0)

    predictions = [hit("x", "image_to_text", 1), hit("x#0", "text_to_image", 1), hit("x#1", "text_to_image", 2)]
    assert whole().measure(predictions)["score"] == 0.75
    with pytest.raises(DataError, match="text_to_image"):
        whole().measure(predictions[:1])
