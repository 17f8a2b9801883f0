"""What the jobs of python -m argus.aggregate -m … end with, together: one table, and the exit status.

Jobs may run in processes or on machines of their own: each leaves what it came to in a folder of the store.
"""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

from hydra.core.utils import JobStatus
from hydra.experimental.callback import Callback

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hydra.core.utils import JobReturn
    from omegaconf import DictConfig

    from argus.report.weightings import Job


class Weightings(Callback):
    """Collects the outcomes of several aggregations; Hydra makes one for a command and sends it along with each job."""

    def __init__(self) -> None:
        self.folder: Path | None = None  # None where there is one job alone

    def on_multirun_start(self, config: DictConfig, **_: Any) -> None:
        place = Path(config.hydra.sweep.dir).resolve()
        try:
            place.mkdir(parents=True, exist_ok=True)
            self.folder = Path(mkdtemp(prefix="jobs-", dir=place))
        except OSError as error:
            sys.exit(f"error: '{place}' cannot be written to: {error.strerror}; set tracking.root to another folder")

    def on_job_end(self, config: DictConfig, job_return: JobReturn, **_: Any) -> None:
        if self.folder is None or job_return.status != JobStatus.COMPLETED or job_return.return_value is None:
            return
        kept = (job_return.overrides or (), job_return.return_value)
        (self.folder / f"{config.hydra.job.num:06d}").write_bytes(pickle.dumps(kept))

    def on_multirun_end(self, config: DictConfig, **_: Any) -> None:
        if self.folder is not None:
            jobs = read_jobs(self.folder)
            rmtree(self.folder, ignore_errors=True)
            finish(jobs)


def read_jobs(folder: Path) -> list[Job]:
    """Return what the jobs left in a folder, in their order."""
    from argus.report.weightings import Job, labels

    kept = [pickle.loads(path.read_bytes()) for path in sorted(folder.iterdir())]
    names = labels([overrides for overrides, _ in kept]) if kept else []
    return [Job(name, outcome) for name, (_, outcome) in zip(names, kept, strict=True)]


def finish(jobs: Sequence[Job]) -> None:
    """Print the table of several jobs; exit with status 1 and the reasons where some failed."""
    from rich.console import Console

    from argus.report.weightings import weightings_table

    if len(jobs) > 1 and any(job.outcome.overall for job in jobs):
        Console().print(weightings_table(jobs))
    failed = [job for job in jobs if job.outcome.error]
    reasons = {job.outcome.error for job in failed}
    if len(reasons) == 1 and len(failed) == len(jobs):
        sys.exit(f"error: {reasons.pop()}")
    if failed:
        sys.exit("\n".join(f"error: {job.label} failed: {job.outcome.error}" for job in failed))
