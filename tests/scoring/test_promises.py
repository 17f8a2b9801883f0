"""What holds for any cells."""

from __future__ import annotations

import json
from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from argus.records import CellKey, CellResult
from argus.report.export import as_json
from argus.scoring.records import Vector
from argus.scoring.vector import score_models

PERTURBATIONS = (("clean", "none", 0), ("blur", "image", 1), ("blur", "image", 3), ("typo", "text", 3))
PLACES = (("coco", "retrieval"), ("coco", "captioning"), ("clevr", "reasoning"))
quick = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
known_scores = st.one_of(st.none(), st.floats(0, 1))
costs = st.fixed_dictionaries({"latency_p50_ms": st.floats(0.1, 1e4), "throughput_per_s": st.floats(0.1, 1e4)})


@st.composite
def cells_of(draw, model: str) -> list[CellResult]:
    """Any part of the grid, some of it failed."""
    cells = []
    for dataset, task in PLACES:
        for perturbation, modality, severity in PERTURBATIONS:
            if draw(st.integers(0, 4)):
                score = draw(known_scores)
                key = CellKey(model, dataset, task, perturbation, modality, severity, "cpu")
                status = "FAILED" if score is None else "FINISHED"
                references = {"latency_p50_ms": 10.0, "throughput_per_s": 50.0}
                cells.append(CellResult(key, status, "run", score, 10, (), {}, draw(costs), references))
    return cells


grids = st.tuples(cells_of("clip"), cells_of("blip"), cells_of("gemma")).filter(lambda grid: all(grid))


def never(clean: CellResult, perturbed: CellResult):
    raise AssertionError("the samples are the same")


def score(cells, scheme):
    return {card.name: card for card in score_models(cells, scheme, never)}


def numbers(vector: Vector) -> dict[str, float | None]:
    return {name: value.value for name, value in vector.figures().items()}


@quick
@given(grid=grids, seed=st.randoms(use_true_random=False))
def test_the_order_of_cells_changes_nothing(make_scheme, grid, seed):
    cells = [cell for mine in grid for cell in mine]
    shuffled = list(cells)
    seed.shuffle(shuffled)
    assert score(shuffled, make_scheme()) == score(cells, make_scheme())


@quick
@given(grid=grids)
def test_a_new_model_moves_no_figure_of_another(make_scheme, grid):
    clip, blip, gemma = grid
    before, after = score(clip + blip, make_scheme()), score(clip + blip + gemma, make_scheme())
    for name in ("clip", "blip"):
        assert numbers(before[name].own) == numbers(after[name].own)


@quick
@given(grid=grids)
def test_common_figures_stand_over_the_same_cells_for_every_compared_model(make_scheme, grid):
    cards = score([cell for mine in grid for cell in mine], make_scheme())
    compared = [card for card in cards.values() if card.own.P.value is not None]
    for figure in ("P", "CDC", "RR", "E"):
        assert len({getattr(card.common, figure).over.split(" (")[0] for card in compared}) <= 1


@quick
@given(grid=grids)
def test_all_numbers_lie_in_range_and_every_gap_has_its_reason(make_scheme, grid):
    cards = score([cell for mine in grid for cell in mine], make_scheme())
    for card in cards.values():
        for vector in (card.own, card.common):
            for name, value in vector.figures().items():
                assert value.gap or (value.value is not None and value.value >= 0)
                assert value.value is None or name == "RR" or value.value <= 1 + 1e-9


@quick
@given(clip=cells_of("clip").filter(bool), factor=st.floats(0.1, 1))
def test_a_worse_perturbed_score_never_raises_robustness(make_scheme, clip, factor):
    def worse(cell: CellResult) -> CellResult:
        clean = cell.key.perturbation == "clean" or cell.score is None
        return cell if clean else replace(cell, score=cell.score * factor)

    before, after = score(clip, make_scheme())["clip"].own.RR, score(map_(worse, clip), make_scheme())["clip"].own.RR
    assert (before.value is None) == (after.value is None)
    if before.value is not None:
        assert after.value <= before.value + 1e-9


def map_(change, cells):
    return [change(cell) for cell in cells]


@quick
@given(grid=grids)
def test_json_has_no_nan_and_a_null_only_with_a_reason(make_scheme, grid):
    scheme = make_scheme()
    document = as_json(score_models([cell for mine in grid for cell in mine], scheme, never), scheme)
    text = json.dumps(document, allow_nan=False)
    for card in json.loads(text)["models"].values():
        for figure in ("P", "CDC", "RR", "E", "overall"):
            for value in (card[figure], card["common"][figure]):
                assert (value["value"] is None) == bool(value["gap"])
