"""The small functions behind a report, by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from argus.report.html.choice import choice
from argus.report.html.comparisons import alternatives, differences
from argus.report.html.costs import by_task, overall_cost
from argus.report.html.grids import grids
from argus.report.html.looks import COLOURS, looks, safe
from argus.report.html.opening import compared, verdict
from argus.report.html.pareto import front
from argus.report.html.parts import UNSURE, gap, listed, number, share
from argus.report.html.reliability import reliability
from argus.report.html.severity import severity
from argus.report.html.weights import weights
from argus.scoring.records import Value
from argus.scoring.simplex import winners


def test_a_front_has_the_models_that_no_other_beats_in_both():
    points = {"cheap": (1.0, 0.3), "middle": (2.0, 0.6), "beaten": (3.0, 0.5), "best": (4.0, 0.9), "twin": (4.0, 0.9)}
    assert front(points) == ["cheap", "middle", "best", "twin"]
    assert front({}) == []
    assert front({"worse": (1.0, 0.2), "better": (1.0, 0.4)}) == ["better"]


def test_winners_are_named_at_each_weighting_and_equals_all_win():
    points = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
    parts = {"a": (0.8, 0.2), "b": (0.2, 0.8)}
    assert winners(parts, points, geometric=False) == [("a",), ("b",), ("a", "b")]
    assert winners({"a": (0.9, 0.1), "even": (0.45, 0.45)}, points[2:], geometric=True) == [("even",)]


def test_a_cost_is_the_mean_of_a_task_and_a_gap_where_one_of_its_cells_lacks_it(small, make_analysis, make_sweep):
    assert by_task(small, "parameters")["clip"]["retrieval"].value == 1.5
    cells = make_sweep()
    lacking = make_analysis([cell for cell in cells if not (cell.key.dataset == "coco" and cell.key.model == "clip")])
    assert by_task(lacking, "latency_p50_ms")["clip"]["retrieval"].gap == "no clean cell of this task"
    assert overall_cost(lacking, "latency_p50_ms")["gemma"].over == "1 clean cells"


def test_numbers_have_their_interval_and_gaps_their_reason():
    assert number(Value(0.5, "", interval=(0.4, 0.6))).under == "0.400 to 0.600"
    assert number(Value(None, "", "no luck")) == gap("no luck")
    assert listed(["a", "b", "c"], 2) == "a, b and 1 more"


def test_a_share_that_rounds_to_nothing_or_to_all_is_neither():
    told = {0.0: "0%", 1e-6: "<1%", 0.0049: "<1%", 0.006: "1%", 0.5: "50%", 0.994: "99%", 0.996: ">99%", 1.0: "100%"}
    assert {value: share(value).text for value in told} == told


def test_words_above_pairs_say_that_intervals_are_not_corrected_and_p_is(small):
    words = differences(small).blocks[0].text
    assert "The interval is that of the one pair, not corrected" in words
    assert "at the edge the two can disagree" in words


def test_models_look_different_by_colour_and_shape():
    many = looks([f"m{number}" for number in range(20)])
    assert len({(look.colour, look.symbol, look.dash) for look in many.values()}) == 20
    assert many["m0"].colour == COLOURS[0]
    assert safe("<a & b>") == "&lt;a &amp; b&gt;"


def test_the_verdict_names_the_leader_and_how_sure_that_is(small, make_analysis, make_sweep):
    told = verdict(small, "official")
    assert "the highest overall score of 2 models" in told
    assert "of the resamples of the pictures" in told
    assert verdict(make_analysis(make_sweep(("clip",))), "official").startswith("Only clip has an overall score")


def test_the_verdict_says_where_models_are_small_stand_ins(small):
    assert "tell nothing of the published ones" in verdict(small, "pocket")
    assert "tell nothing of the published ones" not in verdict(small, "official")


def test_the_verdict_names_tasks_that_no_rank_stands_on(make_analysis, make_sweep):
    cells = make_sweep()
    some = next(one for one in cells if one.key.model == "gemma" and one.key.perturbation == "clean")
    writes = replace(some, key=replace(some.key, task="captioning"), run_id="writes")
    assert "No rank rests on captioning, because clip has no score there." in verdict(
        make_analysis([*cells, writes]), "official"
    )


def rows_of(section):
    return {row[0].text: row for block in section.blocks if block.kind == "table" for row in block.rows}


def plots_of(section):
    return {plot.title: plot for block in section.blocks if block.kind == "plots" for plot in block.plots}


def test_what_matters_names_who_comes_first_who_is_as_good_and_who_cannot(make_analysis, make_sweep):
    cells = make_sweep(("clip", "gemma", "twin"))
    some = next(one for one in cells if one.key.model == "gemma" and one.key.perturbation == "clean")
    writes = replace(some, key=replace(some.key, task="captioning"), run_id="writes")
    rows = rows_of(choice(make_analysis([*cells, writes])))
    assert rows["capability on clean input (P)"][1].text == "twin"
    assert rows["robustness (RR)"][1].text == "clip"
    assert rows["captioning, clean input"][4].text == "clip, twin"
    assert rows["low latency, mean of all tasks"][1].text == "clip, gemma, twin"  # all cost the same here


def test_a_lead_in_robustness_is_doubted_where_the_model_has_little_to_lose(make_analysis, make_sweep):
    weak = {"chance": 0.5, "commonest_answer_accuracy": 0.5}
    cells = [replace(one, metrics=weak) if one.key.task == "reasoning" else one for one in make_sweep()]
    section = choice(make_analysis(cells))
    rows = rows_of(section)
    for matters in ("robustness (RR)", "robustness in reasoning", "robustness to changed pictures, all tasks"):
        assert rows[matters][1].under == "see below the table"
    assert rows["robustness in retrieval"][1].under == ""
    assert rows["capability on clean input (P)"][1].under == ""
    told = next(block for block in section.blocks if block.kind == "points")
    assert told.points[0].startswith("clip, clevr/reasoning/clean: 0.400 is not surely above the 0.500 of")


def test_one_severity_is_shown_as_bars_and_several_as_curves(make_analysis, make_sweep):
    cells = [one for one in make_sweep() if (one.key.perturbation, one.key.severity) != ("typo", 1)]
    analysis = make_analysis(cells)
    plots = plots_of(severity(analysis, looks(["clip", "gemma"])))
    assert list(plots) == ["blur (image)", "What one severity leaves"]
    assert {trace["type"] for trace in plots["blur (image)"].data} == {"scatter"}
    bars = plots["What one severity leaves"].data
    assert [(trace["type"], trace["y"]) for trace in bars] == [("bar", ["typo (text), severity 5"])] * 2


def test_the_map_of_rr_compares_models_over_shared_cells(make_analysis, make_sweep):
    """gemma lacks the reasoning cells under blur: clip's own RR must not be shown beside gemma's."""
    lacking = [
        one
        for one in make_sweep()
        if (one.key.model, one.key.task, one.key.perturbation) != ("gemma", "reasoning", "blur")
    ]
    lower = [
        replace(one, score=0.1)
        if (one.key.model, one.key.task, one.key.perturbation) == ("clip", "reasoning", "blur")
        else one
        for one in lacking
    ]
    plot = plots_of(grids(make_analysis(lower)))["RR by perturbation: the share of the clean score that is left"]
    row = plot.data[0]["z"][plot.data[0]["y"].index("blur")]
    assert row == [
        pytest.approx(0.94),
        pytest.approx(0.88),
    ]  # of retrieval alone: 1 - 0.1 x (1 + 5) / 2 / 5, twice that


def test_the_verdict_says_what_the_lead_owes_to_weights_and_formulas(small):
    told = verdict(small, "official")
    leader = told.split(" has the highest", 1)[0]
    won = small.weights.won[leader]
    assert f"Under {won:.0%} of all weightings {leader} comes first." in told
    others = [one for one in small.alternatives if not one.gap and not one.same]
    changed = sum(one.changes_winner for one in others)
    assert f"{changed} of {len(others)} other formulas and leave-outs make another model first." in told


def test_a_choice_that_leaves_all_scores_as_they_are_is_no_other_choice(small):
    """Each data set has one task here, so a mean over data sets is the mean over cells."""
    same = {(one.choice, one.option) for one in small.alternatives if one.same}
    assert {("P", "mean over tasks"), ("P", "mean over datasets")} < same
    assert ("CDC", "gini") not in same
    rows = {row[1].text: row for block in alternatives(small).blocks if block.kind == "table" for row in block.rows}
    assert rows["mean over datasets"][3].text == "the same scores"
    assert rows["gini"][1].under == "1 - Gini coefficient of the dataset scores"


def test_each_model_has_the_weights_that_bring_it_level_or_is_told_that_none_do(small):
    table = next(block for block in weights(small, looks(["clip", "gemma"])).blocks if block.kind == "table")
    near = {row[0].text: row[2] for row in table.rows}
    winner = small.weights.winner
    assert near[winner].text == "wins as it is"
    assert all("of the weight moves" in cell.text for name, cell in near.items() if name != winner)


def test_data_sets_are_told_with_their_pictures_galleries_and_questions(make_analysis, make_sweep, background):
    told = {"retrieval": {"largest_gallery": 20.0}, "reasoning": {"questions": 400.0}}
    cells = [replace(one, metrics=told[one.key.task]) for one in make_sweep()]
    some = next(one for one in cells if one.key.model == "clip" and one.key.task == "retrieval")
    picks = replace(some, key=replace(some.key, task="captioning"), run_id="p", metrics={"captions_from_bank": 1.0})
    rows = rows_of(compared(make_analysis([*cells, picks]), background))
    assert rows["data set coco"][1].text == "100 pictures, galleries of 20 pictures"
    assert rows["data set clevr"][1].text == "100 pictures, 400 questions"
    assert rows["captioning"][1].text.startswith("clip picks captions from a bank")


@pytest.mark.parametrize(("probability", "under"), [(0.80, "within noise"), (0.97, ""), (None, UNSURE)])
def test_a_flip_that_few_resamples_agree_on_is_within_noise(small, probability, under):
    flips = (replace(small.gap.flips[0], probability=probability),)
    section = reliability(replace(small, gap=replace(small.gap, flips=flips)), looks(["clip", "gemma"]))
    (row,) = next(block for block in section.blocks if block.kind == "table").rows
    assert row[2].under == under
