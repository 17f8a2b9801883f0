"""A report as one HTML file: nothing is loaded from anywhere, so it opens in MLflow, from a disk or from a mail."""

from __future__ import annotations

import json
from pathlib import Path

from argus.report.html.background import Background
from argus.report.html.breaking import breaking
from argus.report.html.choice import choice
from argus.report.html.comparisons import alternatives, differences
from argus.report.html.efficiency import efficiency
from argus.report.html.grids import grids
from argus.report.html.kinds import kinds
from argus.report.html.looks import looks
from argus.report.html.method import method
from argus.report.html.missing import missing
from argus.report.html.opening import compared, scores, verdict
from argus.report.html.pareto import pareto
from argus.report.html.parts import Pictures, Plot, Plots, Section, Text
from argus.report.html.published import published
from argus.report.html.reliability import reliability
from argus.report.html.severity import severity
from argus.report.html.weights import weights
from argus.scoring.analysis import Analysis

FOLDER = Path(__file__).parent


def sections(analysis: Analysis, background: Background) -> tuple[Section, ...]:
    """Return a report, section by section, in the order in which it is read."""
    of = looks([card.name for card in analysis.scorecards])
    return (
        scores(analysis),
        choice(analysis),
        compared(analysis, background),
        reliability(analysis, of),
        grids(analysis),
        severity(analysis, of),
        pareto(analysis, of),
        weights(analysis, of),
        efficiency(analysis, of),
        kinds(analysis, of),
        breaking(analysis, of),
        differences(analysis),
        alternatives(analysis),
        drops(background),
        published(analysis),
        missing(analysis),
        method(analysis, background),
    )


def drops(background: Background) -> Section:
    """Return the worst drops in pictures."""
    title = "The worst drops, in pictures"
    gap = (Text(background.pictures_gap),) if background.pictures_gap else ()
    if not background.pictures:
        return Section("pictures", title, gap or (Text("No kept example got worse under a perturbation."),))
    words = (
        "Samples whose answer got worse: clean to the left, as the model saw it to the right. There is at most one for "
        "each model, task and perturbation, from the cells that lost most, the tasks taking turns. A cell keeps only a "
        "few examples: shown is the one of them that got most worse, if possible with a picture not shown above. So "
        "these are not the worst of all samples."
    )
    return Section("pictures", title, (Text(words), *gap, Pictures(background.pictures)))


def page(analysis: Analysis, background: Background) -> str:
    """Return the whole report as HTML."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    of, told = sections(analysis, background), verdict(analysis, background.suite)
    drawn = any(isinstance(block, Plots) for section in of for block in section.blocks)
    return environment.get_template("template.html.j2").render(
        background=background,
        scheme=analysis.scheme.name,
        models=[card.name for card in analysis.scorecards],
        verdict=told,
        sections=of,
        plot_json=lambda plot: Markup(plot_json(plot)),
        style=Markup((FOLDER / "style.css").read_text()),
        script=Markup((FOLDER / "plots.js").read_text()),
        plotly=Markup((FOLDER / "plotly-cartesian.min.js").read_text()) if drawn else "",
    )


def plot_json(plot: Plot) -> str:
    """Return what Plotly draws as JSON that stands safely within a script element; NaN raises ValueError."""
    drawn = json.dumps({"data": plot.data, "layout": plot.layout}, allow_nan=False, separators=(",", ":"))
    return drawn.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
