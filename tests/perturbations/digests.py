"""Prints a digest of what every perturbation does, as JSON; runs in a process of its own to compare with others."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import numpy as np
from hydra.utils import instantiate
from omegaconf import OmegaConf
from PIL import Image

from argus.perturbations.base import Perturbation

FOLDER = Path(__file__).resolve().parents[2] / "conf" / "perturbation"
TEXTS = ("A man riding a wave on top of a surfboard.", "What color is the TV-set that's left?", "一只猫 sleeps", "42")


def pictures() -> list[Image.Image]:
    """Pictures from whole-number arithmetic alone, so that they are the same everywhere."""
    found = []
    for width, height in ((224, 224), (500, 333), (31, 47)):
        row, column = np.mgrid[:height, :width]
        channels = [(row * 7 + column * 3) % 256, (row * column // 5) % 256, (row // 16 + column // 16) % 2 * 255]
        found.append(Image.fromarray(np.stack(channels, axis=-1).astype(np.uint8)))
    return found


def digest(perturbation: Perturbation) -> str:
    images = [perturbation.image(image, 7, f"image {place}") for place, image in enumerate(pictures())]
    texts = [perturbation.text(text, 7, f"text {place}") for place, text in enumerate(TEXTS)]
    return sha256(b"".join(image.tobytes() for image in images) + "\n".join(texts).encode()).hexdigest()[:16]


def digests() -> dict[str, list[str]]:
    """Return for each yaml the digests at severities from low to high."""
    found = {}
    for path in sorted(FOLDER.glob("*.yaml")):
        config = OmegaConf.create({"perturbation": OmegaConf.load(path)})
        found[path.stem] = []
        for severity in instantiate(config.perturbation.transform).severities():
            config.perturbation.severity = severity
            found[path.stem].append(digest(instantiate(config.perturbation.transform)))
    return found


if __name__ == "__main__":
    print(json.dumps(digests()))
