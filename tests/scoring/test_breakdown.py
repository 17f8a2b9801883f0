"""Parts of A(M): each model's own, and row by row over the cells that models share."""

from __future__ import annotations

import pytest

from argus.scoring.vector import score_models


def never(clean, perturbed):
    raise AssertionError("the samples are the same")


@pytest.fixture
def cards(make_cell, make_scheme):
    """`a` has all cells; `b` lacks one of two captioning cells under blur; `c` has no captioning at all."""
    cells = []
    for model, level in (("a", 0.8), ("b", 0.5), ("c", 0.4)):
        tasks = [("coco", "retrieval")] + [(data, "captioning") for data in ("coco", "flickr30k") if model != "c"]
        for dataset, task in tasks:
            clean = level + 0.1 * (dataset == "flickr30k")
            cells.append(make_cell(model, dataset, task, clean))
            if (model, dataset) == ("b", "flickr30k"):
                cells.append(make_cell(model, dataset, task, None, "blur", 3, "image", status="FAILED", family="blur"))
            else:
                left = clean * (0.5 if dataset == "flickr30k" else 0.9)
                cells.append(make_cell(model, dataset, task, left, "blur", 3, "image", family="blur"))
            if model != "c":
                cells.append(make_cell(model, dataset, task, 0.7 * clean, "typo", 3, "text", family="typing"))
    return {card.name: card for card in score_models(cells, make_scheme(), never)}


def test_a_row_stands_over_the_cells_that_all_models_with_any_share(cards):
    blur = {name: card.shared_by.by_perturbation[0] for name, card in cards.items()}
    assert {one.perturbation for one in blur.values()} == {"blur"}
    # c has retrieval on coco alone, so only that cell is shared: 0.9 is left of it in all models.
    assert {name: one.ratio.value for name, one in blur.items()} == pytest.approx(dict.fromkeys("abc", 0.9))
    assert blur["a"].ratio.over == "1 cell"
    # Over its own cells a has all three: (0.72 + 0.72 + 0.45) / (0.8 + 0.8 + 0.9).
    assert cards["a"].own_by.by_perturbation[0].ratio.value == pytest.approx(1.89 / 2.5)


def test_a_model_without_a_row_takes_nothing_from_the_others(cards):
    assert cards["a"].shared_by.by_task["captioning"].value == pytest.approx(0.85)
    assert cards["a"].shared_by.by_task["captioning"].over == "2 of 2 clean cells"
    assert cards["c"].shared_by.by_task["captioning"].gap == "no clean cell with a score"
    typo = [one.ratio.over for one in cards["a"].shared_by.by_perturbation if one.perturbation == "typo"]
    assert typo == ["3 cells"]
    assert [one.perturbation for one in cards["c"].shared_by.by_perturbation] == ["blur"]


def test_models_that_share_no_cell_of_a_row_have_a_gap_there(make_cell, make_scheme):
    cells = []
    for model, dataset in (("a", "coco"), ("b", "flickr30k")):
        cells.append(make_cell(model, dataset, "retrieval", 0.5))
        cells.append(make_cell(model, dataset, "retrieval", 0.4, "blur", 3, "image", family="blur"))
    for card in score_models(cells, make_scheme(), never):
        reason = "no cell is common to the models that have any"
        assert card.shared_by.by_task["retrieval"].gap == reason
        assert card.shared_by.by_perturbation[0].ratio.gap == reason
        assert card.shared_by.by_family[0].ratio.gap == reason
        assert card.shared_by.by_modality["image"].gap == reason
        assert card.own_by.by_modality["image"].value == pytest.approx(0.8)


def test_models_with_the_same_cells_have_the_same_parts_either_way(make_cell, make_scheme):
    cells = []
    for model, left in (("a", 0.4), ("b", 0.3)):
        cells.append(make_cell(model, "coco", "retrieval", 0.5))
        cells.append(make_cell(model, "coco", "retrieval", left, "blur", 3, "image", family="blur"))
    for card in score_models(cells, make_scheme(), never):
        assert card.own_by == card.shared_by
