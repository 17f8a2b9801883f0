from __future__ import annotations

import json
import random
from dataclasses import replace

import numpy as np
import pytest

from argus.report.analysis import analysis_frames
from argus.report.export import analysis_as_json
from argus.report.findings import findings
from argus.scoring.analysis import FIGURES, analyse
from argus.scoring.breakage import Breakage
from argus.scoring.drawn import value_of
from argus.scoring.records import Slot
from argus.scoring.resampling import NONE, Resamples
from argus.scoring.scheme import Weights
from argus.scoring.vector import compare, scorecards
from argus.seeding import rng_for

MODELS = {"strong": (0.9, 0.5, 0.5), "steady": (0.7, 0.69, 0.95), "twin": (0.7, 0.69, 0.95)}
BROKEN = Breakage("steady", Slot("coco", "retrieval", "blur", "image", 3), 9, {"destructive": value_of(0.2, "")})


def never(clean, perturbed):
    raise AssertionError("the samples are the same")


@pytest.fixture
def cells(make_cell):
    """By model: the clean scores on two data sets, and what blur leaves of them."""
    found = []
    for name, (coco, clevr, left) in MODELS.items():
        for dataset, task, clean in (("coco", "retrieval", coco), ("clevr", "reasoning", clevr)):
            found.append(make_cell(name, dataset, task, clean))
            found.append(make_cell(name, dataset, task, clean * left, "blur", 3, "image"))
    return found


@pytest.fixture
def resamples(cells):
    """Twins share their noise to the last bit."""
    noise = {}
    for cell in cells:
        model = cell.key.model.replace("twin", "steady")
        noise[cell.run_id] = rng_for(0, model, cell.key.dataset, cell.key.perturbation).normal(0, 0.01, 400)
    scores = {cell.run_id: np.clip(cell.score + noise[cell.run_id], 0, 1) for cell in cells}
    costs = {cell.run_id: {name: np.full(400, cost) for name, cost in cell.costs.items()} for cell in cells}
    return Resamples(400, scores, costs)


def analysed(cells, scheme, resamples=NONE, broken=(BROKEN,)):
    comparison = compare(cells, scheme, never, (), resamples)
    return analyse(comparison, scorecards(comparison, scheme), scheme, broken, {"run": {"score": (0.1, 0.2)}})


def test_all_models_are_compared_in_every_figure(cells, resamples, make_scheme):
    found = analysed(cells, make_scheme(), resamples)
    pairs = [("steady", "strong"), ("steady", "twin"), ("strong", "twin")]
    named = [(one.figure, one.first, one.second) for one in found.differences]
    assert named == [(figure, *pair) for figure in FIGURES for pair in pairs]
    for one in found.differences:
        if {one.first, one.second} == {"steady", "twin"}:
            assert (one.value, one.p_holm) == (0.0, 1.0)
    ranks = {one.name: one for one in found.ranks if one.figure == "RR"}
    assert ranks["strong"].probabilities == pytest.approx((0, 0, 1))
    assert ranks["twin"].probabilities == pytest.approx((0.5, 0.5, 0))
    assert (ranks["twin"].best, ranks["twin"].worst) == (1, 2)


def test_corrected_cdc_stands_above_the_plain_one(cells, resamples, make_scheme):
    found = analysed(cells, make_scheme(), resamples)
    for card in found.scorecards:
        assert found.corrected_cdc[card.name].value > card.common.CDC.value


def test_without_resamples_what_needs_them_is_told_and_the_rest_stands(cells, make_scheme):
    found = analysed(cells, make_scheme())
    assert "without resamples" in found.corrected_cdc["strong"].gap
    assert {one.p for one in found.differences} == {None}
    assert found.weights is not None
    assert found.alternatives
    lines = findings(found)
    assert not any("told apart" in line for line in lines)
    assert any("of all weightings" in line for line in lines)


def test_the_order_of_cells_changes_nothing(cells, resamples, make_scheme):
    shuffled = list(cells)
    random.Random(0).shuffle(shuffled)
    assert analysed(shuffled, make_scheme(), resamples) == analysed(cells, make_scheme(), resamples)


def test_findings_name_rivals_weights_formulas_and_the_gap(cells, resamples, make_scheme):
    lines = findings(analysed(cells, make_scheme(), resamples))
    assert "steady and twin cannot be told apart: 0.000 [0.000, 0.000], p 1.000" in lines[0]
    assert "with this many pictures only a true difference of about " in lines[0]
    assert lines[1].startswith("twin is ahead of strong by 0.")
    assert any(line.startswith("of all weightings, steady wins") for line in lines)
    assert any("other formulas and leave-outs change the winner" in line for line in lines)
    assert "strong is more capable and steady more reliable (71% of the resamples, within noise)" in lines


def test_a_share_of_the_weightings_below_one_percent_is_not_told_as_none(cells, resamples, make_scheme):
    found = analysed(cells, make_scheme(), resamples)
    assert found.weights is not None
    won = {"steady": 0.998, "twin": 0.002, "capable": 0.0}
    (line,) = (
        line
        for line in findings(replace(found, weights=replace(found.weights, won=won)))
        if line.startswith("of all weightings")
    )
    assert line == "of all weightings, steady wins >99%, twin wins <1%"


def test_findings_have_the_mean_corruption_errors_where_a_reference_is_named(cells, resamples, make_scheme):
    named = replace(make_scheme(), reference_model="steady")
    lines = [line for line in findings(analysed(cells, named, resamples)) if "mCE against steady: " in line]
    assert [line.split(":")[0] for line in lines] == ["mCE against steady", "relative mCE against steady"]
    assert all("steady 1.000" in line for line in lines)


def test_a_lone_model_has_no_findings(cells, resamples, make_scheme):
    alone = [cell for cell in cells if cell.key.model == "strong"]
    assert findings(analysed(alone, make_scheme(), resamples)) == ()


def test_a_part_that_one_model_lacks_is_why_there_is_no_analysis_of_weights(cells, make_scheme):
    unpriced = [replace(cell, costs={}) if cell.key.model == "strong" else cell for cell in cells]
    found = analysed(unpriced, make_scheme())
    assert found.weights is not None  # E over the common cells is a gap for all: it is no part of any weighting
    assert found.weights.parts == ("P", "CDC", "RR")
    assert found.alternatives == ()  # E has weight in the scheme
    only_e = analysed(unpriced, make_scheme(Weights(0, 0, 0, 1)))
    assert only_e.weights_gap == "no weight is on P, CDC, RR"


def test_json_has_no_nan_and_tables_have_their_rows(cells, resamples, make_scheme):
    for given in (resamples, NONE):
        found = analysed(cells, make_scheme(), given)
        json.dumps(analysis_as_json(found), allow_nan=False)
        frames = analysis_frames(found)
        assert len(frames["differences"]) == 5 * 3
        assert len(frames["ranks"]) == 5 * 3
        assert frames["gap"].model.tolist() == ["steady", "strong", "twin"]
        assert frames["breakage"].destructive.tolist() == [0.2]
        assert frames["breakage_by_perturbation"].perturbation.tolist() == ["blur"]
        assert frames["flips"].capable.tolist() == ["strong", "strong"]


def test_an_analysis_of_nothing_but_failures_says_so(make_cell, make_scheme):
    found = analysed([make_cell("clip", "coco", "retrieval", None, status="FAILED")], make_scheme(), broken=())
    assert (found.differences, found.ranks, found.alternatives) == ((), (), ())
    assert found.weights_gap == "no model has a clean score"
    json.dumps(analysis_as_json(found), allow_nan=False)
    assert analysis_frames(found) == {}
