"""The report as a reader gets it: well formed, self-contained, and honest about what is not there."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from argus.report.html.markdown import markdown
from argus.report.html.page import page, plot_json, sections
from argus.report.html.parts import Pictures, Plot, Plots, Table
from argus.scoring.resampling import NONE

TITLES = (
    "Scores",
    "Which model for what",
    "What was compared",
    "The Capability-Reliability Gap",
    "Every model, data set and perturbation",
    "How robustness falls with severity",
    "Capability against cost",
    "Who wins under which weights",
    "What each model costs",
    "Reasoning by question type",
    "How perturbations break them",
    "Pairs of models",
    "Other formulas, and leaving out",
    "The worst drops, in pictures",
    "Published figures, for reference only",
    "What is missing, and why",
    "Formulas, settings and how to repeat it",
)
LOADS = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src", "object": "data"}


def plots_of(analysis, background):
    blocks = [block for section in sections(analysis, background) for block in section.blocks]
    return [plot for block in blocks if isinstance(block, Plots) for plot in block.plots]


def test_a_report_says_everything_in_order_and_stays_small(small, background, make_report):
    text = page(small, background)
    assert len(text.encode()) < 5e6
    found = make_report(small)
    assert found.all("html") == [{"lang": "en"}]
    places = [text.index(f">{title}</h2>") for title in TITLES]
    assert places == sorted(places)
    headings = [tag for tag, _ in found.elements if tag in ("h1", "h2", "h3", "h4")]
    assert headings == ["h1"] + ["h2"] * len(TITLES)


def test_no_plot_is_empty(small, gaps, background):
    for analysis in (small, gaps):
        assert all(plot.data for plot in plots_of(analysis, background))


def test_nothing_is_loaded_from_the_network(small, make_report):
    found = make_report(small)
    for tag, attribute in LOADS.items():
        for one in found.all(tag):
            assert (one.get(attribute) or "data:").startswith("data:")
    policy = next(one["content"] for one in found.all("meta") if one.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'")
    style = next(script for script in found.scripts if "color-scheme" in script)
    assert "url(" not in style
    assert "@import" not in style


def test_every_plot_has_a_text_that_says_what_it_shows(small, background, make_report):
    found = make_report(small)
    told = [one["aria-label"] for one in found.all("div") if one.get("role") == "img"]
    assert len(told) == len(plots_of(small, background)) > 12
    assert all(len(one) > 30 for one in told)
    assert all(one.get("alt") for one in found.all("img"))


def test_every_table_has_a_caption_and_scoped_headings(small, make_report):
    found = make_report(small)
    assert len(found.all("caption")) == len(found.all("table")) > 20
    assert {one.get("scope") for one in found.all("th")} == {"col", "row"}


def test_names_and_texts_are_shown_not_obeyed(make_analysis, make_sweep, background, make_report):
    evil = "<script>alert(1)</script>&<b>"
    analysis = make_analysis(make_sweep(("clip", evil)))
    found = make_report(analysis, replace(background, checkpoints={evil: "</table><img src=x onerror=alert(1)>"}))
    assert not [one for one in found.all("img") if one["src"] == "x"]
    assert evil in found.text
    plots = [json.loads(script) for script in found.scripts if script.startswith('{"data"')]
    names = {trace.get("name") for plot in plots for trace in plot["data"]}
    assert "&lt;script&gt;alert(1)&lt;/script&gt;&amp;&lt;b&gt;" in names  # Plotly reads tags
    told = markdown(analysis, background)
    assert "<script" not in told


def test_a_gap_is_a_gap_with_its_reason_and_never_a_0(gaps, background, make_report):
    text = make_report(gaps).text
    assert "FAILED: out of memory" in text
    assert "reads no text" in text
    maps = {plot.title: plot for plot in plots_of(gaps, background)}
    scores, empty = maps["Scores of gemma"].data
    row, column = scores["y"].index("clean"), scores["x"].index("clevr reasoning")
    assert scores["z"][row][column] is None
    assert empty["z"][row][column] == 1
    assert empty["text"][row][column] == "gap"
    not_meant = maps["Scores of blip"].data[1]
    assert not_meant["text"][not_meant["y"].index("typo 1")][column] == "–"
    assert "1 gap" in maps["Scores of gemma"].finding


def test_a_score_of_0_is_no_gap(make_analysis, make_sweep, background):
    cells = [replace(one, score=0.0) if one.key.severity == 5 else one for one in make_sweep()]
    plots = {plot.title: plot for plot in plots_of(make_analysis(cells), background)}
    scores, empty = plots["Scores of clip"].data
    row = scores["y"].index("blur 5")
    assert scores["z"][row] == [0.0, 0.0]
    assert empty["z"][row] == [None, None]


@pytest.mark.parametrize(
    "kind",
    [
        "one model",
        "no perturbation",
        "no reasoning",
        "all failed",
        "40 perturbations",
        "two profiles",
        "no resamples",
        "no costs",
    ],
)
def test_unusual_sweeps_have_a_report_too(kind, make_analysis, make_sweep, background, make_report):
    cells = {
        "one model": lambda: make_sweep(("clip",)),
        "no perturbation": lambda: make_sweep(changes=()),
        "40 perturbations": lambda: make_sweep(changes=[f"change{number}" for number in range(40)]),
        "two profiles": lambda: make_sweep() + make_sweep(hardware="gpu"),
    }.get(kind, make_sweep)()
    if kind == "no reasoning":
        cells = [one for one in cells if one.key.task != "reasoning"]
    if kind == "all failed":
        cells = [replace(one, status="FAILED", score=None, reason="no luck") for one in cells]
    if kind == "no costs":
        cells = [replace(one, costs=dict.fromkeys(one.costs, np.nan)) for one in cells]
    analysis = make_analysis(cells, resamples=NONE) if kind in ("no resamples", "no costs") else make_analysis(cells)
    found = make_report(analysis, replace(background, pictures=(), pictures_gap="Some examples could not be read"))
    assert "NaN" not in "".join(script for script in found.scripts if script.startswith('{"data"'))
    assert " nan" not in found.text
    assert "Some examples could not be read" in found.text
    assert " nan" not in markdown(analysis, background)


def test_many_perturbations_are_told_by_family_and_a_row_each(make_analysis, make_sweep, background):
    analysis = make_analysis(make_sweep(changes=[f"change{number}" for number in range(40)]))
    found = sections(analysis, background)
    curves = next(section for section in found if section.name == "severity")
    assert "Families of perturbations" in curves.blocks[0].text
    plots = {plot.title: plot for plot in plots_of(analysis, background)}
    assert len(plots["Scores of clip, mean over severities"].data[0]["y"]) == 41


def test_plots_hold_no_nan_and_end_no_script(small, background):
    for plot in plots_of(small, background):
        assert "</" not in plot_json(plot)
    broken = Plot("t", "f", [{"x": [float("nan")]}], {}, 100, None)
    with pytest.raises(ValueError, match="JSON"):
        plot_json(broken)


def test_pictures_and_figures_of_the_paper_are_there_with_their_caveat(small, background, make_report):
    found = make_report(small)
    assert [one["alt"] for one in found.all("img")] == ["A picture of coco twice."]
    assert "arXiv 2507.01042" in found.text
    assert "not comparable" in found.text
    table = next(
        block
        for section in sections(small, background)
        if section.name == "published"
        for block in section.blocks
        if isinstance(block, Table)
    )
    shown = {row[0].text: (row[1].text, row[2]) for row in table.rows}
    assert shown["Gemma-3: RR"][0] == "0.901"
    assert shown["Gemma-3: RR"][1].under == "gemma"
    assert shown["Qwen2.5-VL: overall"][1].under == "no qwen in this sweep"


def test_markdown_has_the_same_sections_and_no_broken_row(small, background):
    lines = markdown(small, background).splitlines()
    assert [line.removeprefix("## ") for line in lines if line.startswith("## ")] == [
        title.replace("*", "") for title in TITLES
    ]
    for before, line in pairwise(lines):
        if line.startswith("| ") and before.startswith("| "):
            assert line.replace("\\|", "").count("|") == before.replace("\\|", "").count("|")


def test_how_to_repeat_it_is_said(small, make_report):
    text = make_report(small).text
    assert "python -m argus.run -m model=clip,gemma perturbation=blur,typo" in text
    assert "python -m argus.aggregate sweep=0123abcd score=equal report=report.html" in text


def test_a_report_without_pictures_says_why(small, background):
    found = sections(small, replace(background, pictures=()))
    blocks = next(section.blocks for section in found if section.name == "pictures")
    assert not any(isinstance(block, Pictures) for block in blocks)
    assert "No kept example" in blocks[0].text
