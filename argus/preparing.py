"""Writes the suite's data on first use, with a bar."""

from __future__ import annotations

from hydra.utils import instantiate
from omegaconf import DictConfig
from rich.console import Console
from rich.progress import Progress


def prepare_data(cfg: DictConfig, console: Console) -> None:
    """Call what the suite names to prepare its data, where it names anything."""
    if cfg.suite.prepare is None:
        return
    with Progress(console=console, transient=True) as bar:
        task = bar.add_task("writing the pocket data sets", total=None)
        instantiate(cfg.suite.prepare)(
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )
