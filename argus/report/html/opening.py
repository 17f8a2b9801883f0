"""The start of a report: what was compared, who leads and how sure that is, and the figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from argus.report.findings import findings, percent
from argus.report.html.background import Background
from argus.report.html.parts import UNSURE, Cell, Points, Section, Table, Text, gap, listed, number, share
from argus.report.ranking import best, gap_sentence, ranked
from argus.scoring.analysis import FIGURES, Analysis
from argus.scoring.cells import trouble
from argus.scoring.records import Scorecard, Value

ASKED = {"largest_gallery": "galleries of {} pictures", "questions": "{} questions"}
"""What a metric of a cell tells of its data set."""

OWN = "A(M) over the cells that each model has: not for comparing, as each row stands over other cells"
POCKET = (
    "these are small checkpoints of the pocket suite on drawn pictures: they show how models are compared, and tell "
    "nothing of the published ones of the same names"
)


def compared(analysis: Analysis, background: Background) -> Section:
    """Return what was compared."""
    rows = [
        ("sweep", background.sweep_id),
        ("started", background.started or "unknown"),
        ("suite", background.suite or "unknown"),
        ("seed", background.seed or "unknown"),
        *_data_sets(analysis),
        ("tasks", listed(sorted({slot.task for mine in analysis.cells.values() for slot in mine}))),
    ]
    rows += [(f"model {model}", checkpoint) for model, checkpoint in background.checkpoints.items()]
    rows += [(f"hardware {name}", device or "unknown") for name, device in background.devices.items()]
    table = Table(
        "The sweep, its models and its machine",
        ("what", "value"),
        tuple((Cell(name), Cell(value)) for name, value in rows),
    )
    return Section("compared", "What was compared", (table, *_deployed(background), *_prompted(background)))


def _data_sets(analysis: Analysis) -> Iterator[tuple[str, str]]:
    """Tell of each data set how many pictures were read, and what was asked of them."""
    cells = [(slot, cell) for mine in analysis.cells.values() for slot, cell in mine.items() if not trouble(cell)]
    for dataset in sorted({slot.dataset for mine in analysis.cells.values() for slot in mine}):
        mine = [cell for slot, cell in cells if slot.dataset == dataset]
        most = {name: max(cell.metrics.get(name, 0.0) for cell in mine) for name in ASKED} if mine else {}
        told = [f"{max(cell.samples for cell in mine)} pictures" if mine else "no cell with a score"]
        told += [words.format(f"{most[name]:.0f}") for name, words in ASKED.items() if most.get(name)]
        yield f"data set {dataset}", ", ".join(told)
    picking = sorted({cell.key.model for _, cell in cells if cell.metrics.get("captions_from_bank")})
    if picking:
        yield "captioning", f"{listed(picking)} picks captions from a bank of the data set's others, and writes none"


def _deployed(background: Background) -> tuple[Text | Table, ...]:
    """Return how many parameters a device must hold for each model to do what the sweep asked of it."""
    words = (
        "A model may be several checkpoints, and each task measures the cost of the weights that it runs. To do all "
        "tasks a device needs all of these weights, here together; what two tasks share counts once."
    )
    rows = tuple(
        (
            Cell(one.model),
            number(_millions(one.parameters)),
            Cell(", ".join(one.tasks), f"cannot do {', '.join(one.lacking)}" if one.lacking else ""),
        )
        for one in background.deployments
    )
    caption = "Weights to deploy for all tasks of the sweep"
    return (Text(words), Table(caption, ("model", "parameters, million", "tasks"), rows)) if rows else ()


def _millions(value: Value) -> Value:
    return value if value.value is None else replace(value, value=value.value / 1e6)


def _prompted(background: Background) -> tuple[Table, ...]:
    """Return what models were told to do, where any was prompted."""
    tasks = sorted({task for given in background.prompts.values() for task in given})
    rows = tuple(
        (Cell(model), *(Cell(given.get(task, "–")) for task in tasks)) for model, given in background.prompts.items()
    )
    caption = "Prompts, as given with clean input; models that are not listed are given none"
    return (Table(caption, ("model", *tasks), rows),) if rows else ()


def verdict(analysis: Analysis, suite: str) -> str:
    """Return in a paragraph who leads, how sure that is, and what it rests on."""
    sentences = [*_verdict(analysis), *([POCKET] if suite == "pocket" else [])]
    return " ".join(_capital(f"{sentence}.") for sentence in sentences)


def _capital(sentence: str) -> str:
    # A sentence that starts with a model's name keeps it as it is spelt.
    first = sentence.split(" ", 1)[0]
    return (
        sentence if first not in ("the", "only", "no", "of", "these", "under") else sentence[0].upper() + sentence[1:]
    )


def _verdict(analysis: Analysis) -> Iterator[str]:
    order = [card for rank, card in ranked(analysis.scorecards) if rank is not None]
    if not order:
        yield "no model has an overall score, for the reasons in the table below"
        return
    leader, value = order[0], order[0].common.overall
    ties = best(analysis.scorecards, "overall")
    ends = f" (95 % interval {value.interval[0]:.3f} to {value.interval[1]:.3f})" if value.interval else ""
    if len(order) == 1:
        yield f"only {leader.name} has an overall score: {value.value:.3f}{ends}, over {leader.common_coverage}"
        return
    who = f"{leader.name} has" if len(ties) == 1 else f"{' and '.join(ties)} share"
    yield (
        f"{who} the highest overall score of {len(order)} models, {value.value:.3f}{ends}, over the "
        f"{leader.common_coverage.split(' of ')[0]} cells that all of them have"
    )
    yield from _left_out(order)
    first = _first(analysis)
    if leader.name in first:
        yield f"{leader.name} comes first in {first[leader.name]:.1%} of the resamples of the pictures"
    told = findings(analysis)
    if told:
        yield told[0]
    yield from _choices(analysis, leader.name)
    yield f"the parts: {gap_sentence(analysis.scorecards)}"


def _choices(analysis: Analysis, leader: str) -> Iterator[str]:
    """Say how much the lead owes to the weights and to the formulas."""
    if analysis.weights is not None and leader in analysis.weights.won:
        yield f"under {percent(analysis.weights.won[leader])} of all weightings {leader} comes first"
    others = [one for one in analysis.alternatives if not one.gap and not one.same]
    changed = sum(one.changes_winner for one in others)
    if others:
        yield f"{changed} of {len(others)} other formulas and leave-outs make another model first"


def _left_out(cards: Sequence[Scorecard]) -> Iterator[str]:
    """Name the tasks that are in no rank, because a model has no score there."""
    for task in sorted({task for card in cards for task in card.own_by.by_task}):
        lacking = [card.name for card in cards if task not in card.own_by.by_task or card.own_by.by_task[task].gap]
        if lacking:
            have = "has" if len(lacking) == 1 else "have"
            yield f"no rank rests on {task}, because {listed(lacking)} {have} no score there"


def _first(analysis: Analysis) -> dict[str, float]:
    return {one.name: one.probabilities[0] for one in analysis.ranks if one.figure == "overall" and one.probabilities}


def scores(analysis: Analysis) -> Section:
    """Return A(M) over the common cells, and over each model's own cells where those differ."""
    scheme = analysis.scheme
    resamples = scheme.bootstrap.resamples
    intervals = f", 95 % intervals from {resamples} resamples of the pictures beneath" if resamples else ""
    tables = [_table(analysis, "common", f"A(M) over the cells that all compared models have{intervals}")]
    if any(_own(card) != _common(card) for card in analysis.scorecards):
        tables.append(
            _table(
                analysis,
                "own",
                f"{OWN}{intervals}",
            )
        )
    words = (
        "P is capability on clean input; CDC consistency across data sets, each of which has the mean score of its "
        "tasks (so one that asks a hard task alone lies low for that: see within_task under other formulas); RR what "
        "is left of the score under perturbation (above 1: perturbed input scored higher); E efficiency, over all "
        "tasks and against the references named at the end; overall their weighted mean. All but RR lie between 0 and "
        "1, and higher is better. A cell is one model on one data set, task, perturbation and severity; ranks come "
        "from the cells that all models have."
    )
    sure = Points(findings(analysis)) if findings(analysis) else Text("There is no second model to compare with.")
    return Section("scores", "Scores", (*tables, Text(words), sure))


def _own(card: Scorecard) -> list[float | None]:
    return [value.value for value in card.own.figures().values()]


def _common(card: Scorecard) -> list[float | None]:
    return [value.value for value in card.common.figures().values()]


def _table(analysis: Analysis, part: str, caption: str) -> Table:
    first, ranks = _first(analysis), {one.name: one for one in analysis.ranks if one.figure == "overall"}
    rows = []
    for rank, card in ranked(analysis.scorecards):
        if part == "own":
            rows.append((Cell(card.name), *map(number, card.own.figures().values()), Cell(card.coverage)))
            continue
        span = ranks.get(card.name)
        possible = f"{span.best} to {span.worst} possible" if span and span.best != span.worst else ""
        place = gap("no overall score") if rank is None else Cell(f"{rank}", possible, "number")
        chance = share(first.get(card.name), UNSURE)
        figures = map(number, card.common.figures().values())
        rows.append((Cell(card.name), place, *figures, chance, Cell(card.common_coverage)))
    before, after = (("rank",), ("chance of rank 1",)) if part == "common" else ((), ())
    return Table(caption, ("model", *before, *FIGURES, *after, "coverage"), tuple(rows))
