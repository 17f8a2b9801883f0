"""Scorecards in the terminal. What is best is marked with a star, so that it reads without colours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from argus.report.ranking import best, gap_sentence, ranked
from argus.scoring.records import Absent, FamilyRatio, Ratio, Scorecard, Value, Vector
from argus.scoring.scheme import Scheme

FIGURES = ("P", "CDC", "RR", "E", "overall")
GAP = "gap"
COMMON = "over the cells that all models have: ranks come from these"
OWN = "over each model's own cells: not for comparing"


def report(scorecards: Sequence[Scorecard], scheme: Scheme) -> Group:
    """Return all that a sweep ends with: A(M), clean scores, robustness by perturbation, and the notes beneath."""
    parts: list[Table | Group | Text] = [table(scorecards, scheme)]
    parts.append(clean_scores(scorecards))
    changes = [card.shared_by for card in scorecards]
    if any(one.by_perturbation for one in changes):
        parts.append(breakdown(scorecards))
    if any(len(one.by_family) < len(one.by_perturbation) for one in changes if one.by_family):
        parts.append(families(scorecards))
    if lines := notes(scorecards):
        parts.append(Text("\n".join(lines)))
    return Group(*parts)


def weighed(scorecards: Sequence[Scorecard], scheme: Scheme) -> Group:
    """Return the part of the report that depends on the weights: A(M), and why figures are gaps."""
    gaps = [f"{card.name}: {line}" for card in scorecards for line in gap_lines(card)]
    same = "clean scores, RR by perturbation and other notes are those of any weights: an aggregation alone prints them"
    return Group(table(scorecards, scheme), Text("\n".join([*gaps, same])))


def table(scorecards: Sequence[Scorecard], scheme: Scheme) -> Group:
    """Return A(M), best overall first, over the common cells; below them each model's own cells where those differ.

    Under each figure stands its 95 % interval.
    """
    title = f"A(M), score '{scheme.name}'"
    if all(_numbers(card.own) == _numbers(card.common) for card in scorecards):
        return Group(_block(title, scorecards, "common", ""), _caption(scorecards, scheme))
    common = _block(f"{title}\n{COMMON}", scorecards, "common", "common: ")
    return Group(common, _block(OWN, scorecards, "own", "own: "), _caption(scorecards, scheme))


def _block(title: str, scorecards: Sequence[Scorecard], part: str, over: str) -> Table:
    """Return the figures over one part of the cells; only those over the common cells are ranked."""
    grid = Table(title=title, box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    grid.add_column("rank" if part == "common" else "", justify="right", min_width=4)
    grid.add_column("model", overflow="fold")
    for figure in FIGURES:
        grid.add_column(figure, justify="right", no_wrap=True)
    grid.add_column("over", overflow="fold")
    for rank, card in ranked(scorecards):
        place = str(rank or "-") if part == "common" else ""
        cells = card.common_coverage if part == "common" and over else card.coverage
        grid.add_row(place, Text(card.name), *_cells(scorecards, card, part), f"{over}{cells}")
    return grid


def _caption(scorecards: Sequence[Scorecard], scheme: Scheme) -> Text:
    weights = ", ".join(f"{name} {weight:g}" for name, weight in asdict(scheme.weights).items())
    lines = [f"weights: {weights}; {scheme.formulas.overall} overall"]
    if leaders := gap_sentence(scorecards):
        lines.append(leaders)
    if scheme.bootstrap.resamples:
        lines.insert(0, f"below each figure: its 95 % interval, {scheme.bootstrap.resamples} resamples of images")
    return Text("\n".join(lines), style="dim italic")


def _cells(scorecards: Sequence[Scorecard], card: Scorecard, part: str) -> list[Text]:
    figures: dict[str, Value] = getattr(card, part).figures()
    marked = part == "common" and len(scorecards) > 1  # own figures are no ranking
    leads = {name for name in FIGURES if marked and card.name in best(scorecards, name)}
    return [_number(figures[name], name in leads, interval=True) for name in FIGURES]


def _number(value: Value, leads: bool = False, interval: bool = False) -> Text:
    shown = GAP if value.value is None else f"{value.value:.3f}"
    number = Text(f"{shown}{'*' if leads else ' '}", style="bold" if leads else "")
    if interval and value.interval is not None:
        low, high = (f"{end:.2f}".removeprefix("0") for end in value.interval)
        number.append(f"\n{low}–{high} ", style="dim")  # short, so that five fit beside the name
    return number


def _numbers(vector: Vector) -> list[float | None]:
    return [value.value for value in vector.figures().values()]


def clean_scores(scorecards: Sequence[Scorecard]) -> Table:
    """Return mean clean scores by dataset and by task, one column a model, over the cells that a row's models share."""
    grid = Table(title=f"Clean score by dataset and by task{_shared(scorecards)}", box=box.SIMPLE_HEAD)
    for heading in ("by", "name"):
        grid.add_column(heading)
    for card in scorecards:
        grid.add_column(Text(card.name), justify="right", overflow="fold")
    for part in ("dataset", "task"):
        groups: list[Mapping[str, Value]] = [getattr(card.shared_by, f"by_{part}") for card in scorecards]
        for name in groups[0]:
            grid.add_row(part, Text(name), *_starred([values[name] for values in groups]))
        grid.add_section()
    return grid


def _shared(scorecards: Sequence[Scorecard]) -> str:
    """Return which cells a row stands over, where the models have different ones."""
    differ = any(card.own_by != card.shared_by for card in scorecards)
    return "\neach row over the cells shared by all models with any" if differ else ""


def breakdown(scorecards: Sequence[Scorecard]) -> Table:
    """Return RR by perturbation and severity, one column a model, over the cells that a row's models share."""
    mine = [{(one.modality, one.perturbation): one for one in card.shared_by.by_perturbation} for card in scorecards]
    title = f"RR by perturbation: what is left of the clean score{_shared(scorecards)}"
    return _ratios_table(title, "perturbation", scorecards, mine)


def families(scorecards: Sequence[Scorecard]) -> Table:
    """Return RR by family and severity, one column a model: the mean over the family's perturbations."""
    mine = [{(one.modality, one.family): one for one in card.shared_by.by_family} for card in scorecards]
    return _ratios_table("RR by family and severity", "family", scorecards, mine)


def _ratios_table(
    title: str,
    kind: str,
    scorecards: Sequence[Scorecard],
    mine: Sequence[Mapping[tuple[str, str], Ratio | FamilyRatio]],
) -> Table:
    grid = Table(title=title, box=box.SIMPLE_HEAD)
    for heading in ("modality", kind, "severity"):
        grid.add_column(heading)
    for card in scorecards:
        grid.add_column(Text(card.name), justify="right", overflow="fold")
    for modality, name in sorted({key for ratios in mine for key in ratios}):
        columns = [ratios.get((modality, name)) for ratios in mine]
        severities = sorted({severity for one in columns if one is not None for severity in one.by_severity})
        for severity in severities:
            grid.add_row(modality, Text(name), str(severity), *_starred([_at(one, severity) for one in columns]))
        if len(severities) > 1 or not severities:
            grid.add_row(modality, Text(name), "mean", *_starred([_at(one, None) for one in columns]))
    return grid


def _at(one: Ratio | FamilyRatio | None, severity: int | None) -> Value | None:
    """Return the ratio at a severity, or the mean; None where the model has no such cell."""
    if one is None or (severity is not None and severity not in one.by_severity):
        return None
    return one.ratio if severity is None else one.by_severity[severity]


def _starred(values: Sequence[Value | None]) -> list[Text]:
    """Return a row of figures, the highest of several with a star; "-" where the model has no such cell."""
    known = [value.value for value in values if value is not None and value.value is not None]
    return [
        Text("- ") if value is None else _number(value, len(known) > 1 and value.value == max(known))
        for value in values
    ]


def notes(scorecards: Sequence[Scorecard]) -> tuple[str, ...]:
    """Return a line for each gap, each reason why cells are missing or dropped (naming them), and each caveat."""
    return tuple(f"{card.name}: {line}" for card in scorecards for line in _lines(card))


def _lines(card: Scorecard) -> list[str]:
    absent = [f"without {cells} ({reason})" for reason, cells in by_reason(card.missing)]
    absent += [f"not meant for {cells} ({reason})" for reason, cells in by_reason(card.dropped)]
    return [*gap_lines(card), *absent, *caveats(card)]


def gap_lines(card: Scorecard) -> list[str]:
    """Return a line for each gap of a scorecard."""
    own, common = card.own.figures(), card.common.figures()
    lines = [f"{name} is a gap: {value.gap}" for name, value in own.items() if value.gap]
    lines += [
        f"{name} over the common cells is a gap: {value.gap}"
        for name, value in common.items()
        if value.gap and not own[name].gap
    ]
    return lines


def caveats(card: Scorecard) -> list[str]:
    """Return what a reader of a scorecard should know beside its gaps."""
    lines = [note for value in card.own.figures().values() for note in value.notes]
    rr = card.own.RR.value
    if rr is not None and rr > 1:
        lines.append(f"RR {rr:.3f} is above 1 (perturbed input scored higher) and counts as 1 in the overall")
    return [*lines, *map(str, card.little_to_lose), *card.notes]


def by_reason(cells: Iterable[Absent]) -> list[tuple[str, str]]:
    """Return each reason with the names of its cells, severities joined: "coco/retrieval/blur-1,3,5"."""
    reasons: dict[str, dict[str, list[str]]] = {}
    for cell in cells:
        name, _, severity = str(cell.slot).partition(f"{cell.slot.perturbation}-")
        name = f"{name}{cell.slot.perturbation}-" if severity else name
        reasons.setdefault(cell.reason, {}).setdefault(name, []).append(severity)
    return [
        (reason, ", ".join(name + ",".join(severities) for name, severities in names.items()))
        for reason, names in reasons.items()
    ]
