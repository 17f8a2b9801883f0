"""Scenes as CLEVR and VCR lay out their files."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from argus.pocket.asking import Asked, ask
from argus.pocket.files import write_jpeg, write_json, write_lines
from argus.pocket.riddles import Riddle, Tokens, riddles, spoken
from argus.pocket.scenes import SIDE, Scene, Thing, draw
from argus.seeding import rng_for

QUESTIONS = 4
"""Questions of a clevr picture."""
MOVIE = "0001_Pocket_Room"
FRAMES = 25  # pictures of one film
INFO = {"split": "val", "license": "Generated scenes in the layout of CLEVR", "version": "1.0", "date": "1/1/2025"}
Wrote = Callable[[], None]
"""Is called after each picture."""


def write_clevr(root: Path, scenes: Sequence[Scene], seed: int, wrote: Wrote) -> None:
    """Write images/val/, questions/ and scenes/ below root/clevr/CLEVR_v1.0."""
    folder = root / "clevr" / "CLEVR_v1.0"
    lines: list[dict[str, Any]] = []
    described: list[dict[str, Any]] = []
    for number, scene in enumerate(scenes):
        name = f"CLEVR_val_{number:06d}.png"
        path = folder / "images" / "val" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        draw(scene).save(path, format="PNG")
        described.append(_clevr_scene(scene, number, name))
        for asked in ask(scene, QUESTIONS, rng_for(seed, "clevr questions", str(number))):
            lines.append(_clevr_question(asked, len(lines), number, name))
        wrote()
    write_json(folder / "questions" / "CLEVR_val_questions.json", {"info": INFO, "questions": lines})
    write_json(folder / "scenes" / "CLEVR_val_scenes.json", {"info": INFO, "scenes": described})


def _clevr_question(asked: Asked, index: int, image: int, name: str) -> dict[str, Any]:
    program = [
        {"inputs": list(step.inputs), "function": step.function, "value_inputs": list(step.values)}
        for step in asked.program
    ]
    return {
        "image_index": image,
        "program": program,
        "question_index": index,
        "image_filename": name,
        "question_family_index": 0,
        "split": "val",
        "answer": asked.answer,
        "question": asked.text,
    }


def _clevr_scene(scene: Scene, image: int, name: str) -> dict[str, Any]:
    objects = [
        {
            "color": thing.color,
            "size": thing.size,
            "rotation": 0.0,
            "shape": thing.shape,
            "3d_coords": [thing.x, thing.y, thing.radius],
            "material": thing.material,
            "pixel_coords": [round(thing.x), round(thing.y), 0.0],
        }
        for thing in scene.things
    ]
    sides: dict[str, Callable[[Thing, Thing], bool]] = {
        "right": lambda other, thing: other.x > thing.x,
        "behind": lambda other, thing: other.y < thing.y,
        "front": lambda other, thing: other.y > thing.y,
        "left": lambda other, thing: other.x < thing.x,
    }
    relationships = {
        side: [[i for i, other in enumerate(scene.things) if holds(other, thing)] for thing in scene.things]
        for side, holds in sides.items()
    }
    return {
        "image_index": image,
        "objects": objects,
        "relationships": relationships,
        "image_filename": name,
        "split": "val",
        "directions": {"right": [1.0, 0.0, 0.0], "behind": [0.0, -1.0, 0.0], "above": [0.0, 0.0, 1.0]}
        | {"below": [0.0, 0.0, -1.0], "left": [-1.0, 0.0, 0.0], "front": [0.0, 1.0, 0.0]},
    }


def write_vcr(root: Path, scenes: Sequence[Scene], seed: int, wrote: Wrote) -> None:
    """Write val.jsonl, and pictures and metadata in vcr1images/, below root/vcr. The riddles come with the scenes."""
    folder = root / "vcr"
    lines: list[str] = []
    for number, scene in enumerate(scenes):
        film = f"lsmdc_{MOVIE}_{number // FRAMES}"
        stem = f"{film}/{MOVIE}_{number // FRAMES}_00.{number % FRAMES:02d}@0"
        write_jpeg(folder / "vcr1images" / f"{stem}.jpg", draw(scene))
        write_json(folder / "vcr1images" / f"{stem}.json", _vcr_metadata(scene))
        for turn, riddle in enumerate(riddles(scene)):
            lines.append(json.dumps(_vcr_line(scene, riddle, stem, number, turn, len(lines))))
        wrote()
    write_lines(folder / "val.jsonl", lines)


def _vcr_metadata(scene: Scene) -> dict[str, Any]:
    """Return boxes with their confidence, outlines (the box's corners), names and size."""
    boxes = [[*thing.box, 1.0] for thing in scene.things]
    outlines = [[[[x0, y0], [x1, y0], [x1, y1], [x0, y1]]] for x0, y0, x1, y1, _ in boxes]
    return {
        "boxes": boxes,
        "segms": outlines,
        "names": [thing.shape for thing in scene.things],
        "width": SIDE,
        "height": SIDE,
    }


def _vcr_line(scene: Scene, riddle: Riddle, stem: str, image: int, turn: int, index: int) -> dict[str, Any]:
    counted = [str(number + 1) for number in range(len(scene.things))]  # as the annotators wrote objects
    answer, rationale = riddle.answers[riddle.answer], riddle.rationales[riddle.rationale]
    return {
        "movie": stem.split("/")[0].removeprefix("lsmdc_"),
        "objects": [thing.shape for thing in scene.things],
        "interesting_scores": [0],
        "answer_likelihood": "likely",
        "img_fn": f"{stem}.jpg",
        "metadata_fn": f"{stem}.json",
        "answer_orig": spoken(answer, counted),
        "question_orig": spoken(riddle.question, counted),
        "rationale_orig": spoken(rationale, counted),
        "question": _written(riddle.question),
        "answer_match_iter": _order(riddle.answer, len(riddle.answers)),
        "answer_sources": [index] * len(riddle.answers),
        "answer_choices": [_written(tokens) for tokens in riddle.answers],
        "answer_label": riddle.answer,
        "rationale_choices": [_written(tokens) for tokens in riddle.rationales],
        "rationale_sources": [index] * len(riddle.rationales),
        "rationale_match_iter": _order(riddle.rationale, len(riddle.rationales)),
        "rationale_label": riddle.rationale,
        "img_id": f"val-{image}",
        "question_number": turn,
        "annot_id": f"val-{index}",
        "match_fold": "val-0",
        "match_index": index,
    }


def _written(tokens: Tokens) -> list[Any]:
    return [token if isinstance(token, str) else list(token) for token in tokens]


def _order(right: int, count: int) -> list[int]:
    """Return which of the matched questions each choice is from: 0, the question itself, stands at the right one."""
    rest = iter(range(1, count))
    return [0 if number == right else next(rest) for number in range(count)]
