"""The inference loop: Lightning's Trainer.predict over the pictures of a cell."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from lightning import LightningModule, Trainer
from PIL.Image import Image
from torch.utils.data import DataLoader, Dataset

from argus.cache import Cache
from argus.data.images import load_image, stamp
from argus.errors import ArgusError, DataError
from argus.perturbations.base import Perturbation
from argus.picture_files import PictureFiles
from argus.records import Entry, Failure, Sample
from argus.tasks.base import Step

Progress = Callable[[int, int], None]
"""Called after each batch with (samples done, samples in all)."""

MOST_FAILURES = 0.01  # of the samples; more fail the cell


class Pictures(Dataset[Sample | Failure]):
    """Reads and perturbs one picture at a time, so that the loader's workers share the work.

    `change` tells the perturbation from all others that may share the caches, in memory and on disk; "" where it leaves
    pictures alone.
    """

    def __init__(
        self,
        entries: Sequence[Entry],
        perturbation: Perturbation,
        seed: int,
        cache: Cache[Image],
        files: PictureFiles,
        change: str,
    ) -> None:
        self.entries, self.perturbation, self.seed = entries, perturbation, seed
        self.cache, self.files, self.change = cache, files, change

    def __len__(self) -> int:
        return len(self.entries)

    def __getitem__(self, index: int) -> Sample | Failure:
        entry = self.entries[index]
        try:
            image = self._image(entry)
        except DataError as error:
            return Failure(entry.id, str(error))
        return Sample(entry.id, image, entry.captions, entry.questions)

    def _image(self, entry: Entry) -> Image:
        file = (entry.source, stamp(entry.source.path))
        key = (*file, self.change, self.seed, entry.id)

        def clean() -> Image:
            return self.cache.get(file, lambda: load_image(entry.source))

        # Perturb before any model's own resize: every model must see the same corrupted pixels.
        def perturbed() -> Image:
            return self.perturbation.image(clean(), self.seed, entry.id)

        if not self.change:
            return perturbed()
        return self.cache.get(key, lambda: self.files.get(key, perturbed))


class Predictor(LightningModule):
    """Lets Lightning drive a step; the step's model moves its own inputs to the device."""

    def __init__(self, step: Step, failures: dict[str, str], progress: Progress, total: int) -> None:
        super().__init__()
        self.step, self.failures, self.progress, self.total = step, failures, progress, total
        self.done = 0
        self.outputs: list[Any] = []  # kept here: what predict_step returns, Lightning takes apart

    def transfer_batch_to_device(self, batch: Any, device: torch.device, dataloader_idx: int) -> Any:
        return batch

    def predict_step(self, batch: Sequence[Sample | Failure], batch_idx: int) -> None:
        self.failures |= {item.id: item.reason for item in batch if isinstance(item, Failure)}
        samples = [item for item in batch if isinstance(item, Sample)]
        if samples:
            self.outputs.extend(self.step(samples))
        self.done += len(batch)
        self.progress(self.done, self.total)


class LightningLoop:
    """Runs steps over the entries' pictures, perturbed. `failures` holds why pictures could not be read, by id."""

    def __init__(
        self,
        pictures: Pictures,
        trainer: Mapping[str, Any],
        batch_size: int,
        num_workers: int,
        progress: Progress,
    ) -> None:
        self.pictures = pictures
        self.trainer = dict(trainer)
        self.batch_size = batch_size
        self.num_workers = num_workers
        self.progress = progress
        self.failures: dict[str, str] = {}

    def __call__(self, step: Step) -> list[Any]:
        """Return the outputs of `step` for every readable picture, in order.

        Raises DataError when more than 1 % of the pictures cannot be read.
        """
        loader = DataLoader(
            self.pictures, self.batch_size, shuffle=False, num_workers=self.num_workers, collate_fn=list
        )
        module = Predictor(step, self.failures, self.progress, len(self.pictures))
        with _quiet():
            Trainer(
                **self.trainer,
                logger=False,
                enable_checkpointing=False,
                enable_progress_bar=False,
                enable_model_summary=False,
            ).predict(module, loader, return_predictions=False)
        if len(self.failures) > MOST_FAILURES * len(self.pictures):
            raise DataError(_too_many(self.failures, len(self.pictures)))
        return module.outputs

    def first(self, count: int) -> list[Sample]:
        """Return the first `count` readable samples, for the efficiency probe."""
        samples: list[Sample] = []
        for index in range(len(self.pictures)):
            item = self.pictures[index]
            if isinstance(item, Sample):
                samples.append(item)
            if len(samples) == count:
                break
        if not samples:
            raise ArgusError("no readable picture to probe")
        return samples


def _too_many(failures: Mapping[str, str], total: int) -> str:
    shown = "\n".join(f"  {sample}: {reason}" for sample, reason in list(failures.items())[:5])
    return f"{len(failures)} of {total} pictures cannot be read; at most 1 % may fail. The first:\n{shown}"


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence Lightning's advice about workers, GPUs and tips; real errors still rise."""
    for name in ("lightning", "lightning.pytorch", "lightning.fabric"):
        logging.getLogger(name).setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module="lightning")
        yield
