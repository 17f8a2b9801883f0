"""Every perturbation of conf/perturbation, at each of its severities: a new yaml is tested the day it lands."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hydra.utils import instantiate
from omegaconf import DictConfig, OmegaConf
from PIL import Image

from argus.perturbations.base import Perturbation

FOLDER = Path(__file__).resolve().parents[2] / "conf" / "perturbation"


@pytest.fixture(params=sorted(path.stem for path in FOLDER.glob("*.yaml")))
def name(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def config(name: str) -> DictConfig:
    """The yaml, placed where Hydra places it."""
    return OmegaConf.create({"perturbation": OmegaConf.load(FOLDER / f"{name}.yaml")})


@pytest.fixture
def build(config: DictConfig) -> Callable[[int], Perturbation]:
    def at(severity: int) -> Perturbation:
        config.perturbation.severity = severity
        return instantiate(config.perturbation.transform)

    return at


@pytest.fixture
def perturbation(config: DictConfig) -> Perturbation:
    """The perturbation at its yaml's own severity."""
    return instantiate(config.perturbation.transform)


@pytest.fixture
def every_severity(perturbation: Perturbation, build: Callable[[int], Perturbation]) -> list[Perturbation]:
    return [build(severity) for severity in perturbation.severities()]


def picture(width: int, height: int) -> Image.Image:
    """A picture with the spectrum of a photo: amplitudes that fall with the frequency, random phases."""
    rng = np.random.default_rng([width, height])
    rows, columns = np.fft.fftfreq(height)[:, None], np.fft.rfftfreq(width)[None, :]
    falloff = 1 / np.maximum(np.hypot(rows, columns), 1 / max(width, height))
    waves = np.fft.irfft2(falloff * np.exp(2j * np.pi * rng.random((3, *falloff.shape))), s=(height, width))
    values = 128 + 50 * waves / waves.std()
    return Image.fromarray(np.clip(values, 0, 255).astype(np.uint8).transpose(1, 2, 0).copy())


@pytest.fixture
def make_picture() -> Callable[[int, int], Image.Image]:
    return picture


@pytest.fixture(scope="session")
def photo() -> Image.Image:
    return picture(320, 240)


@pytest.fixture(scope="session")
def sentences() -> list[str]:
    """Captions and questions as data sets have them: capitals, hyphens, apostrophes, accents, double spaces."""
    return [
        "A man riding a wave on top of a surfboard.",
        "Two dogs, one black and one brown, play in the snow",
        "What color is the cube that's left of the TV-set?",
        "Is it red?",
        "A  woman   in a café holds a 35-mm camera .",
        "How many other things are there of the same shape as the tiny cyan matte object?",
    ]
