"""Visual Genome region descriptions (Krishna et al. 2017), releases 1.0 and 1.2."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from argus.data.base import Dataset
from argus.data.checks import first_few, require_unique
from argus.data.files import Pictures, expected_shape, read_json, several
from argus.data.texts import tidy
from argus.errors import ConfigError, DataError
from argus.records import Caption, Entry, ImageSource

log = logging.getLogger(__name__)
UNITS = ("image", "region")


class VisualGenome(Dataset):
    """Whole images with the phrases of their regions as captions, or each region cropped, with its one phrase.

    Phrases of only spaces, and images left without a phrase, are left out; the log says how many of each.
    """

    layout = """\
  image_data.json
  region_descriptions.json
  VG_100K/2.jpg …  VG_100K_2/1.jpg …"""

    def __init__(self, root: Path | str, *, images: str | Sequence[str], unit: str, max_regions: int | None) -> None:
        """`images` are the folders below the root; `max_regions` keeps each image's first regions (null: all)."""
        super().__init__(root)
        if unit not in UNITS:
            raise ConfigError(f"unit={unit!r} of Visual Genome: choose one of {UNITS}")
        if max_regions is not None and max_regions < 1:
            raise ConfigError(f"max_regions={max_regions}: give 1 or more, or null for all")
        self.images = several(images)
        self.unit = unit
        self.max_regions = max_regions

    def annotation_files(self) -> tuple[Path, ...]:
        return self.file("image_data.json"), self.file("region_descriptions.json")

    def read(self) -> tuple[Entry, ...]:
        image_data, descriptions = self.annotation_files()
        with expected_shape(f"'{image_data}'", self.layout):
            images = read_json(image_data)
            key = "image_id" if "image_id" in images[0] else "id"  # release 1.2, release 1.0
            numbers = [int(image[key]) for image in images]
            require_unique(map(str, numbers), f"image ids in '{image_data}'")
        with expected_shape(f"'{descriptions}'", self.layout):
            regions = {int(image["id"]): image["regions"] for image in read_json(descriptions)}
            if unlisted := sorted(regions.keys() - set(numbers)):
                raise DataError(f"'{descriptions}' has images that '{image_data}' has not: {first_few(unlisted)}")
            pictures = Pictures(self.folders())
            described = {number: self.keep(regions.get(number, ())) for number in numbers}
            self.report(regions, described)
            return tuple(
                entry
                for number, kept in described.items()
                if kept
                for entry in self.build(number, pictures.find(f"{number}.jpg", number), kept)
            )

    def folders(self) -> list[Path]:
        """Return the folders that exist: small sets have one. Pictures that another would hold are named as missing."""
        present = [self.root / name for name in self.images if (self.root / name).is_dir()]
        return present or [self.folder(self.images[0])]

    def keep(self, regions: Sequence[Any]) -> list[Any]:
        """Return the first `max_regions` regions whose phrase is more than spaces."""
        return [region for region in regions if region["phrase"].strip()][: self.max_regions]

    def report(self, regions: dict[int, Any], described: dict[int, list[Any]]) -> None:
        """Log how many phrases and images are left out."""
        blank = sum(not region["phrase"].strip() for image in regions.values() for region in image)
        bare = sum(not kept for kept in described.values())
        if blank or bare:
            log.warning("'%s': left out %d phrases of only spaces, %d images without a phrase", self.root, blank, bare)

    def build(self, number: int, path: Path, regions: Sequence[Any]) -> Iterator[Entry]:
        """Yield one entry for the image, or one for each of its regions."""
        captions = [Caption(f"{number}-{region['region_id']}", tidy(region["phrase"])) for region in regions]
        if self.unit == "image":
            yield Entry(str(number), ImageSource(path), tuple(captions))
            return
        for region, caption in zip(regions, captions, strict=True):
            left, top = float(region["x"]), float(region["y"])
            box = (left, top, left + float(region["width"]), top + float(region["height"]))
            yield Entry(caption.id, ImageSource(path, crop=box), (caption,))
