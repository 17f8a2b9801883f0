"""Every formula and setting behind a report, and how to make it again."""

from __future__ import annotations

import re
from dataclasses import asdict

from argus.report.html.background import Background
from argus.report.html.costs import COSTS, UNITS
from argus.report.html.parts import Cell, Commands, Section, Table, Text, gap
from argus.scoring.analysis import Analysis

SCORES = {
    "retrieval": "mean of recall at 1 of pictures for captions and of captions for pictures, within a gallery",
    "captioning": "CIDEr-D / the data set's ceiling, at most 1",
    "reasoning": "accuracy over all questions",
}
"""What a cell (one model, data set, task, perturbation and severity) scores, from 0 to 1."""


def method(analysis: Analysis, background: Background) -> Section:
    """Return formulas, weights and bootstrap of the scheme, and the commands."""
    scheme = analysis.scheme
    formulas = tuple((Cell(name), Cell(words)) for name, words in scheme.formulas.described().items())
    scores = tuple((Cell(f"score of a cell, {task}"), Cell(words)) for task, words in SCORES.items())
    reliability = (Cell("R"), Cell("mean of CDC and RR, RR capped at 1"))
    settings = (
        *((f"weight of {name}", f"{weight:g}") for name, weight in asdict(scheme.weights).items()),
        *((f"bootstrap: {name}", f"{value}") for name, value in asdict(scheme.bootstrap).items()),
        ("weighting", scheme.name),
        ("suite", background.suite or "unknown"),
        ("seed", background.seed or "unknown"),
        ("Argus", background.version),
    )
    rows = tuple((Cell(name), Cell(value)) for name, value in settings)
    words = (
        "The same command runs what is not yet finished, and ends in this report. Each cell's run keeps its resolved "
        "configuration (config.yaml), its environment and its predictions."
    )
    return Section(
        "method",
        "Formulas, settings and how to repeat it",
        (
            Table("Formulas", ("figure", "what it is"), (*scores, *formulas, reliability)),
            *_references(analysis),
            Table("Settings", ("setting", "value"), rows),
            Text(words),
            Commands(_commands(scheme.name, background)),
        ),
    )


def _references(analysis: Analysis) -> tuple[Table | Text, ...]:
    """Return the reference of each cost in E by hardware profile, and what E's interval does not cover."""
    spread = (
        "E's interval is only the spread of repeated timings within one run on one machine: what other runs, days or "
        "machines would measure may lie outside it."
    )
    formulas = analysis.scheme.formulas
    if formulas.efficiency != "reference":
        return (Text(spread),)
    cells = [cell for mine in analysis.cells.values() for cell in mine.values()]
    profiles = sorted({cell.key.hardware for cell in cells})
    rows = []
    for cost in formulas.costs:
        title, unit = COSTS.get(cost, (cost, ""))
        scale = UNITS.get(cost, 1.0)
        known = [
            {c.references[cost] / scale for c in cells if c.key.hardware == profile and cost in c.references}
            for profile in profiles
        ]
        rows.append((Cell(title), Cell(unit), *map(_reference, known)))
    words = (
        "A cost equal to its reference scores 0.5, a cheaper one more, a dearer one less; E is the geometric mean of "
        "these scores."
    )
    table = Table("References of the costs in E, by hardware profile", ("cost", "unit", *profiles), tuple(rows))
    return (table, Text(f"{words} {spread}"))


def _reference(found: set[float]) -> Cell:
    told = ", ".join(f"{value:g}" for value in sorted(found))
    return Cell(told, kind="number") if told else gap("no cell kept one")


def _commands(weighting: str, background: Background) -> tuple[str, ...]:
    run = f"python -m argus.run -m {background.command}" if background.command else ""
    store = " ".join(re.findall(r"tracking\S*=\S+", background.command))  # the same store, where one was named
    again = (
        f"python -m argus.aggregate sweep={background.sweep_id} score={weighting} report=report.html {store}".rstrip()
    )
    return tuple(line for line in (run, again) if line)
