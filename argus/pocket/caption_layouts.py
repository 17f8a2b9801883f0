"""Scenes as COCO captions, Flickr30k and Visual Genome lay out their files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from argus.pocket.files import write_jpeg, write_json, write_lines
from argus.pocket.language import captions, regions
from argus.pocket.scenes import SIDE, Scene, draw
from argus.seeding import rng_for

FIRST_COCO_ID, FIRST_FLICKR_ID, FIRST_GENOME_ID = 139, 1000092795, 2
STRIDE = 317  # ids have gaps, as the official ones do
Wrote = Callable[[], None]
"""Is called after each picture."""


def write_coco(root: Path, scenes: Sequence[Scene], seed: int, wrote: Wrote) -> None:
    """Write annotations/captions_val2017.json and val2017/ below root/coco."""
    images: list[dict[str, Any]] = []
    annotations: list[dict[str, Any]] = []
    for number, scene in enumerate(scenes):
        image = FIRST_COCO_ID + STRIDE * number
        name = f"{image:012d}.jpg"
        write_jpeg(root / "coco" / "val2017" / name, draw(scene))
        images.append({"id": image, "file_name": name, "width": SIDE, "height": SIDE})
        for text in captions(scene, rng_for(seed, "coco captions", str(number))):
            annotations.append({"id": len(annotations) + 1, "image_id": image, "caption": text})
        wrote()
    content = {
        "info": {"description": "Generated scenes in the layout of COCO captions", "version": "1.0", "year": 2025},
        "licenses": [],
        "images": images,
        "annotations": annotations,
    }
    write_json(root / "coco" / "annotations" / "captions_val2017.json", content)


def write_flickr30k(root: Path, scenes: Sequence[Scene], seed: int, wrote: Wrote) -> None:
    """Write the token file, Karpathy's split file (all in test) and flickr30k-images/ below root/flickr30k."""
    folder, images, lines = root / "flickr30k", [], []
    for number, scene in enumerate(scenes):
        name = f"{FIRST_FLICKR_ID + STRIDE * number}.jpg"
        write_jpeg(folder / "flickr30k-images" / name, draw(scene))
        told = captions(scene, rng_for(seed, "flickr30k captions", str(number)))
        numbers = [len(told) * number + turn for turn in range(len(told))]
        sentences = [
            {"tokens": _tokens(text), "raw": text, "imgid": number, "sentid": sentence}
            for sentence, text in zip(numbers, told, strict=True)
        ]
        images.append({"sentids": numbers, "imgid": number, "sentences": sentences, "split": "test", "filename": name})
        lines += [f"{name}#{turn}\t{text}" for turn, text in enumerate(told)]
        wrote()
    write_json(folder / "dataset_flickr30k.json", {"images": images, "dataset": "flickr30k"})
    write_lines(folder / "results_20130124.token", lines)


def write_visual_genome(root: Path, scenes: Sequence[Scene], seed: int, wrote: Wrote) -> None:
    """Write image_data.json, region_descriptions.json and VG_100K/ below root/visual_genome."""
    folder, images, described, region_id = root / "visual_genome", [], [], 1382
    for number, scene in enumerate(scenes):
        image = FIRST_GENOME_ID + number
        write_jpeg(folder / "VG_100K" / f"{image}.jpg", draw(scene))
        images.append(
            {"width": SIDE, "url": None, "height": SIDE, "image_id": image, "coco_id": None, "flickr_id": None}
        )
        own = []
        for region in regions(scene, rng_for(seed, "visual_genome regions", str(number))):
            left, top, right, bottom = (int(edge) for edge in region.box)
            own.append(
                {
                    "region_id": region_id,
                    "width": right - left,
                    "height": bottom - top,
                    "image_id": image,
                    "phrase": region.phrase,
                    "y": top,
                    "x": left,
                }
            )
            region_id += 1
        described.append({"regions": own, "id": image})
        wrote()
    write_json(folder / "image_data.json", images)
    write_json(folder / "region_descriptions.json", described)


def _tokens(text: str) -> list[str]:
    """Return the lower-case words of a caption without punctuation, as Karpathy's file has them."""
    return [word for word in text.lower().split() if word.isalnum()]
