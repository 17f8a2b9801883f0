"""Reasoning by question type, as a reader finds it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from argus.report.html.kinds import kinds
from argus.report.html.looks import looks
from argus.report.html.parts import Plots, Text

VCR = {
    "accuracy": 0.55,
    "accuracy_q_to_a": 0.6,
    "accuracy_qa_to_r": 0.5,
    "accuracy_q_to_ar": 0.3,
    "chance": 0.25,
    "chance_q_to_a": 0.25,
    "chance_qa_to_r": 0.25,
    "chance_q_to_ar": 1 / 16,
    "commonest_answer_accuracy": 0.28,
    "commonest_answer_accuracy_q_to_a": 0.27,
    "commonest_answer_accuracy_qa_to_r": 0.29,
}
ENDS = (0.2, 0.7)


@pytest.fixture
def told(make_analysis, make_sweep):
    """A function that returns the texts and the only table of a sweep whose reasoning cells have these metrics."""

    def of(metrics, intervals=()):
        cells = [replace(one, metrics=metrics) if one.key.task == "reasoning" else one for one in make_sweep()]
        ends = {one.run_id: dict.fromkeys(intervals, ENDS) for one in cells if one.key.task == "reasoning"}
        analysis = replace(make_analysis(cells), cell_intervals=ends)
        section = kinds(analysis, looks([card.name for card in analysis.scorecards]))
        (plot,) = next(block.plots for block in section.blocks if isinstance(block, Plots))
        return " ".join(block.text for block in section.blocks if isinstance(block, Text)), plot

    return of


def test_the_three_figures_of_vcr_are_explained_and_the_joint_one_stands_apart(told):
    text, plot = told(VCR)
    assert plot.table.columns == ("model", "Q→A", "QA→R", "Q→AR", "all")
    assert "QA→R is choosing the rationale, given the question and its right answer." in text
    assert "it is not in “all”" in text
    assert "Q→A is easiest, 0.60, and QA→R hardest, 0.50" in plot.finding


def test_guessing_has_a_figure_for_each_type(told):
    rows = {row[0].text: [cell.text for cell in row[1:]] for row in told(VCR)[1].table.rows}
    assert rows["guessing"] == ["0.250", "0.250", "0.062", "0.250"]
    assert rows["the commonest answer of each type"] == ["0.270", "0.290", "–", "0.280"]


def test_guessing_is_a_gap_where_older_runs_kept_none(told):
    guessing = told({"accuracy": 0.5, "accuracy_count": 0.4, "chance": 0.25})[1].table.rows[-2]
    assert [cell.text for cell in guessing] == ["guessing", "gap", "0.250"]
    assert "older" in guessing[1].under


def test_data_without_joint_questions_are_told_nothing_of_them(told):
    text, plot = told({"accuracy": 0.5, "accuracy_query_color": 0.4, "chance": 0.25})
    assert plot.table.columns == ("model", "query color", "all")
    assert "Q→A" not in text


def test_every_type_has_its_interval_and_where_one_lacks_it_the_reason_is_said(told):
    text, plot = told(VCR, [name for name in VCR if name.startswith("accuracy")])
    assert {cell.under for cell in plot.table.rows[0][1:]} == {"0.200 to 0.700"}
    assert "without an interval" not in text
    assert "A type without an interval" in told(VCR, ["accuracy", "accuracy_q_to_ar"])[0]


def test_a_type_that_all_models_get_wrong_is_the_hardest(told):
    plot = told({"accuracy": 0.3, "accuracy_count": 0.4, "accuracy_query_color": 0.0, "chance": 0.25})[1]
    assert "count is easiest, 0.40, and query color hardest, 0.00" in plot.finding
