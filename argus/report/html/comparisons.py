"""Pairs of models: how they differ, beyond noise or not; and what the ranking owes to each choice."""

from __future__ import annotations

from collections.abc import Sequence

from argus.report.findings import p_text
from argus.report.html.looks import NEUTRAL, axis, layout, safe
from argus.report.html.parts import UNSURE, Cell, Plot, Plots, Section, Table, Text, ends, gap, plain
from argus.report.ranking import best
from argus.scoring.analysis import FIGURES, Analysis
from argus.scoring.differences import Difference
from argus.scoring.scheme import CDC_FORMS, EFFICIENCY_FORMS, OVERALL_FORMS
from argus.scoring.sensitivity import Alternative

BEYOND = "#d9622b"
OPTIONS = {
    **{("CDC", form): words for form, words in CDC_FORMS.items()},
    **{("E", form): words for form, words in EFFICIENCY_FORMS.items()},
    **{("overall", form): words for form, words in OVERALL_FORMS.items()},
    ("P", "mean over tasks"): "each task weighs the same, however many data sets have it",
    ("P", "mean over datasets"): "each data set weighs the same, however many tasks it has",
    ("RR", "mean of ratios"): "the mean of each cell's own ratio",
    ("RR", "worst perturbation"): "the ratio of the perturbation that takes most",
    ("RR", "1 - mean drop"): "what is lost in score points, not as a share",
    ("normalisation", "worst 0, best 1"): "each part stretched from the worst to the best model",
    ("normalisation", "ranks"): "each part replaced by the share of models that are beaten in it",
}
"""What a choice means, by its name and option; the others say it themselves."""


def differences(analysis: Analysis) -> Section:
    """Return the difference of each pair of models in each figure."""
    title = "Pairs of models"
    found = analysis.differences
    if not found:
        return Section("pairs", title, (Text("There is no second model to compare with."),))
    words = (
        "Differences over the common cells, on the same pictures. p is that of no difference, after Holm's "
        "correction for the pairs of that figure; below 0.05 a difference is beyond noise. The interval is that of the "
        "one pair, not corrected for the others, so that at the edge the two can disagree: an interval without 0 "
        "whose pair is not beyond noise. Detectable is the smallest true difference that this many pictures show in "
        "80 of 100 cases: what is smaller cannot be ruled out. The p of E knows the timings within this run alone, not "
        "how much another run would differ."
    )
    overall = [one for one in found if one.figure == "overall" and one.value is not None]
    tables = [_table(figure, [one for one in found if one.figure == figure]) for figure in reversed(FIGURES)]
    plots = (Plots((_plot(overall),)),) if overall else ()
    return Section("pairs", title, (Text(words), *plots, *tables))


def _plot(found: Sequence[Difference]) -> Plot:
    labels = [safe(f"{one.first} − {one.second}") for one in found]
    data = [
        {
            "type": "scatter",
            "mode": "markers",
            "name": name,
            "x": [one.value for one in some],
            "y": [label for label, one in zip(labels, found, strict=True) if one.beyond_noise == beyond],
            "error_x": {
                "type": "data",
                "symmetric": False,
                "array": [one.interval[1] - (one.value or 0) if one.interval else 0 for one in some],
                "arrayminus": [(one.value or 0) - one.interval[0] if one.interval else 0 for one in some],
            },
            "marker": {"color": colour, "symbol": symbol, "size": 9},
            "hoverinfo": "text",
            "hovertext": [safe(f"{one.first} − {one.second}: {one.value:.3f} [{ends(one.interval)}]") for one in some],
        }
        for beyond, name, colour, symbol in (
            (True, "beyond noise", BEYOND, "diamond"),
            (False, "not told apart", NEUTRAL, "circle-open"),
        )
        if (some := [one for one in found if one.beyond_noise == beyond])
    ]
    apart = sum(one.beyond_noise for one in found)
    finding = f"{apart} of {len(found)} pairs of models differ beyond noise."
    order = {"categoryorder": "array", "categoryarray": labels, "autorange": "reversed"}
    across = axis("difference in the overall score", zeroline=True, zerolinewidth=2)
    return Plot(
        "Differences in the overall score",
        finding,
        data,
        layout(across, axis("", **order)),
        110 + 26 * len(found),
        None,
    )


def _table(figure: str, found: Sequence[Difference]) -> Table:
    rows = tuple(
        (
            Cell(f"{one.first} − {one.second}"),
            gap(one.gap) if one.value is None else Cell(f"{one.value:+.3f}", ends(one.interval), "number"),
            _p(one),
            plain(one.detectable, 3, one.gap or UNSURE),
            Cell("yes" if one.beyond_noise else "no"),
        )
        for one in found
    )
    columns = ("pair", "difference", "p (Holm)", "detectable", "beyond noise")
    return Table(f"Differences in {figure}, with 95 % intervals", columns, rows, folded=figure != "overall")


def _p(one: Difference) -> Cell:
    if one.p_holm is None:
        return gap(one.gap or UNSURE)
    return Cell(p_text(one.p_holm).removeprefix("p "), kind="number")


def alternatives(analysis: Analysis) -> Section:
    """Return what becomes of the winner under other formulas, and without each data set and perturbation."""
    title = "Other formulas, and leaving out"
    found = analysis.alternatives
    if not found:
        return Section(
            "alternatives", title, (Text("The models have no overall score, so there is no ranking to vary."),)
        )
    others = [one for one in found if not one.gap and not one.same]
    changed = sum(one.changes_winner for one in others)
    leaders = best(analysis.scorecards, "overall")
    words = (
        f"Each row makes one choice otherwise and leaves all others as they are. {changed} of {len(others)} change the "
        "winner (rows that leave all scores as they are do not count). Tau is Kendall's, with the chosen ranking: 1 "
        "the same order, -1 the opposite."
    )
    columns = ("choice", "option", "winner", "changed", f"rank of {' and '.join(leaders)}", "tau")
    table = Table("The ranking under other choices", columns, tuple(_row(one, leaders) for one in found))
    return Section("alternatives", title, (Text(words), table))


def _row(one: Alternative, leaders: Sequence[str]) -> tuple[Cell, ...]:
    option = Cell(one.option, OPTIONS.get((one.choice, one.option), ""))
    if one.gap:
        return Cell(one.choice), option, gap(one.gap), Cell("–"), Cell("–"), Cell("–")
    places = [1 + sum(score > one.overall[name] for score in one.overall.values()) for name in leaders]
    return (
        Cell(one.choice),
        option,
        Cell(", ".join(one.winners)),
        Cell("the same scores" if one.same else "yes" if one.changes_winner else "no"),
        Cell(", ".join(map(str, places)), kind="number"),
        plain(one.tau, 2, "one model, or all equal"),
    )
