"""The sweep's progress bar: reads the cells' markers, so that it works with every launcher."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from argus.markers import State, read_all

SIGNS = {"FINISHED": "[green]done[/]  ", "FAILED": "[red]FAILED[/]", "KILLED": "[red]KILLED[/]"}


@contextmanager
def watch(folder: Path, total: int, console: Console) -> Iterator[None]:
    """Show a bar with an estimate for the whole sweep; print each cell as it ends, failures with their reason."""
    stop = Event()
    columns = (
        TextColumn("[bold]{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(elapsed_when_finished=False),
    )
    with Progress(*columns, console=console, speed_estimate_period=3600) as bar:
        thread = Thread(target=_follow, args=(folder, total, bar, stop), daemon=True)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()


def _follow(folder: Path, total: int, bar: Progress, stop: Event) -> None:
    task = bar.add_task("sweep", total=total)
    shown: set[str] = set()
    last = False
    while not last:
        last = stop.wait(0.3)
        states = read_all(folder)
        for name in [name for name, state in states.items() if state.status != "RUNNING" and name not in shown]:
            bar.console.print(_line(states[name]), highlight=False, soft_wrap=True)
            shown.add(name)
        bar.update(task, completed=len(shown), description=_now(states) or "sweep")


def _line(state: State) -> str:
    result = f"{state.score:6.3f}" if state.score is not None else "     –"
    first_line = state.reason.strip().splitlines()[0] if state.reason.strip() else ""
    return f"{SIGNS[state.status]} {result}  {state.seconds:6.1f} s  {state.title}  {first_line}".rstrip()


def _now(states: dict[str, State]) -> str:
    running = [state for state in states.values() if state.status == "RUNNING"]
    if not running:
        return ""
    first = running[0]
    more = f" (+{len(running) - 1})" if len(running) > 1 else ""
    return f"{first.title} {first.done}/{first.total}{more}" if first.total else f"{first.title}{more}"
