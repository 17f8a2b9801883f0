"""What the members of conf/experiment promise."""

from __future__ import annotations

import pytest
from hydra import compose, initialize_config_dir

from argus.configuration import conf_dir
from argus.perturbations.base import Perturbation
from argus.settings import build_perturbation

EXPERIMENTS = sorted(path.stem for path in (conf_dir() / "experiment").glob("*.yaml"))


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_perturbation_that_an_experiment_sweeps_has_each_of_its_severities(name: str) -> None:
    with initialize_config_dir(str(conf_dir()), version_base=None):
        cfg = compose("run", overrides=[f"experiment={name}"], return_hydra_config=True)
        params = cfg.hydra.sweeper.params
        for member in params.get("perturbation", "clean").split(","):
            for severity in params.get("perturbation.severity", "0").split(","):
                chosen = [f"perturbation={member}", f"perturbation.severity={severity}"]
                built = build_perturbation(compose("run", overrides=chosen))
                assert isinstance(built, Perturbation)
                assert built.severity == int(severity)
