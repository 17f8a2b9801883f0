"""Facts that a reader needs to judge figures: references of costs, what a figure stands on, how coarse it is."""

from __future__ import annotations

from dataclasses import replace

from argus.report.html.looks import looks
from argus.report.html.method import method
from argus.report.html.page import drops
from argus.report.html.parts import Table, Text
from argus.report.html.published import published
from argus.report.html.reliability import reliability
from argus.scoring.scheme import Formulas


def texts(section):
    return " ".join(block.text for block in section.blocks if isinstance(block, Text))


def tables(section):
    return {block.caption: block for block in section.blocks if isinstance(block, Table)}


def test_each_cost_in_e_has_its_reference_and_unit_for_every_profile(make_analysis, make_sweep, background):
    dear = [replace(one, references=one.references | {"parameters": 7e9}) for one in make_sweep(hardware="gpu")]
    section = method(make_analysis([*make_sweep(), *dear]), background)
    table = tables(section)["References of the costs in E, by hardware profile"]
    assert table.columns == ("cost", "unit", "cpu", "gpu")
    rows = {row[0].text: [cell.text for cell in row[1:]] for row in table.rows}
    assert rows["Parameters"] == ["million", "1.5", "7000"]
    assert rows["Latency, median"] == ["ms", "10", "10"]
    assert "equal to its reference scores 0.5" in texts(section)
    assert "within one run on one machine" in texts(section)


def test_costs_that_are_held_against_each_other_have_no_reference(small, background):
    scheme = replace(small.scheme, formulas=Formulas("population", "relative", ("parameters",), "arithmetic"))
    section = method(replace(small, scheme=scheme), background)
    assert not any("References" in caption for caption in tables(section))
    assert "within one run on one machine" in texts(section)


def test_published_figures_say_which_cells_the_sweeps_figures_stand_on(small):
    (table,) = tables(published(small)).values()
    rows = {row[0].text: row[3].text for row in table.rows}
    assert rows["Gemma-3: RR"] == "the model's own cells: 8 of 8 perturbed cells (image, text)"
    assert rows["Gemma-3: overall"] == "the model's own cells: 10 of 10 cells"
    assert rows["Gemma-3: latency, ms"] == "mean of 2 clean cells that all models have measured"
    assert rows["Qwen2.5-VL: overall"] == "–"


def test_a_correlation_of_few_models_is_to_be_read_with_care(make_analysis, make_sweep):
    def told(count):
        analysis = make_analysis(make_sweep([f"m{number:02}" for number in range(count)], changes=("blur",)))
        return texts(reliability(analysis, looks([card.name for card in analysis.scorecards])))

    assert (
        "With 5 models there are only 10 pairs: without ties kendall takes no more than 11 values, 0.2 apart" in told(5)
    )
    assert "there is only 1 pair" in told(2)
    assert "with care" not in told(11)


def test_the_rule_by_which_pictures_are_chosen_is_said(background):
    assert "There is at most one for each model, task and perturbation" in texts(drops(background))
