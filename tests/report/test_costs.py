"""What the tables and plots of costs say."""

from __future__ import annotations

from dataclasses import replace

from argus.records import DroppedCell
from argus.report.html.costs import by_task, overall_cost, senseless
from argus.report.html.efficiency import efficiency
from argus.report.html.looks import looks
from argus.report.html.parts import Plots


def plots_of(analysis):
    section = efficiency(analysis, looks([card.name for card in analysis.scorecards]))
    return {plot.title: plot for block in section.blocks if isinstance(block, Plots) for plot in block.plots}


def another_dataset(cells, **costs):
    """The cells, and the clean retrieval cells once more on another data set, with other costs."""
    clean = [one for one in cells if one.key.task == "retrieval" and one.key.perturbation == "clean"]
    more = [
        replace(one, key=replace(one.key, dataset="flickr30k"), run_id=f"more-{one.run_id}", costs=one.costs | costs)
        for one in clean
    ]
    return [*cells, *more]


def test_memory_is_the_highest_over_data_sets_in_bars_and_fronts_and_a_time_their_mean(make_analysis, make_sweep):
    analysis = make_analysis(another_dataset(make_sweep(), peak_memory_mb=60.0, latency_p50_ms=20.0))
    assert by_task(analysis, "peak_memory_mb")["clip"]["retrieval"].value == 60
    assert overall_cost(analysis, "peak_memory_mb")["clip"].value == 60
    assert by_task(analysis, "latency_p50_ms")["clip"]["retrieval"].value == 15
    titles = set(plots_of(analysis))
    assert {"Peak memory, MiB, highest over data sets", "Latency, median, ms, mean over data sets"} < titles


def test_a_task_that_a_model_cannot_do_is_a_dash_with_its_reason_in_plot_and_table(make_analysis, make_sweep):
    cannot = [one for one in make_sweep() if one.key.model == "clip" and one.key.task == "reasoning"]
    dropped = [DroppedCell(one.key, "no Chooser") for one in cannot]
    analysis = make_analysis([one for one in make_sweep() if one not in cannot], dropped)
    assert senseless(analysis) == {("clip", "reasoning"): "no Chooser"}
    plot = plots_of(analysis)["Parameters, million, mean over data sets"]
    clip, gemma = plot.table.rows
    assert (clip[1].text, clip[1].under, clip[1].kind) == ("–", "no Chooser", "text")
    assert gemma[1].text == "1.500"
    assert plot.data[0]["text"][0] == "–"
    assert plot.data[0]["hovertext"][0] == "clip, reasoning: no Chooser"


def test_a_cell_that_should_be_there_and_is_not_stays_a_gap(gaps):
    plot = plots_of(gaps)["Parameters, million, mean over data sets"]
    rows = {row[0].text: row for row in plot.table.rows}
    assert rows["gemma"][1].text == "gap"
    assert "not measured in clevr/reasoning/clean" in rows["gemma"][1].under
    assert senseless(gaps) == {}
