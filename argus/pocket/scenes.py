"""Scenes of the pocket suite: a few things on a backdrop, sampled with a generator and drawn with Pillow."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import hypot
from typing import TYPE_CHECKING

from PIL import ImageDraw

from argus.pocket.backdrops import backdrop
from argus.pocket.shapes import paint

if TYPE_CHECKING:
    from numpy.random import Generator
    from PIL.Image import Image

    from argus.records import Box

SIDE = 224
"""Width and height of a picture, in pixels."""
STYLES = ("coco", "flickr30k", "visual_genome", "clevr", "vcr")
"""One look per dataset."""
SIZES = ("small", "large")
PLACES = (
    ("top left", "top", "top right"),
    ("left", "center", "right"),
    ("bottom left", "bottom", "bottom right"),
)
"""Names of the nine thirds of a picture, by row and column."""
SCALE = 2  # scenes are drawn this much larger and averaged down, for smooth edges
MARGIN = 6  # least distance between two things, and between a thing and the border, in pixels
TRIES = 60  # places tried for a thing before the scene starts afresh


@dataclass(frozen=True)
class Vocabulary:
    """What the things of a style look like. Radii in pixels, from smallest to largest, by size."""

    shapes: tuple[str, ...]
    colors: tuple[str, ...]
    materials: tuple[str, ...]
    radii: dict[str, tuple[float, float]]
    counts: tuple[int, ...]  # how many things a scene has; repeated where it should come more often
    top: float  # the things stay below this line, in pixels


FLAT = Vocabulary(
    shapes=("circle", "square", "triangle", "star", "heart", "cross", "diamond", "ring"),
    colors=("red", "orange", "yellow", "green", "blue", "purple", "black", "white"),
    materials=("",),
    radii={"small": (17.0, 20.0), "large": (29.0, 33.0)},
    counts=(1, 2, 2, 2, 3, 3, 3, 4, 4, 4),
    top=0.0,
)
SOLID = Vocabulary(
    shapes=("cube", "sphere", "cylinder"),
    colors=("gray", "red", "blue", "green", "brown", "purple", "cyan", "yellow"),
    materials=("rubber", "metal"),
    radii={"small": (15.0, 17.0), "large": (27.0, 31.0)},
    counts=(2, 3, 3, 4, 4, 5),
    top=30.0,
)


@dataclass(frozen=True)
class Thing:
    """One thing of a scene. Centre and radius in pixels of the picture; `material` is empty outside clevr."""

    shape: str
    color: str
    size: str
    x: float
    y: float
    radius: float
    material: str = ""

    @property
    def box(self) -> Box:
        """Return the square around the thing."""
        return (self.x - self.radius, self.y - self.radius, self.x + self.radius, self.y + self.radius)

    @property
    def place(self) -> str:
        """Return the third of the picture that the centre is in: one of PLACES."""
        return PLACES[int(3 * self.y / SIDE)][int(3 * self.x / SIDE)]


@dataclass(frozen=True)
class Scene:
    """Things on a backdrop. `light` in [0, 1] is how bright the backdrop is."""

    style: str
    things: tuple[Thing, ...] = field(default=())
    light: float = 0.5


def vocabulary(style: str) -> Vocabulary:
    """Return what the things of a style look like."""
    return SOLID if style == "clevr" else FLAT


def sample_scene(style: str, rng: Generator) -> Scene:
    """Return a random scene of a style: things apart from each other, no two alike.

    In the vcr style no two things have the same shape, so that "star1" names exactly one of them.
    """
    words = vocabulary(style)
    count = words.counts[rng.integers(len(words.counts))]
    while True:
        things = _things(words, count, style == "vcr", rng)
        if len(things) == count:
            return Scene(style, things, float(rng.integers(8)) / 7)


def draw(scene: Scene) -> Image:
    """Return the picture of a scene: RGB, SIDE x SIDE; the same bytes for the same scene."""
    canvas = backdrop(scene.style, SIDE, SCALE, scene.light)
    pen = ImageDraw.Draw(canvas)
    for thing in sorted(scene.things, key=lambda t: t.y):  # what is further down is nearer to the viewer
        paint(pen, thing.shape, thing.color, thing.material, (SCALE * thing.x, SCALE * thing.y), SCALE * thing.radius)
    return canvas.reduce(SCALE)


def _things(words: Vocabulary, count: int, one_per_shape: bool, rng: Generator) -> tuple[Thing, ...]:
    """Return up to `count` things; fewer when there was no room for the next."""
    things: list[Thing] = []
    while len(things) < count:
        kind = _thing(words, rng)
        if not all(_unlike(kind, other, one_per_shape) for other in things):
            continue
        # A place is sought for the thing as it is: drawing another thing instead would favour small ones.
        placed = (_placed(kind, words, rng) for _ in range(TRIES))
        free = next((thing for thing in placed if all(_apart(thing, other) for other in things)), None)
        if free is None:
            break
        things.append(free)
    return tuple(things)


def _thing(words: Vocabulary, rng: Generator) -> Thing:
    """Return a thing that has no place yet."""
    size = SIZES[rng.integers(len(SIZES))]
    return Thing(
        shape=words.shapes[rng.integers(len(words.shapes))],
        color=words.colors[rng.integers(len(words.colors))],
        size=size,
        x=0.0,
        y=0.0,
        radius=float(rng.uniform(*words.radii[size])),
        material=words.materials[rng.integers(len(words.materials))],
    )


def _placed(thing: Thing, words: Vocabulary, rng: Generator) -> Thing:
    border = thing.radius + MARGIN
    x, y = rng.uniform(border, SIDE - border), rng.uniform(words.top + border, SIDE - border)
    return replace(thing, x=float(x), y=float(y))


def _apart(one: Thing, other: Thing) -> bool:
    return hypot(one.x - other.x, one.y - other.y) > one.radius + other.radius + MARGIN


def _unlike(one: Thing, other: Thing, by_shape: bool) -> bool:
    if one.shape != other.shape:
        return True
    return not by_shape and one.color != other.color
