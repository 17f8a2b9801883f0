"""Writes the pocket datasets: evaluation scenes in the official on-disk layout of the dataset of their style."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from filelock import FileLock

from argus.errors import DataError
from argus.pocket.caption_layouts import write_coco, write_flickr30k, write_visual_genome
from argus.pocket.corpus import evaluation_scene
from argus.pocket.question_layouts import write_clevr, write_vcr
from argus.pocket.scenes import STYLES

VERSION = 1
"""Of scenes, texts and layouts: data written by another version are written anew."""
SEED = 2025
STAMP = "pocket.json"
WRITERS = {
    "coco": write_coco,
    "flickr30k": write_flickr30k,
    "visual_genome": write_visual_genome,
    "clevr": write_clevr,
    "vcr": write_vcr,
}
Progress = Callable[[int, int], None]
"""Is told how many pictures are written, and how many there will be."""


def ensure_pocket(root: Path | str, images: int, progress: Progress) -> None:
    """Write the pocket datasets below `root` unless they are there, of this version and size.

    Several processes may start at once: one writes, the others wait for it. Raises DataError when `root` is a folder
    of something else.
    """
    folder = Path(root).expanduser().resolve()  # a name is needed: '.' has none
    if _stamp(folder) == _wanted(images, SEED):
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.with_name(f".{folder.name}.lock")):
        if _stamp(folder) != _wanted(images, SEED):
            write_pocket(folder, images, SEED, progress)


def write_pocket(
    root: Path, images: int = 100, seed: int = SEED, progress: Progress = lambda done, total: None
) -> None:
    """Write the five datasets, `images` pictures each, replacing those below `root`; the same bytes every time."""
    if root.exists() and any(root.iterdir()) and _stamp(root) is None:
        raise DataError(f"'{root}' is not empty and has no {STAMP}: name another folder for the pocket datasets")
    root.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=f".{root.name}-", dir=root.parent))
    try:
        _write(fresh, images, seed, progress)
        _put(fresh, root)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _write(root: Path, images: int, seed: int, progress: Progress) -> None:
    total = images * len(STYLES)
    done = 0

    def wrote_one() -> None:
        nonlocal done
        done += 1
        progress(done, total)

    for style in STYLES:
        scenes = [evaluation_scene(style, seed, number) for number in range(images)]
        WRITERS[style](root, scenes, seed, wrote_one)
    (root / STAMP).write_text(json.dumps(_wanted(images, seed)))


def _wanted(images: int, seed: int) -> dict[str, int]:
    return {"version": VERSION, "seed": seed, "images": images}


def _stamp(root: Path) -> object:
    """Return what the folder's stamp says; None where there is none."""
    path = root / STAMP
    return json.loads(path.read_text()) if path.is_file() else None


def _put(fresh: Path, root: Path) -> None:
    """Rename `fresh` to `root`: whoever reads finds all of it or nothing."""
    fresh.chmod(0o755)  # mkdtemp makes it private
    old = fresh.with_name(f"{fresh.name}-old")
    try:
        if root.exists():
            root.rename(old)
        fresh.rename(root)
    finally:
        shutil.rmtree(old, ignore_errors=True)
