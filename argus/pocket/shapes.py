"""How a single thing is painted: flat shapes with an outline, and CLEVR's three solids."""

from __future__ import annotations

from math import cos, pi, sin
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw

Point = tuple[float, float]
Color = tuple[int, int, int]

COLORS: dict[str, Color] = {
    "red": (214, 38, 40),
    "orange": (244, 138, 24),
    "yellow": (246, 218, 40),
    "green": (30, 130, 52),
    "blue": (38, 82, 206),
    "purple": (140, 54, 170),
    "black": (28, 28, 30),
    "white": (250, 250, 250),
    "gray": (96, 98, 102),
    "brown": (128, 74, 34),
    "cyan": (40, 206, 214),
}
OUTLINE: Color = (52, 48, 46)
WHITE: Color = (255, 255, 255)
BLACK: Color = (0, 0, 0)


def paint(pen: ImageDraw, shape: str, color: str, material: str, center: Point, radius: float) -> None:
    """Paint a thing within `radius` of its centre; raises KeyError for an unknown colour or shape."""
    if material:
        SOLIDS[shape](pen, COLORS[color], material == "metal", center, radius)
    elif shape == "circle":
        pen.ellipse(_square(center, radius), fill=COLORS[color], outline=OUTLINE, width=_line(radius))
    elif shape == "ring":
        pen.ellipse(_square(center, radius), outline=OUTLINE, width=round(0.52 * radius))
        inner = _square(center, radius - _line(radius))
        pen.ellipse(inner, outline=COLORS[color], width=round(0.52 * radius) - 2 * _line(radius))
    else:
        corners = [(center[0] + radius * x, center[1] + radius * y) for x, y in CORNERS[shape]]
        pen.polygon(corners, fill=COLORS[color])
        pen.line([*corners, corners[0], corners[1]], fill=OUTLINE, width=_line(radius), joint="curve")


def _line(radius: float) -> int:
    return max(2, round(0.07 * radius))


def _square(center: Point, radius: float) -> tuple[float, float, float, float]:
    return (center[0] - radius, center[1] - radius, center[0] + radius, center[1] + radius)


def _spikes(count: int, inner: float) -> list[Point]:
    """Return a star's corners on the unit circle and on an inner one."""
    angles = [-pi / 2 + pi * step / count for step in range(2 * count)]
    return [((inner if i % 2 else 1) * cos(a), (inner if i % 2 else 1) * sin(a)) for i, a in enumerate(angles)]


def _heart(steps: int) -> list[Point]:
    """Return points of the usual heart curve, scaled into the unit circle."""
    turns = [2 * pi * step / steps for step in range(steps)]
    wide = [16 * sin(t) ** 3 / 17 for t in turns]
    high = [-(13 * cos(t) - 5 * cos(2 * t) - 2 * cos(3 * t) - cos(4 * t)) / 17 for t in turns]
    return list(zip(wide, high, strict=True))


def _cross(arm: float) -> list[Point]:
    quarter = [(arm, -arm), (0.95, -arm), (0.95, arm), (arm, arm), (arm, 0.95), (-arm, 0.95)]
    return quarter + [(-x, -y) for x, y in quarter]


CORNERS: dict[str, list[Point]] = {
    "square": [(-0.8, -0.8), (0.8, -0.8), (0.8, 0.8), (-0.8, 0.8)],
    "triangle": [(0, -0.95), (0.95, 0.75), (-0.95, 0.75)],
    "star": _spikes(5, 0.42),
    "heart": _heart(40),
    "cross": _cross(0.32),
    "diamond": [(0, -1), (0.66, 0), (0, 1), (-0.66, 0)],
}


def _mix(one: Color, other: Color, share: float) -> Color:
    return (
        round(one[0] + share * (other[0] - one[0])),
        round(one[1] + share * (other[1] - one[1])),
        round(one[2] + share * (other[2] - one[2])),
    )


def _shadow(pen: ImageDraw, center: Point, radius: float) -> None:
    x, y = center
    pen.ellipse((x - 0.8 * radius, y + 0.5 * radius, x + radius, y + radius), fill=(92, 92, 94))


def _glint(pen: ImageDraw, center: Point, radius: float, metal: bool) -> None:
    """Paint the highlight that tells metal (sharp, white, with a second one below) from rubber (none)."""
    if metal:
        pen.ellipse(_square(center, 0.24 * radius), fill=WHITE)
        pen.ellipse(_square((center[0] + 0.5 * radius, center[1] + 0.62 * radius), 0.13 * radius), fill=WHITE)


def _sphere(pen: ImageDraw, color: Color, metal: bool, center: Point, radius: float) -> None:
    _shadow(pen, center, radius)
    x, y = center
    pen.ellipse(_square(center, 0.94 * radius), fill=_mix(color, BLACK, 0.45 if metal else 0.3))
    lit = _square((x - 0.09 * radius, y - 0.1 * radius), 0.78 * radius)
    pen.ellipse(lit, fill=_mix(color, WHITE, 0.15) if metal else color)
    _glint(pen, (x - 0.34 * radius, y - 0.38 * radius), radius, metal)


def _cube(pen: ImageDraw, color: Color, metal: bool, center: Point, radius: float) -> None:
    _shadow(pen, center, radius)
    x, y = center
    left, right, back = x - 0.8 * radius, x + 0.45 * radius, x + 0.85 * radius
    top, front, bottom = y - 0.8 * radius, y - 0.42 * radius, y + 0.82 * radius
    shift = back - right
    pen.rectangle((left, front, right, bottom), fill=_mix(color, WHITE, 0.15) if metal else color)
    pen.polygon([(left, front), (left + shift, top), (back, top), (right, front)], fill=_mix(color, WHITE, 0.4))
    side = [(right, front), (back, top), (back, bottom - 0.38 * radius), (right, bottom)]
    pen.polygon(side, fill=_mix(color, BLACK, 0.45 if metal else 0.3))
    _glint(pen, (x - 0.4 * radius, y - 0.04 * radius), radius, metal)


def _cylinder(pen: ImageDraw, color: Color, metal: bool, center: Point, radius: float) -> None:
    _shadow(pen, center, radius)
    x, y = center
    left, right, lid = x - 0.68 * radius, x + 0.68 * radius, 0.26 * radius
    top, bottom = y - 0.68 * radius, y + 0.66 * radius
    body = _mix(color, WHITE, 0.15) if metal else color
    pen.ellipse((left, bottom - lid, right, bottom + lid), fill=body)
    pen.rectangle((left, top, right, bottom), fill=body)
    dark = _mix(color, BLACK, 0.45 if metal else 0.3)
    pen.rectangle((x + 0.3 * radius, top, right, bottom + 0.5 * lid), fill=dark)
    pen.ellipse((left, top - lid, right, top + lid), fill=_mix(color, WHITE, 0.4))
    _glint(pen, (x - 0.3 * radius, y - 0.06 * radius), radius, metal)


SOLIDS = {"cube": _cube, "sphere": _sphere, "cylinder": _cylinder}
