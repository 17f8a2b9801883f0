"""The training scenes: pictures resized once to what the models see, with what each patch of them shows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from argus.data.drawing import draw_marks
from argus.pocket.language import captions, regions
from argus.pocket.riddles import mentioned, names
from argus.pocket.scenes import FLAT, SIDE, SIZES, SOLID, STYLES, Scene, draw, sample_scene
from argus.pocket.words import pick, shuffled
from argus.records import Mark
from argus.seeding import rng_for

if TYPE_CHECKING:
    from numpy.random import Generator

PIXELS = 96
"""Side of the square picture that most pocket models see."""
GRID = 8
"""Patches a side."""
SHAPES = (*FLAT.shapes, *SOLID.shapes)
COLORS = tuple(dict.fromkeys((*FLAT.colors, *SOLID.colors)))
MATERIALS = SOLID.materials
FACETS = (len(SHAPES), len(COLORS), len(SIZES), len(MATERIALS))
"""How many values a patch label has beside 0, "none": shape, colour, size, material."""


@dataclass(frozen=True)
class Part:
    """The training scenes of one style. Row i of each array belongs to scene i."""

    scenes: tuple[Scene, ...]
    pictures: NDArray[np.uint8]  # (scenes, side, side, 3)
    patches: NDArray[np.uint8]  # (scenes, len(FACETS), GRID * GRID): what lies over the middle of each patch


Corpus = dict[str, Part]
"""Style to its training scenes."""


@lru_cache(maxsize=1)
def corpus(seed: int, scenes: int, side: int = PIXELS) -> Corpus:
    """Return `scenes` training scenes of each style, `side` pixels wide; evaluation scenes come from another stream."""
    return {style: _part(style, seed, scenes, side) for style in STYLES}


def training_scene(style: str, seed: int, number: int) -> Scene:
    """Return one scene of the training stream."""
    return sample_scene(style, rng_for(seed, "training", style, str(number)))


def evaluation_scene(style: str, seed: int, number: int) -> Scene:
    """Return one scene of the evaluation stream, which the datasets are written from."""
    return sample_scene(style, rng_for(seed, "evaluation", style, str(number)))


def marks(scene: Scene) -> tuple[Mark, ...]:
    """Return the things that the scene's riddles speak of as named boxes."""
    called = names([thing.shape for thing in scene.things])
    return tuple(Mark(called[index], scene.things[index].box) for index in mentioned(scene))


def picture(scene: Scene) -> Image.Image:
    """Return the picture that a model is shown: in the vcr style with its marks."""
    drawn = draw(scene)
    return draw_marks(drawn, marks(scene)) if scene.style == "vcr" else drawn


def descriptions(scene: Scene, count: int, rng: Generator) -> list[str]:
    """Return `count` (at most 5) different sentences about a scene; half of visual_genome's are region phrases."""
    texts = shuffled(captions(scene, rng), rng)
    if scene.style == "visual_genome":
        phrases = [region.phrase for region in regions(scene, rng)]
        texts = [pick((text, phrase), rng) for text, phrase in zip(texts, phrases, strict=True)]
    return texts[:count]


def _part(style: str, seed: int, count: int, side: int) -> Part:
    scenes = tuple(training_scene(style, seed, number) for number in range(count))
    pictures = np.empty((count, side, side, 3), np.uint8)
    patches = np.empty((count, len(FACETS), GRID * GRID), np.uint8)
    for row, scene in enumerate(scenes):
        pictures[row] = np.asarray(picture(scene).resize((side, side), Image.Resampling.BICUBIC))
        patches[row] = patch_labels(scene)
    return Part(scenes, pictures, patches)


def patch_labels(scene: Scene) -> NDArray[np.uint8]:
    """Return (len(FACETS), GRID * GRID): shape, colour, size, material over each patch's middle; 0 where none is."""
    middles = (np.arange(GRID) + 0.5) * SIDE / GRID
    labels = np.zeros((len(FACETS), GRID, GRID), np.uint8)
    for thing in scene.things:
        across, down = np.abs(middles - thing.x), np.abs(middles - thing.y)
        over = (down[:, None] <= thing.radius) & (across[None, :] <= thing.radius)
        material = MATERIALS.index(thing.material) + 1 if thing.material else 0
        values = (SHAPES.index(thing.shape) + 1, COLORS.index(thing.color) + 1, SIZES.index(thing.size) + 1, material)
        for facet, value in enumerate(values):
            labels[facet][over] = value
    return labels.reshape(len(FACETS), GRID * GRID)
