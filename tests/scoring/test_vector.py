from __future__ import annotations

import math
from dataclasses import replace

import pytest

from argus.errors import DataError
from argus.records import CaptionPrediction, CellKey, CellResult, ChoicePrediction, DroppedCell
from argus.scoring.cells import Pair
from argus.scoring.pairing import rescorer
from argus.scoring.vector import score_models


def no_rescore(clean: CellResult, perturbed: CellResult) -> Pair:
    raise AssertionError(f"{perturbed.key} has the samples of its baseline: stored scores serve")


def card(cells, scheme, rescore=no_rescore, dropped=(), name="clip"):
    return {one.name: one for one in score_models(cells, scheme, rescore, dropped)}[name]


@pytest.fixture
def complete(make_cell):
    """clip on two datasets: 0.8 and 0.4 clean, half of the first lost under blur, nothing under typo."""
    return [
        make_cell("clip", "coco", "retrieval", 0.8),
        make_cell("clip", "clevr", "reasoning", 0.4),
        make_cell("clip", "coco", "retrieval", 0.4, "blur", 3, "image"),
        make_cell("clip", "clevr", "reasoning", 0.4, "blur", 3, "image"),
        make_cell("clip", "coco", "retrieval", 0.8, "typo", 3, "text"),
    ]


def test_the_whole_vector_by_hand(complete, make_scheme):
    clip = card(complete, make_scheme())
    assert clip.own.P.value == pytest.approx(0.6)
    assert clip.own.CDC.value == pytest.approx(1 - 0.2 / 0.6)
    assert clip.own.RR.value == pytest.approx((0.8 / 1.2 + 1) / 2)
    assert clip.own.E.value == pytest.approx(0.5)
    assert clip.own.overall.value == pytest.approx((0.6 + 2 / 3 + 5 / 6 + 0.5) / 4)
    assert clip.coverage == "5 of 5 cells"
    assert clip.missing == ()
    assert clip.common == clip.own
    assert {name: value.value for name, value in clip.own_by.by_dataset.items()} == {"coco": 0.8, "clevr": 0.4}
    assert {name: value.value for name, value in clip.own_by.by_task.items()} == {"retrieval": 0.8, "reasoning": 0.4}


def test_ability_to_do_fewer_tasks_stands_in_the_coverage_and_common_cells_decide(complete, make_cell, make_scheme):
    blip = [
        make_cell("blip", "coco", "retrieval", 0.6),
        make_cell("blip", "coco", "captioning", 0.2),
        make_cell("blip", "coco", "retrieval", 0.6, "blur", 3, "image"),
    ]
    no_captions = DroppedCell(CellKey("clip", "coco", "captioning", "clean", "none", 0, "cpu"), "clip cannot generate")
    clip = card(complete + blip, make_scheme(), dropped=[no_captions])
    other = card(complete + blip, make_scheme(), name="blip")
    assert clip.coverage == "5 of 6 cells"
    assert clip.own.P.over == "2 of 3 clean cells"
    assert clip.own.P.value == pytest.approx(0.6)
    assert (clip.common.P.value, other.common.P.value) == (0.8, 0.6)
    assert clip.common.P.over == "1 of 3 clean cells"
    assert clip.common.RR.value == pytest.approx(0.5)  # blur on coco alone: typo is not common
    assert [(str(one.slot), one.reason) for one in clip.dropped] == [("coco/captioning/clean", "clip cannot generate")]
    assert clip.missing == ()


def test_a_cell_dropped_for_every_model_is_no_missing_coverage(complete, make_scheme):
    senseless = DroppedCell(CellKey("clip", "coco", "captioning", "typo", "text", 3, "cpu"), "reads no text")
    clip = card(complete, make_scheme(), dropped=[senseless])
    assert clip.coverage == "5 of 5 cells"
    assert [str(one.slot) for one in clip.dropped] == ["coco/captioning/typo-3"]


def test_a_failed_clean_cell_is_named_and_takes_its_perturbed_cells_along(complete, make_cell, make_scheme):
    failed = make_cell("clip", "clevr", "reasoning", None, status="FAILED", reason="out of memory\n  traceback")
    clip = card([failed if cell.key == failed.key else cell for cell in complete], make_scheme())
    assert clip.own.P.value == 0.8
    assert clip.own.P.over == "1 of 2 clean cells"
    assert clip.own.RR.value == pytest.approx(0.75)  # blur 0.4 / 0.8 on coco alone, typo 1
    assert [(str(one.slot), one.reason) for one in clip.missing] == [
        ("clevr/reasoning/blur-3", "its clean baseline is missing (FAILED: out of memory)"),
        ("clevr/reasoning/clean", "FAILED: out of memory"),
    ]
    assert clip.own.CDC.gap == "needs two datasets, has coco"
    assert clip.own.overall.gap == "CDC is missing: needs two datasets, has coco"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"score": math.nan}, "its score is nan"),
        ({"score": 1.5}, "its score 1.5 lies outside 0 to 1"),
        ({"score": None}, "FINISHED without a score"),
        ({"score": None, "status": "MISSING"}, "MISSING"),
        ({"score": 0.5, "status": "KILLED", "reason": "node lost"}, "KILLED: node lost"),
    ],
)
def test_an_unusable_cell_is_named_and_counts_as_no_zero(complete, make_cell, make_scheme, changes, reason):
    cells = [*complete, make_cell("clip", "flickr30k", "retrieval", **changes)]
    clip = card(cells, make_scheme())
    assert clip.own.P.value == pytest.approx(0.6)
    assert clip.own.P.over == "2 of 3 clean cells"
    assert [(str(one.slot), one.reason) for one in clip.missing] == [("flickr30k/retrieval/clean", reason)]


def test_a_cell_that_only_another_model_ran_is_named_as_not_run(complete, make_cell, make_scheme):
    clip = card([*complete, make_cell("blip", "vcr", "reasoning", 0.5)], make_scheme())
    assert [(str(one.slot), one.reason) for one in clip.missing] == [("vcr/reasoning/clean", "not run")]


def test_a_model_without_a_clean_score_is_shown_but_does_not_empty_the_common_cells(complete, make_cell, make_scheme):
    broken = make_cell("gemma", "coco", "retrieval", None, status="FAILED", reason="fp16 overflow")
    clip, gemma = (card([*complete, broken], make_scheme(), name=name) for name in ("clip", "gemma"))
    assert clip.common.overall == clip.own.overall
    assert all(value.gap for value in gemma.own.figures().values())
    assert gemma.common.P.gap == "gemma has no clean score, so it is not compared"


def test_nothing_in_common_names_the_model_that_lacks_it(complete, make_cell, make_scheme):
    blip = make_cell("blip", "coco", "retrieval", 0.6)
    clip = card([*complete, blip], make_scheme())
    assert clip.own.RR.value is not None
    assert clip.common.RR.gap == "no perturbed cell is common to all models (blip: none)"


def test_no_clean_score_above_zero_makes_the_ratio_a_gap(make_cell, make_scheme):
    zero = [
        make_cell("clip", "coco", "retrieval", 0.0),
        make_cell("clip", "coco", "retrieval", 0.0, "blur", 3, "image"),
    ]
    clip = card(zero, make_scheme())
    assert clip.own.P.value == 0.0
    assert "is 0" in clip.own.RR.gap
    assert clip.own.overall.value is None


def test_a_baseline_that_was_never_run_is_named(make_cell, make_scheme):
    clip = card([make_cell("clip", "coco", "retrieval", 0.4, "blur", 3, "image")], make_scheme())
    assert [one.reason for one in clip.missing] == ["its clean baseline was not run"]
    assert clip.own.RR.gap == "no perturbed cell with a clean baseline"


def test_a_cell_in_which_no_text_changed_leaves_rr_and_is_named(make_cell, make_scheme):
    clean = [make_cell("clip", name, "reasoning", 0.8) for name in ("clevr", "vcr")]
    changed, same = (
        replace(make_cell("clip", name, "reasoning", 0.4, "typo", 3, "text"), metrics={"changed_texts_share": share})
        for name, share in (("clevr", 0.5), ("vcr", 0.0))
    )
    (card,) = score_models([*clean, changed, same], make_scheme(), no_rescore)
    assert card.own.RR.value == pytest.approx(0.5)
    assert card.own.RR.over == "1 of 2 perturbed cells (text)"
    assert [(str(cell.slot), cell.reason) for cell in card.missing] == [
        ("vcr/reasoning/typo-3", "the perturbation found nothing to change in any text")
    ]


def test_the_same_cell_twice_is_an_error_that_names_it(complete, make_scheme):
    with pytest.raises(DataError, match="clip/coco/retrieval/blur-3 on cpu occurs twice"):
        score_models([*complete, complete[2]], make_scheme(), no_rescore)


def test_clean_at_two_severities_is_the_same_baseline_twice(complete, make_cell, make_scheme):
    with pytest.raises(DataError, match="coco/retrieval/clean"):
        score_models([*complete, make_cell("clip", "coco", "retrieval", 0.8, severity=3)], make_scheme(), no_rescore)


def test_no_cells_is_an_error_that_says_what_to_run(make_scheme):
    with pytest.raises(DataError, match=r"argus\.run"):
        score_models([], make_scheme(), no_rescore)


def test_two_hardware_profiles_are_two_rows_with_the_same_cells(complete, make_scheme):
    fast = [CellResult(**{**vars(cell), "key": CellKey(**{**vars(cell.key), "hardware": "gpu"})}) for cell in complete]
    cards = score_models([*complete, *fast], make_scheme(), no_rescore)
    assert [one.name for one in cards] == ["clip on cpu", "clip on gpu"]
    assert cards[0].coverage == cards[1].coverage == "5 of 5 cells"
    assert cards[0].own.P == cards[1].own.P


def test_an_unreadable_picture_is_named_with_the_score_it_is_missing_from(make_cell, make_scheme):
    cells = [make_cell("clip", "coco", "retrieval", 0.5, samples=96, failed=("a", "b", "c", "d"))]
    assert card(cells, make_scheme()).notes == (
        "coco/retrieval/clean: 4 of 100 samples could not be read (a, b, c, …)",
    )


def answer(image: str, right: bool) -> ChoicePrediction:
    return ChoicePrediction(f"q-{image}", image, "count", "", (0.0, 1.0), int(right), 1)


def share_right(cell: CellResult, predictions) -> float:
    return sum(p.predicted == p.target for p in predictions) / len(predictions)


def test_other_failed_samples_make_both_scores_stand_over_the_shared_ones(make_cell, make_scheme):
    clean = make_cell("clip", "clevr", "reasoning", 0.75, samples=4, failed=())
    blurred = make_cell("clip", "clevr", "reasoning", 1 / 3, "blur", 3, "image", samples=3, failed=("d",))
    stored = {
        clean.run_id: [answer("a", True), answer("b", True), answer("c", False), answer("d", True)],
        blurred.run_id: [answer("a", True), answer("b", False), answer("c", False)],
    }
    rescore = rescorer(lambda cell: stored[cell.run_id], share_right)
    clip = card([clean, blurred], make_scheme(), rescore)
    assert clip.own.P.value == 0.75
    assert clip.own.RR.value == pytest.approx((1 / 3) / (2 / 3))
    assert clip.own.RR.notes == ("RR: 1 cell scored anew over the samples shared with the clean baseline",)


def test_no_shared_sample_is_a_named_gap(make_cell, make_scheme):
    clean = make_cell("clip", "clevr", "reasoning", 1.0, samples=1, failed=("b",))
    blurred = make_cell("clip", "clevr", "reasoning", 1.0, "blur", 3, "image", samples=1, failed=("a",))
    stored = {clean.run_id: [answer("a", True)], blurred.run_id: [answer("b", True)]}
    clip = card([clean, blurred], make_scheme(), rescorer(lambda cell: stored[cell.run_id], share_right))
    assert clip.own.RR.value is None
    assert "no sample was read in both" in clip.missing[0].reason


def test_predictions_of_shared_pictures_are_kept_whatever_their_own_id(make_cell):
    cell = make_cell("clip", "coco", "captioning", 1.0)
    stored = [CaptionPrediction("caption-1", "a", "x", ("x",)), CaptionPrediction("caption-2", "b", "y", ("y",))]
    seen = []
    rescorer(lambda _: stored, lambda _, predictions: seen.append(predictions) or 1.0)(cell, cell)
    assert seen == [stored, stored]


@pytest.mark.parametrize(("load", "busy"), [(0.9, False), (1.4, False), (2.25, True)])
def test_costs_of_a_busy_machine_are_named(make_cell, make_scheme, load, busy):
    cells = [make_cell("m", data, "retrieval", 0.5) for data in ("coco", "vcr")]
    cells[1] = replace(cells[1], metrics={"load_per_core": load})
    (card,) = score_models(cells, make_scheme(), lambda clean, perturbed: None)
    told = "E: the machine was busy while 1 of 2 clean cells were measured (up to 2.2 processes a core)"
    assert any(note.startswith(told) for note in card.notes) == busy
