"""What can change a cell's result, as one digest: settings, data, weights, code and library versions."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path

from omegaconf import DictConfig, OmegaConf

from argus import __version__
from argus.configuration import PACKAGE
from argus.imports import reached
from argus.models.loading import resolve
from argus.models.server_client import find_served
from argus.settings import build_reader, flat, yaml_of

LIBRARIES = (
    "torch",
    "torchvision",
    "transformers",
    "tokenizers",
    "lightning",
    "numpy",
    "pillow",
    "nlpaug",
    "scipy",
    "opencv-python-headless",
)
SMALL = 64 * 2**20  # bytes; larger files are told apart by size and time of change
PARTS_OF_A_CELL = (
    "cache.py",
    "cell.py",
    "data",
    "efficiency",
    "loop.py",
    "metrics",
    "models",
    "perturbations",
    "picture_files.py",
    "records.py",
    "seeding.py",
    "tasks",
)


def fingerprint(cfg: DictConfig) -> str:
    """Return the digest of all that a cell's result depends on, 64 hexadecimal digits.

    Weights in a local folder and annotation files count by content; hub weights by repository and revision.
    Raises DataError when data or local weights are missing.
    """
    parts = {
        "settings": {key: str(value) for key, value in flat(cfg).items()},
        "data": data_digest(yaml_of(cfg.dataset.reader)),
        "weights": weights(cfg),
        "code": code_of(modules_of(cfg.model.adapter, cfg.dataset.reader, cfg.task.member, cfg.perturbation.transform)),
        "libraries": _versions(),
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


@lru_cache(maxsize=64)
def data_digest(dataset_config: str) -> str:
    """Return the digest of a dataset's annotation files."""
    return _digest(build_reader(dataset_config).annotation_files())


def weights(cfg: DictConfig) -> dict[str, str]:
    """Return the revision of each checkpoint of the model, by location; of a model behind a server, what that says.

    Raises DataError for one that is missing, ConfigError for a server that does not answer or serve the model.
    """
    if "served" in cfg.model:
        return {f"{cfg.model.base_url}": _served(cfg.model.base_url, cfg.model.served, cfg.model.api_key_env)}
    location, revision = cfg.model.checkpoint, cfg.model.revision
    if isinstance(location, str):
        return {location: _weights(location, revision)}
    return {location[name]: _weights(location[name], revision[name]) for name in location}


@lru_cache(maxsize=64)
def _weights(location: str, revision: str | None) -> str:
    return resolve(location, revision).revision


@lru_cache(maxsize=8)
def _served(base_url: str | None, served: str | None, api_key_env: str) -> str:
    return find_served(base_url, served, api_key_env).revision


@lru_cache(maxsize=1)
def _versions() -> dict[str, str]:
    return {name: version(name) for name in LIBRARIES}


def picture_version(cfg: DictConfig) -> str:
    """Return the digest of the code and the library versions that make a cell's pictures, 64 hexadecimal digits."""
    code = code_of(modules_of(cfg.perturbation.transform))
    return hashlib.sha256(json.dumps([code, _versions()], sort_keys=True).encode()).hexdigest()


def modules_of(*sections: DictConfig) -> tuple[str, ...]:
    """Return the modules of all classes that sections of a config name, sorted."""
    plain = [OmegaConf.to_container(section, resolve=True) for section in sections]
    return tuple(sorted({name.rpartition(".")[0] for section in plain for name in _named(section)}))


def _named(node: object) -> Iterator[str]:
    children = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, child in children:
        if key == "_target_":
            yield child
        else:
            yield from _named(child)


@lru_cache(maxsize=256)
def code_of(modules: tuple[str, ...]) -> str:
    """Return the digest of the code that a cell of these modules' classes runs: a file that it never imports is none
    of it, so that a new perturbation leaves finished cells of the others finished.
    """
    found = reached(("argus.cell", *modules))
    own = {path: path.relative_to(PACKAGE).parts[0] for path in found if PACKAGE in path.parents}
    parts = [path for path in found if path not in own or own[path] in PARTS_OF_A_CELL]
    tables = {table for path in parts for table in (path.parent / "tables").glob("*.tsv")}
    return f"{__version__} {_digest([*parts, *tables])}"


def _digest(paths: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in sorted(paths):
        size, changed = path.stat().st_size, path.stat().st_mtime_ns
        content = hashlib.sha256(path.read_bytes()).hexdigest() if size < SMALL else f"{size} {changed}"
        digest.update(f"{path.name} {content}\n".encode())
    return digest.hexdigest()
