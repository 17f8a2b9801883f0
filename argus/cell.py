"""One cell: build, predict, measure, record."""

from __future__ import annotations

import json
import os
import platform
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import lru_cache, partial
from importlib.metadata import version
from pathlib import Path

import torch
from omegaconf import DictConfig
from PIL.Image import Image

from argus import __version__, interrupts, sample_table, settings, tracking
from argus.cache import Cache
from argus.data.base import Dataset
from argus.data.selection import counts, take
from argus.efficiency.probe import MEBIBYTE, Meter, probe
from argus.efficiency.weights import parameters_by_part
from argus.errors import ArgusError
from argus.examples import write_examples
from argus.fingerprint import LIBRARIES, data_digest, fingerprint, picture_version
from argus.loop import LightningLoop, Pictures
from argus.markers import Marker, State, title
from argus.metrics.image_sums import image_sums
from argus.models.base import Model, Runtime
from argus.perturbations.apply import Prompts, perturb_texts, text_change, text_pairs
from argus.perturbations.base import Perturbation
from argus.picture_files import PictureFiles
from argus.predictions import write_image_sums, write_predictions
from argus.records import LOAD, Costs, Entry, Prediction
from argus.settings import Settings
from argus.tasks.base import Step, Task, Work
from argus.tasks.embedding import Arrays, Embedding, array_bytes


@dataclass(frozen=True)
class Parts:
    """What a cell is made of, built."""

    model: Model
    task: Task
    perturbation: Perturbation
    clean: tuple[Entry, ...]
    entries: tuple[Entry, ...]  # texts perturbed
    loop: LightningLoop


def evaluate(cfg: DictConfig, marker_path: Path | None) -> State:
    """Run one cell and record it; a failure is recorded too, with its traceback, and returned rather than raised."""
    interrupts.check()
    cell = settings.settings_of(cfg)
    marker = Marker(marker_path, cell.key)
    run_id = _start(cell, cell.fingerprint or fingerprint(cfg))
    try:
        with _closing(cell, run_id):
            score = _run(cfg, cell, run_id, marker)
            interrupts.check()
    except BaseException as error:
        if _fails(error):
            return marker.end("FAILED", None, str(error) or repr(error), run_id)
        marker.end("KILLED", None, "interrupted", run_id)
        interrupts.check()
        raise
    return marker.end("FINISHED", score, "", run_id)


def _fails(error: BaseException) -> bool:
    """Return whether an error is the cell's own: libraries turn an interrupt into errors of theirs."""
    return isinstance(error, Exception) and not interrupts.requested()


def _run(cfg: DictConfig, cell: Settings, run_id: str, marker: Marker) -> float:
    parts = build(cfg, cell, marker)
    # Costs are measured in clean cells only, so that E never depends on a perturbation.
    measured = cell.key.modality == "none"
    embedding = Embedding(_embeddings(cell), anew=measured)
    prompts = Prompts(parts.perturbation, cell.seed)
    work = Work(parts.clean, parts.entries, parts.loop, prompts, embedding)
    step = parts.task.prepare(parts.model, work)
    meter = _meter(cell, parts, step) if measured else None
    predictions = parts.task.collect(parts.loop(meter or step), work)
    _record_predictions(cell, run_id, parts, predictions)
    facts = dict(parts.task.facts(parts.model, work)) | _counted(parts, prompts)
    metrics = dict(parts.task.measure(predictions)) | facts
    costs = _probe(cell, parts, meter) if meter else None
    _record_evidence(cell, run_id, predictions, meter)
    _record_metrics(cell, run_id, metrics, costs)
    return metrics["score"]


def build(cfg: DictConfig, cell: Settings, marker: Marker) -> Parts:
    """Load what the cell needs; the model and the dataset come from the cache where the last cell used the same."""
    if cell.hardware.threads is not None:
        torch.set_num_threads(cell.hardware.threads)
    clean = take(read_dataset(cell.dataset_config), cell.limit, cell.expected)
    perturbation = settings.build_perturbation(cfg)
    entries = perturb_texts(clean, perturbation, cell.seed)
    loop = LightningLoop(
        Pictures(entries, perturbation, cell.seed, _pictures(cell), _files(cfg, cell), cell.change),
        cell.hardware.trainer,
        cell.hardware.batch_size,
        cell.hardware.num_workers,
        partial(_progress, marker),
    )
    model = load_model(cell.model_config, cell.hardware.runtime)
    return Parts(model, settings.build_task(cfg), perturbation, clean, entries, loop)


def _progress(marker: Marker, done: int, total: int) -> None:
    interrupts.check()
    marker.progress(done, total)


def _pictures(cell: Settings) -> Cache[Image]:
    # The loader's workers end with the cell, and what they remember with them.
    return pictures(0 if cell.hardware.num_workers else cell.cache_mb)


@lru_cache(maxsize=1)
def pictures(megabytes: int) -> Cache[Image]:
    """Return what holds the pictures of earlier cells, read and perturbed."""
    return Cache(megabytes * MEBIBYTE, _rgb_bytes)


def _files(cfg: DictConfig, cell: Settings) -> PictureFiles:
    return picture_files(cell.disk_cache, cell.disk_cache_mb, picture_version(cfg))


@lru_cache(maxsize=1)
def picture_files(folder: Path, megabytes: int, version: str) -> PictureFiles:
    """Return what holds perturbed pictures on disk."""
    return PictureFiles(folder, megabytes * MEBIBYTE, version)


def _rgb_bytes(picture: Image) -> int:
    return picture.width * picture.height * 3


def _embeddings(cell: Settings) -> Arrays:
    return embeddings(cell.model_config, cell.hardware.runtime, cell.hardware.threads, cell.cache_mb)


@lru_cache(maxsize=1)
def embeddings(config: str, runtime: Runtime, threads: int | None, megabytes: int) -> Arrays:
    """Return what holds the embeddings that a model made in earlier cells."""
    return Cache(megabytes * MEBIBYTE, array_bytes)


@lru_cache(maxsize=1)
def load_model(config: str, runtime: Runtime) -> Model:
    """Load a checkpoint, or return it where it was the last one loaded: sweeps are ordered by model."""
    return settings.build_model(config, runtime)


@lru_cache(maxsize=8)
def read_dataset(config: str) -> tuple[Entry, ...]:
    reader: Dataset = settings.build_reader(config)
    return reader.entries()


def _start(cell: Settings, print_of: str) -> str:
    tags = {
        "argus.kind": "cell",
        "argus.fingerprint": print_of,
        "argus.version": __version__,
        tracking.LOCK_TAG: cell.lock,
        **{key: str(value) for key, value in asdict(cell.key).items()},
    }
    run_id = tracking.start(cell.store, cell.store.experiment, title(cell.key), tags, cell.sweep)
    tracking.log(cell.store, run_id, params=cell.params)
    return run_id


@contextmanager
def _closing(cell: Settings, run_id: str) -> Iterator[None]:
    """Leave no run RUNNING, whatever happens inside."""
    try:
        yield
    except BaseException as error:
        with tracking.artifacts(cell.store, run_id) as folder:
            (folder / "traceback.txt").write_text(traceback.format_exc())
        tracking.log(cell.store, run_id, tags={"argus.reason": str(error) or repr(error)})
        tracking.end(cell.store, run_id, "FAILED" if _fails(error) else "KILLED")
        raise
    tracking.end(cell.store, run_id, "FINISHED")


def _record_predictions(cell: Settings, run_id: str, parts: Parts, predictions: Sequence[Prediction]) -> None:
    """Keep the predictions before anything is computed from them: scoring can be repeated, inference is dear."""
    counted: dict[str, object] = {f"data.{name}": count for name, count in counts(parts.clean).items()}
    digest = data_digest(cell.dataset_config)
    read = counted | {"data.digest": digest, "model.loaded_revision": parts.model.revision}
    deployed = json.dumps(parameters_by_part(parts.model.parts(cell.key.task)))
    tracking.log(
        cell.store,
        run_id,
        params=read | {"model.deployed_parameters": deployed},
        tags=tracking.table_tags(sample_table.FILE),
    )
    tracking.log_dataset(cell.store, run_id, cell.key.dataset, digest, cell.dataset_config, counts(parts.clean))
    with tracking.artifacts(cell.store, run_id) as folder:
        write_predictions(folder / "predictions.parquet", predictions)
        sample_table.write(folder / sample_table.FILE, parts.entries, predictions)
        (folder / "config.yaml").write_text(cell.resolved)
        (folder / "environment.json").write_text(json.dumps(_environment(), indent=1))
        (folder / "failed_samples.json").write_text(json.dumps(parts.loop.failures, indent=1))
        write_examples(folder / "examples", parts.clean, parts.entries, parts.perturbation, cell.seed, predictions)


def _record_evidence(cell: Settings, run_id: str, predictions: Sequence[Prediction], meter: Meter | None) -> None:
    """Keep what the uncertainty of the score and of the costs is told from: sums by image, and every timed call."""
    with tracking.artifacts(cell.store, run_id) as folder:
        write_image_sums(folder / "image_sums.parquet", image_sums(cell.key.task, predictions))
        if meter is not None:
            batches = [asdict(timing) for timing in meter.timings]
            (folder / "timings.json").write_text(json.dumps({"latencies_s": meter.latencies, "batches": batches}))


def _environment() -> Mapping[str, object]:
    return {
        "argus": __version__,
        "python": sys.version,
        "platform": platform.platform(),
        "processor": platform.processor() or platform.machine(),
        "threads": torch.get_num_threads(),
        "cuda": torch.version.cuda,
        **{name: version(name) for name in LIBRARIES},
    }


def _counted(parts: Parts, prompts: Prompts) -> dict[str, float]:
    # Where a model is prompted for captions, the prompts are all the text that it reads.
    texts = text_change(prompts.pairs.values() or text_pairs(parts.clean, parts.entries))
    return {
        "samples": len(parts.clean) - len(parts.loop.failures),
        "failed_samples": len(parts.loop.failures),
        "changed_texts_share": texts.changed_share,
        "unchanged_texts": texts.unchanged,
        "meaning_at_risk_texts": texts.meaning_at_risk,
    }


def _load() -> float:
    return os.getloadavg()[0] / (os.cpu_count() or 1)


def _meter(cell: Settings, parts: Parts, step: Step) -> Meter:
    return Meter(step, parts.model.modules(cell.key.task), cell.hardware.runtime.device)


def _probe(cell: Settings, parts: Parts, meter: Meter) -> Costs:
    return probe(meter, parts.loop.first(cell.hardware.batch_size), cell.hardware.warmup, cell.hardware.repeats)


def _record_metrics(cell: Settings, run_id: str, metrics: Mapping[str, float], costs: Costs | None) -> None:
    measured = {}
    if costs is not None:
        measured = {f"cost.{name}": value for name, value in asdict(costs).items()} | {LOAD: _load()}
    tracking.log(cell.store, run_id, metrics=dict(metrics) | measured, step=cell.key.severity)
    if not 0 <= metrics["score"] <= 1:
        raise ArgusError(f"the score {metrics['score']!r} of '{title(cell.key)}' is not in [0, 1]")
    rows = "\n".join(f"| {name} | {value:.4f} |" for name, value in sorted((dict(metrics) | measured).items()))
    tracking.describe(cell.store, run_id, f"**{title(cell.key)}**\n\n| metric | value |\n| --- | --- |\n{rows}")
