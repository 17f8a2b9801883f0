"""Several aggregations side by side: does the winner survive other weights?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich import box
from rich.table import Table
from rich.text import Text

from argus.report.findings import p_text
from argus.report.ranking import ranked
from argus.scoring.analysis import Analysis

WIDEST_LABEL = 24
WEIGHTS = "Does the winner survive other weights?"


@dataclass(frozen=True)
class Margin:
    """How far the winner is ahead of the second, on the same pictures."""

    second: str
    value: float
    p: float | None  # Holm's; None without resamples
    beyond_noise: bool


@dataclass(frozen=True)
class Outcome:
    """What an aggregation came to: the overall score of each model, or why there is none."""

    overall: Mapping[str, float | None]  # over the common cells
    lead: Margin | None = None
    error: str = ""

    @property
    def winners(self) -> tuple[str, ...]:
        """The models with the highest overall score of two or more; none where fewer have one."""
        known = [value for value in self.overall.values() if value is not None]
        return tuple(name for name, value in self.overall.items() if len(known) > 1 and value == max(known))


@dataclass(frozen=True)
class Job:
    """One of several aggregations: what was typed for it, and what came of it."""

    label: str
    outcome: Outcome


def outcome_of(analysis: Analysis) -> Outcome:
    """Return what an analysis says of the winner."""
    overall = {card.name: card.common.overall.value for card in analysis.scorecards}
    return Outcome(overall, _lead(analysis))


def _lead(analysis: Analysis) -> Margin | None:
    order = [card.name for rank, card in ranked(analysis.scorecards) if rank is not None]
    if len(order) < 2:
        return None
    pair = set(order[:2])
    found = next(one for one in analysis.differences if one.figure == "overall" and {one.first, one.second} == pair)
    return None if found.value is None else Margin(order[1], abs(found.value), found.p_holm, found.beyond_noise)


def labels(overrides: Sequence[Sequence[str]]) -> list[str]:
    """Return for each job what sets it apart: its overrides less those that all jobs have."""
    shared = set(overrides[0]).intersection(*overrides)
    return [" ".join(one for one in mine if one not in shared) or " ".join(mine) for mine in overrides]


def weightings_table(jobs: Sequence[Job]) -> Table:
    """Return a row a job: the overall scores, who wins, whether that is another one, and how far it is ahead."""
    title = WEIGHTS if _weights_alone(jobs) else "Does the winner stay the same?"
    grid = Table(title=title, box=box.SIMPLE_HEAD, padding=0)
    longest = max(len(job.label) for job in jobs)
    grid.add_column("overall score", overflow="fold", min_width=min(longest, WIDEST_LABEL))
    models = list(dict.fromkeys(name for job in jobs for name in job.outcome.overall))
    for name in models:
        grid.add_column(Text(name), justify="right", overflow="fold")
    grid.add_column("winner", overflow="fold")
    grid.add_column("ahead of the\nnext, Holm's p", no_wrap=True)
    first = _first(jobs)
    for job in jobs:
        figures = [_figure(job.outcome, name) for name in models]
        grid.add_row(Text(job.label), *figures, _winner(job, first), _ahead(job.outcome))
    grid.caption = Text(sentence(jobs))
    grid.caption_justify = "left"
    return grid


def _first(jobs: Sequence[Job]) -> Job | None:
    return next((job for job in jobs if job.outcome.winners), None)


def _figure(outcome: Outcome, name: str) -> Text:
    value = outcome.overall.get(name)
    if value is None:
        return Text("gap " if name in outcome.overall else "- ")
    leads = name in outcome.winners
    return Text(f"{value:.3f}{'*' if leads else ' '}", style="bold" if leads else "")


def _winner(job: Job, first: Job | None) -> Text:
    if first is None or not job.outcome.winners:
        alone = sum(value is not None for value in job.outcome.overall.values()) == 1
        return Text("failed" if job.outcome.error else "no rival" if alone else "none")
    same = set(job.outcome.winners) == set(first.outcome.winners)
    told = "" if job is first else "\nthe same" if same else "\nchanged"
    return Text(", ".join(job.outcome.winners) + told)


def _ahead(outcome: Outcome) -> Text:
    lead = outcome.lead
    if lead is None:
        return Text("-")
    if lead.p is None:
        return Text(f"{lead.second} by {lead.value:.3f}\nnoise unknown")
    sure = "beyond noise" if lead.beyond_noise else "not told apart"
    return Text(f"{lead.second} by {lead.value:.3f}\n{sure}\n{p_text(lead.p)}")


def _weights_alone(jobs: Sequence[Job]) -> bool:
    """Return whether the jobs differ in their weights alone."""
    keys = {word.partition("=")[0] for job in jobs for word in job.label.split()}
    return all(key in ("score", "score.name") or key.startswith("score.weights.") for key in keys)


def sentence(jobs: Sequence[Job]) -> str:
    """Return in one sentence whether the same model wins under all weightings."""
    if _first(jobs) is None:
        return "no winner under any of them: fewer than two models have an overall score over cells that all have"
    return "; ".join(_clauses(jobs))


def _clauses(jobs: Sequence[Job]) -> Iterator[str]:
    known = [job for job in jobs if job.outcome.winners]
    lacking = [job.label for job in jobs if job not in known]
    kind = "weightings" if _weights_alone(jobs) else "jobs"
    wins = Counter(" and ".join(job.outcome.winners) for job in known)
    for place, (winner, count) in enumerate(wins.most_common()):
        mine = [job for job in known if " and ".join(job.outcome.winners) == winner]
        where = f"all {count}" if count == len(jobs) else f"{count} of {len(jobs)}"
        under = f"under {where} {kind}" if place == 0 else f"under {', '.join(job.label for job in mine)}"
        yield f"{winner} {'wins' if ' and ' not in winner else 'share the first place'} {under}{_sure(mine)}"
    if len(known) > 1:
        yield "the winner changes" if len(wins) > 1 else "the winner does not change"
    if lacking:
        yield f"no winner is known under {', '.join(lacking)}"


def _sure(jobs: Sequence[Job]) -> str:
    """Return in how many of the jobs the winner is ahead beyond noise, where that is known."""
    leads = [job.outcome.lead for job in jobs if job.outcome.lead is not None and job.outcome.lead.p is not None]
    beyond = sum(lead.beyond_noise for lead in leads)
    if len(leads) < len(jobs):
        return ""
    if beyond in (0, len(jobs)):
        return " (beyond noise)" if beyond else " (not told apart from the second)"
    return f" (beyond noise under {beyond} of them)"
