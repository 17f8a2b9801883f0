"""The border between Hydra's config and the program: nothing below this file and the entries reads `cfg`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hydra.errors import InstantiationException
from hydra.utils import get_class, instantiate
from omegaconf import DictConfig, ListConfig, OmegaConf
from omegaconf.errors import InterpolationResolutionError, MissingMandatoryValue

from argus.errors import ArgusError, ConfigError
from argus.models.base import Model, Runtime
from argus.records import CellKey

if TYPE_CHECKING:
    from argus.data.base import Dataset
    from argus.perturbations.base import Perturbation
    from argus.tasks.base import Task
    from argus.tracking import Store

# Tables of alternatives and spec sheets: one of their entries is used and stands resolved elsewhere.
NOT_PARAMS = ("checkpoints", "revisions", "fusion_tokens", "caption_ceilings", "spec", "references", "prepare")
PICTURES_STAY = ("none", "text")
"""The modalities of perturbations that leave pictures alone."""


@dataclass(frozen=True)
class Hardware:
    """How to run and how to probe; `references` are the costs that score 0.5."""

    runtime: Runtime
    trainer: Mapping[str, Any]
    batch_size: int
    num_workers: int
    threads: int | None
    warmup: int
    repeats: int
    references: Mapping[str, float]


@dataclass(frozen=True)
class Settings:
    """One cell's settings: cheap to make, nothing heavy is loaded yet."""

    key: CellKey
    seed: int
    store: Store
    hardware: Hardware
    dataset_config: str  # as yaml, so that what is loaded from it can be cached by its text
    model_config: str
    change: str  # the perturbation as yaml; "" where it leaves pictures alone
    limit: int | None
    expected: int | None
    caption_prompt: str
    params: Mapping[str, object]
    resolved: str  # the whole config, as yaml
    lock: str
    sweep: str | None
    fingerprint: str | None
    cache_mb: int
    disk_cache: Path
    disk_cache_mb: int


def store_of(cfg: DictConfig) -> Store:
    from argus.tracking import Store

    section = cfg.tracking
    return Store(Path(section.root), section.uri, section.artifacts, section.experiment, section.scores_experiment)


def key_of(cfg: DictConfig) -> CellKey:
    return CellKey(
        model=cfg.model.name,
        dataset=cfg.dataset.name,
        task=cfg.task.name,
        perturbation=cfg.perturbation.name,
        modality=cfg.perturbation.modality,
        severity=cfg.perturbation.severity,
        hardware=cfg.hardware.name,
    )


def model_class(cfg: DictConfig) -> type[Model]:
    found: type[Model] = get_class(cfg.model.adapter._target_)
    return found


def task_class(cfg: DictConfig) -> type[Task]:
    found: type[Task] = get_class(cfg.task.member._target_)
    return found


def check_values(cfg: DictConfig) -> None:
    """Raise ConfigError for a number that cannot work, before anything is loaded."""
    least = {
        "seed": 0,
        "argus.cache_mb": 0,
        "argus.disk_cache_mb": 0,
        "dataset.limit": 1,
        "hardware.batch_size": 1,
        "hardware.num_workers": 0,
        "hardware.threads": 1,
        "hardware.probe.warmup": 0,
        "hardware.probe.repeats": 1,
    }
    for key, lowest in least.items():
        value = OmegaConf.select(cfg, key)
        if value is None and key in ("dataset.limit", "hardware.threads"):
            continue
        if not isinstance(value, int) or isinstance(value, bool) or value < lowest:
            raise ConfigError(f"{key}={value}: give a whole number, {lowest} or more")


def settings_of(cfg: DictConfig) -> Settings:
    """Read a cell's config. Raises ConfigError naming a value that is missing."""
    try:
        return _settings(cfg)
    except (MissingMandatoryValue, InterpolationResolutionError) as error:
        raise ConfigError(str(error).splitlines()[0] + "; give it a value: key=value") from error


def _settings(cfg: DictConfig) -> Settings:
    return Settings(
        key=key_of(cfg),
        seed=cfg.seed,
        store=store_of(cfg),
        hardware=_hardware(cfg.hardware, cfg.suite.checkpoints),
        dataset_config=yaml_of(cfg.dataset.reader),
        model_config=yaml_of(cfg.model.adapter),
        change="" if cfg.perturbation.modality in PICTURES_STAY else yaml_of(cfg.perturbation.transform),
        limit=cfg.dataset.limit,
        expected=cfg.dataset.expected,
        caption_prompt=cfg.model.caption_prompt,
        params=flat(cfg),
        resolved=yaml_of(OmegaConf.masked_copy(cfg, [str(key) for key in cfg if key != "hydra"])),
        lock=cfg.argus.lock,
        sweep=cfg.argus.sweep,
        fingerprint=cfg.argus.fingerprint,
        cache_mb=cfg.argus.cache_mb,
        disk_cache=Path(cfg.argus.disk_cache).expanduser(),
        disk_cache_mb=cfg.argus.disk_cache_mb,
    )


def _hardware(section: DictConfig, checkpoints: str) -> Hardware:
    return Hardware(
        runtime=Runtime(**_plain(section.runtime)),
        trainer=_plain(section.trainer),
        batch_size=section.batch_size,
        num_workers=section.num_workers,
        threads=section.threads,
        warmup=section.probe.warmup,
        repeats=section.probe.repeats,
        references=_plain(section.references[checkpoints]),
    )


def flat(cfg: DictConfig) -> dict[str, object]:
    """Return the resolved config as dotted keys, less the tables of alternatives and Argus's own switches."""
    groups = {name: _plain(cfg[name]) for name in ("model", "dataset", "task", "perturbation", "hardware")}
    references = {"reference": _plain(cfg.hardware.references[cfg.suite.checkpoints])}
    single = {"suite": cfg.suite.name, "data_dir": cfg.data_dir, "seed": cfg.seed}
    return dict(_leaves("", single | groups | references))


def _leaves(prefix: str, node: object) -> list[tuple[str, object]]:
    if not isinstance(node, dict):
        return [(prefix, node)]
    parts = [(f"{prefix}.{key}" if prefix else str(key), child) for key, child in node.items() if key not in NOT_PARAMS]
    return [leaf for name, child in parts for leaf in _leaves(name, child)]


def _plain(section: DictConfig) -> dict[str, Any]:
    plain = OmegaConf.to_container(section, resolve=True, throw_on_missing=True)
    assert isinstance(plain, dict)
    return {str(key): value for key, value in plain.items()}


def yaml_of(section: DictConfig) -> str:
    """Return a section, resolved, as yaml: what is loaded from it can be cached by this text."""
    return OmegaConf.to_yaml(OmegaConf.create(_plain(section)))


def build_reader(config: str) -> Dataset:
    return build(OmegaConf.create(config))


def build_model(config: str, runtime: Runtime) -> Model:
    return build(OmegaConf.create(config), runtime=runtime)


def build_task(cfg: DictConfig) -> Task:
    return build(cfg.task.member)


def build_perturbation(cfg: DictConfig) -> Perturbation:
    return build(cfg.perturbation.transform)


def build(config: DictConfig | ListConfig, **given: object) -> Any:
    """Instantiate; an error of ours comes out as itself, a misspelt key as a ConfigError."""
    try:
        # "object" hands records (Runtime) over as they are, lists and tables as plain ones.
        return instantiate(config, _convert_="object", **given)
    except InstantiationException as error:
        if isinstance(error.__cause__, ArgusError):
            raise error.__cause__ from error
        raise ConfigError(f"{str(error).splitlines()[0]} {error.__cause__}") from error
