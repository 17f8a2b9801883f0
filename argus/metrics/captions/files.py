"""Captions in COCO's JSON formats."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from argus.errors import DataError

ImageId = int | str

_SHAPES = '{"images": [{"id": …}], "annotations": [{"image_id": …, "caption": …}]} or [{"image_id": …, "caption": …}]'


def read_references(path: Path) -> dict[ImageId, list[str]]:
    """Return each image's captions, images in the order of the file.

    Raises DataError for a missing or malformed file, and for an image without a caption.
    """
    images, captions = _read(path)
    groups: dict[ImageId, list[str]] = {image: [] for image in images}
    for image, caption in captions:
        groups.setdefault(image, []).append(caption)
    bare = [image for image, group in groups.items() if not group]
    if bare:
        raise DataError(f"'{path}' has {len(bare)} image(s) without a caption: {_first(bare)}")
    return groups


def read_results(path: Path) -> dict[ImageId, str]:
    """Return each image's one caption; it may be empty.

    Raises DataError for a missing or malformed file, and for an image with two captions.
    """
    _, captions = _read(path)
    twice = [image for image, count in Counter(image for image, _ in captions).items() if count > 1]
    if twice:
        raise DataError(f"'{path}' has {len(twice)} image(s) with more than one caption: {_first(twice)}")
    return dict(captions)


def require_same_images(references: dict[ImageId, list[str]], results: dict[ImageId, str]) -> None:
    """Raise DataError unless every image has both references and a result."""
    unknown = [image for image in results if image not in references]
    if unknown:
        raise DataError(
            f"{len(unknown)} of {len(results)} results are of images without references: {_first(unknown)}. Is it "
            "the right references file?"
        )
    missing = [image for image in references if image not in results]
    if missing:
        raise DataError(
            f"{len(missing)} of {len(references)} images with references have no result: {_first(missing)}. Add a "
            'caption for each (it may be ""), or cut the references to the images that were captioned'
        )


def _read(path: Path) -> tuple[list[ImageId], list[tuple[ImageId, str]]]:
    """Return the ids of the "images" list, if there is one, and all pairs of image id and caption."""
    content = _json(path)
    if isinstance(content, dict):
        images, entries = content.get("images", []), content.get("annotations")
    else:
        images, entries = [], content
    if not isinstance(entries, list) or not isinstance(images, list):
        raise DataError(f"'{path}' is not a caption file: expected {_SHAPES}")
    captions = [_caption(path, number, entry) for number, entry in enumerate(entries)]
    if not captions:
        raise DataError(f"'{path}' has no caption: expected {_SHAPES}")
    return [_id(path, f"image {number}", image, "id") for number, image in enumerate(images)], captions


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError as error:
        raise DataError(
            f"no file '{path}' in '{Path.cwd()}'" if not path.is_absolute() else f"no file '{path}'"
        ) from error
    except OSError as error:
        raise DataError(f"cannot read '{path}': {error.strerror}") from error
    except ValueError as error:
        raise DataError(f"'{path}' is not JSON ({error}): expected {_SHAPES}") from error


def _caption(path: Path, number: int, entry: Any) -> tuple[ImageId, str]:
    image = _id(path, f"entry {number}", entry, "image_id")
    caption = entry.get("caption")
    if not isinstance(caption, str):
        raise DataError(f"'{path}', entry {number} (image {image!r}): the caption is {caption!r}, not a text")
    return image, caption


def _id(path: Path, where: str, entry: Any, key: str) -> ImageId:
    image = entry.get(key) if isinstance(entry, dict) else None
    if isinstance(image, bool) or not isinstance(image, int | str):
        raise DataError(f"'{path}', {where}: no {key} (a number or a text) in {str(entry)[:80]}; expected {_SHAPES}")
    return image


def _first(images: list[ImageId]) -> str:
    return ", ".join(map(repr, images[:5])) + (", …" if len(images) > 5 else "")
