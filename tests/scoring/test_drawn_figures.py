"""A figure's resamples are what the figure would have been, had the cells scored so."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from argus.scoring.cells import slot_of
from argus.scoring.consistency import consistency, without_noise
from argus.scoring.drawn import with_draws
from argus.scoring.records import Slot
from argus.scoring.resampling import Resamples
from argus.scoring.scheme import Weights
from argus.scoring.vector import score_models

RESAMPLES = 7
PLACES = (("coco", "retrieval"), ("coco", "captioning"), ("clevr", "reasoning"), ("vcr", "reasoning"))
CHANGES = (("clean", "none", 0), ("blur", "image", 1), ("blur", "image", 3), ("noise", "image", 3), ("typo", "text", 3))


def never(clean, perturbed):
    raise AssertionError("the samples are the same")


@pytest.fixture
def sweep(make_cell):
    """Three models' cells, and what each would have scored and cost in seven resamples."""
    rng = np.random.default_rng(0)
    cells = [
        make_cell(model, dataset, task, float(rng.uniform(0.2, 0.9)), change, severity, modality)
        for model in ("blip", "clip", "gemma")
        for dataset, task in PLACES
        for change, modality, severity in CHANGES
    ]
    scores = {cell.run_id: rng.uniform(0.1, 1.0, RESAMPLES) for cell in cells}
    costs = {cell.run_id: {name: rng.uniform(5.0, 20.0, RESAMPLES) for name in cell.costs} for cell in cells}
    return cells, Resamples(RESAMPLES, scores, costs)


def in_resample(cells, resamples, number):
    return [
        replace(
            cell,
            score=float(resamples.scores[cell.run_id][number]),
            costs={name: float(draws[number]) for name, draws in resamples.costs[cell.run_id].items()},
        )
        for cell in cells
    ]


@pytest.mark.parametrize(("efficiency", "overall"), [("reference", "arithmetic"), ("relative", "geometric")])
def test_every_resample_is_scored_as_the_cells_of_that_resample_would_be(sweep, make_scheme, efficiency, overall):
    cells, resamples = sweep
    scheme = make_scheme(Weights(1, 0, 2, 1), efficiency=efficiency, overall=overall)
    drawn = score_models(cells, scheme, never, resamples=resamples)
    for number in range(RESAMPLES):
        alone = score_models(in_resample(cells, resamples, number), scheme, never)
        for card, other in zip(drawn, alone, strict=True):
            for figure in ("P", "RR", "E", "overall"):
                value, expected = card.common.figures()[figure], other.common.figures()[figure]
                assert value.draws[number] == pytest.approx(expected.value), figure
            for part in ("own_by", "shared_by"):
                check_parts(getattr(card, part), getattr(other, part), number)


def check_parts(parts, expected, number):
    for name in ("by_dataset", "by_task", "by_modality"):
        drawn = {key: value.draws[number] for key, value in getattr(parts, name).items()}
        assert drawn == pytest.approx({key: value.value for key, value in getattr(expected, name).items()})
    for ratio, other in zip(parts.by_perturbation, expected.by_perturbation, strict=True):
        assert ratio.ratio.draws[number] == pytest.approx(other.ratio.value)


def test_resamples_move_no_figure(sweep, make_scheme):
    cells, resamples = sweep
    with_them = score_models(cells, make_scheme(), never, resamples=resamples)
    without = score_models(cells, make_scheme(), never)
    for card, other in zip(with_them, without, strict=True):
        assert {n: v.value for n, v in card.own.figures().items()} == {
            n: v.value for n, v in other.own.figures().items()
        }


def test_a_new_model_moves_no_interval_of_another(sweep, make_scheme):
    cells, resamples = sweep
    three = {card.name: card for card in score_models(cells, make_scheme(), never, resamples=resamples)}
    two = [cell for cell in cells if cell.key.model != "gemma"]
    for card in score_models(two, make_scheme(), never, resamples=resamples):
        for name, value in card.own.figures().items():
            assert value.interval is not None
            assert value.interval == three[card.name].own.figures()[name].interval


def test_one_cell_without_known_resamples_leaves_only_what_stands_on_it_without_an_interval(sweep, make_scheme):
    cells, resamples = sweep
    blurred = next(c for c in cells if c.key.model == "clip" and slot_of(c.key).perturbation == "blur")
    scores = {run: draws for run, draws in resamples.scores.items() if run != blurred.run_id}
    cards = score_models(cells, make_scheme(), never, resamples=replace(resamples, scores=scores))
    clip = next(card for card in cards if card.name == "clip")
    assert {name: value.interval is None for name, value in clip.own.figures().items()} == {
        "P": False, "CDC": False, "RR": True, "E": False, "overall": True,
    }  # fmt: skip
    assert clip.own.RR.value is not None


def test_a_resample_whose_clean_scores_are_all_zero_has_no_ratio(make_cell, make_scheme):
    cells = [
        make_cell("clip", "coco", "retrieval", 0.5),
        make_cell("clip", "coco", "retrieval", 0.4, "blur", 3, "image"),
    ]
    clean = np.full(100, 0.5)
    clean[0] = 0.0
    scores = {cells[0].run_id: clean, cells[1].run_id: np.full(100, 0.4)}
    (card,) = score_models(cells, make_scheme(), never, resamples=Resamples(100, scores, {}))
    assert np.isnan(card.own.RR.draws[0])
    assert card.own.RR.interval == pytest.approx((0.8, 0.8))


def test_noise_is_taken_off_once_from_a_corrected_score_and_twice_from_its_resamples():
    # Datasets 0.5 and 0.7: variance 0.01. Resamples of either spread by a variance of 0.0025 about it, so the noise in
    # the variance of two datasets is half of that: 0.00125.
    values = np.array([[0.5, 0.45, 0.55, 0.45, 0.55], [0.7, 0.65, 0.65, 0.75, 0.75]])
    shrunk = without_noise(values, corrected=True)
    assert shrunk[:, 0].var() == pytest.approx(0.01 - 0.00125)
    assert shrunk[:, 0].mean() == pytest.approx(0.6)
    assert shrunk[:, 1].var() == pytest.approx(0.01 - 2 * 0.00125)
    assert without_noise(values)[:, 0].tolist() == [0.5, 0.7]


def test_datasets_that_differ_by_no_more_than_their_noise_are_even_once_corrected():
    rng = np.random.default_rng(0)
    scores = {
        Slot(name, "retrieval", "clean", "none", 0): with_draws(mean, rng.normal(mean, 0.05, 1000), 1000)
        for name, mean in (("a", 0.68), ("b", 0.70), ("c", 0.72))
    }
    for form in ("population", "min_max", "gini"):
        plain = consistency(scores, form, {}, 3)
        assert plain.value < 1
        assert plain.interval[1] == pytest.approx(1)
        assert consistency(scores, form, {}, 3, corrected=True).value == pytest.approx(1)


def test_a_figure_whose_resamples_are_often_undefined_says_why_it_has_no_interval(make_cell, make_scheme):
    cells = [
        make_cell("m", "coco", "retrieval", 0.5, costs={}),
        make_cell("m", "vcr", "reasoning", 1.0, samples=1, costs={}),
    ]
    few = np.where(np.arange(100) < 37, np.nan, 1.0)  # a third of the resamples leaves the one picture out
    scores = {cells[0].run_id: np.full(100, 0.5), cells[1].run_id: few}
    (card,) = score_models(cells, make_scheme(), never, resamples=Resamples(100, scores, {}))
    told = "no interval for P, CDC: too many resamples leave a cell without any picture (vcr/reasoning/clean has 1)"
    assert told in card.notes
