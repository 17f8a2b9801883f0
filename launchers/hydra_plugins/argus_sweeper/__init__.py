"""Hydra's hook for Argus: hydra/sweeper=argus. What a sweep does is written in argus/sweep.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hydra.core.config_store import ConfigStore
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.plugins.launcher import Launcher
from hydra.plugins.sweeper import Sweeper
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig

# A plain dict: Hydra runs this file outside sys.modules, where a dataclass cannot look up its annotations.
ConfigStore.instance().store(
    group="hydra/sweeper",
    name="argus",
    node={"_target_": "hydra_plugins.argus_sweeper.ArgusSweeper", "params": {}},
    provider="argus",
)


class ArgusSweeper(Sweeper):
    """Plans a sweep of cells, lets the launcher run them and aggregates what came out.

    `params` are swept where the command line names no values for them: an experiment's yaml sets them.
    """

    hydra_context: HydraContext
    config: DictConfig
    launcher: Launcher

    def __init__(self, params: Mapping[str, str]) -> None:
        self.params = params

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        from hydra.core.plugins import Plugins

        self.hydra_context, self.config = hydra_context, config
        self.launcher = Plugins.instance().instantiate_launcher(
            hydra_context=hydra_context, task_function=task_function, config=config
        )

    def sweep(self, arguments: list[str]) -> Any:
        from argus.sweep import run_sweep

        loader = self.hydra_context.config_loader
        typed = {word.partition("=")[0] for word in arguments}
        preset = [f"{key}={value}" for key, value in self.params.items() if key not in typed]
        overrides = OverridesParser.create(config_loader=loader).parse_overrides([*preset, *arguments])
        return run_sweep(
            self.config,
            overrides,
            compose=lambda chosen: loader.load_sweep_config(self.config, list(chosen)),
            launch=self.launcher.launch,
        )
