from __future__ import annotations

from dataclasses import replace
from io import StringIO

import numpy as np
import pytest
from rich.console import Console

from argus.errors import ConfigError, DataError
from argus.report.change import change_report
from argus.scoring.gate import Limits, gate, sweep_change
from argus.scoring.resampling import NONE, Resamples
from argus.seeding import rng_for

ANY = Limits(None, None, None, None, None)
OVERALL = Limits(None, None, None, None, -0.01)


def never(clean, perturbed):
    raise AssertionError("the samples are the same")


@pytest.fixture
def before(make_cell):
    found = []
    for model in ("clip", "blip"):
        for dataset, score in (("coco", 0.8), ("clevr", 0.6)):
            found.append(make_cell(model, dataset, "reasoning", score))
            found.append(make_cell(model, dataset, "reasoning", score * 0.9, "blur", 3, "image"))
    return found


def later(cells, **changes):
    """The same cells in runs of their own; `clip_coco=-0.1` adds to the clean score of clip on coco."""
    found = []
    for cell in cells:
        shift = changes.get(f"{cell.key.model}_{cell.key.dataset}", 0.0) if cell.key.perturbation == "clean" else 0.0
        found.append(replace(cell, run_id=f"later-{cell.run_id}", score=cell.score + shift))
    return found


def resamples(*sweeps, own=0.001):
    """Noise that both sweeps share, as large as a real one, and a little of each run's own."""
    scores, costs = {}, {}
    for cell in (cell for sweep in sweeps for cell in sweep if cell.score is not None):
        shared = rng_for(0, *map(str, vars(cell.key).values())).normal(0, 0.03, 500)
        scores[cell.run_id] = cell.score + shared + rng_for(0, cell.run_id).normal(0, own, 500)
        costs[cell.run_id] = {name: np.full(500, cost) for name, cost in cell.costs.items()}
    return Resamples(500, scores, costs)


def changed(before, after, make_scheme, **noise):
    return sweep_change(before, after, make_scheme(), never, resamples(before, after, **noise))


def test_a_fall_beyond_noise_breaches_its_limit_and_is_named_with_its_cell(before, make_scheme):
    after = later(before, clip_coco=-0.1)
    change = changed(before, after, make_scheme)
    overall = {(one.contender.model, one.what): one for one in change.figures}
    # P falls by 0.05, CDC rises, RR rises; limits judge the one that they name
    assert overall["clip", "P"].difference.value == pytest.approx(-0.05)
    assert overall["clip", "P"].regression
    assert not overall["blip", "P"].regression
    fallen = [(one.contender.model, one.what) for one in change.cells if one.regression]
    assert fallen == [("clip", "coco/reasoning/clean")]
    (breach,) = gate(change, Limits(-0.01, None, None, None, None))
    assert breach.what == "clip on cpu: P"
    assert breach.reason.startswith("changed by -0.0500 [-0.05")
    assert gate(change, ANY) == ()
    assert gate(change, Limits(-0.06, None, None, None, None)) == ()


def test_pairing_sees_a_fall_that_is_smaller_than_each_sweeps_own_noise(before, make_scheme):
    change = changed(before, later(before, clip_coco=-0.02), make_scheme)
    clip = next(one for one in change.figures if (one.contender.model, one.what) == ("clip", "P"))
    assert clip.regression
    assert clip.after.interval[1] > clip.before.value


def test_a_fall_within_noise_passes(before, make_scheme):
    change = changed(before, later(before, clip_coco=-0.03, clip_clevr=-0.03), make_scheme, own=0.1)
    assert gate(change, Limits(-0.01, None, None, None, None)) == ()


def test_without_resamples_a_limit_is_taken_as_it_stands(before, make_scheme):
    change = sweep_change(before, later(before, clip_coco=-0.03), make_scheme(), never, NONE)
    (breach,) = gate(change, Limits(-0.01, None, None, None, None))
    assert breach.reason == "changed by -0.0150, less than -0.01 may pass"


def test_a_sweep_against_itself_changes_nothing(before, make_scheme):
    change = changed(before, before, make_scheme)
    assert {one.difference.value for one in (*change.figures, *change.cells)} == {0.0}
    assert not any(one.regression for one in (*change.figures, *change.cells))
    assert gate(change, Limits(0, 0, 0, 0, 0)) == ()


def test_lost_cells_and_models_never_pass(before, make_scheme):
    failed = [cell for cell in later(before) if cell.key.model == "clip"]
    place = [cell.run_id for cell in failed].index("later-clip-coco-reasoning-blur-3")
    failed[place] = replace(failed[place], status="FAILED", score=None, reason="out of memory")
    change = changed(before, failed, make_scheme)
    assert change.lost == (
        "blip on cpu: not in the later sweep",
        "clip/coco/reasoning/blur-3 on cpu: FAILED: out of memory",
    )
    assert [breach.what for breach in gate(change, ANY)] == ["lost", "lost"]
    clip = next(one for one in change.figures if one.what == "RR")
    assert clip.before.over.startswith("1 of 2 perturbed cells")  # judged over what both have


def test_a_limit_on_a_figure_that_does_not_exist_cannot_pass(before, make_scheme):
    clean = [cell for cell in before if cell.key.perturbation == "clean"]
    change = changed(clean, later(clean), make_scheme)
    reasons = [breach.reason for breach in gate(change, Limits(None, None, -0.1, None, None))]
    assert len(reasons) == 2
    assert all(reason.startswith("cannot be judged: after: no perturbed cell") for reason in reasons)


def test_other_data_and_no_model_in_common_are_errors(before, make_scheme):
    smaller = [replace(cell, samples=50) for cell in later(before)]
    with pytest.raises(DataError, match="blip/clevr/reasoning/blur-3 stands over 100 images before and 50 after"):
        changed(before, smaller, make_scheme)
    clip, blip = ([cell for cell in before if cell.key.model == name] for name in ("clip", "blip"))
    with pytest.raises(DataError, match="no model in common: clip on cpu before, blip on cpu after"):
        changed(clip, blip, make_scheme)


@pytest.mark.parametrize("bad", [0.01, float("nan"), float("-inf"), "low", True])
def test_a_limit_that_is_no_fall_is_refused_by_name(bad):
    with pytest.raises(ConfigError, match=r"gate\.overall="):
        Limits(None, None, None, None, bad)
    assert OVERALL.set() == {"overall": -0.01}


def test_a_cost_that_rose_is_told_as_timed_and_no_p_value_is_0(before, make_scheme):
    """Two runs of the same code differ in their timings by more than the spread within each of them says."""
    slower = [replace(one, costs={name: 3 * cost for name, cost in one.costs.items()}) for one in later(before)]
    console = Console(file=StringIO(), width=100)
    console.print(change_report(changed(before, slower, make_scheme), ()))
    row = next(line.split() for line in console.file.getvalue().splitlines() if " E " in line)
    assert row[-2:] == ["worse", "(timed)"]
    assert "0.001" in row
    assert "p 0.000" not in console.file.getvalue()
