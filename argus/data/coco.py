"""COCO captions, of the 2014 and 2017 releases (cocodataset.org)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from argus.data.base import Dataset
from argus.data.checks import first_few
from argus.data.files import Pictures, expected_shape, read_json, several, text
from argus.data.texts import tidy_captions
from argus.errors import ConfigError, DataError
from argus.records import Caption, Entry, ImageSource


class Coco(Dataset):
    """Every image of the caption files, or those that a Karpathy split file names, in that file's order.

    The two releases name the same picture differently (`COCO_val2014_000000000139.jpg`, `000000000139.jpg`), so a
    picture is found by its name and else by its id, and either release's captions go with either one's pictures.
    """

    layout = """\
  annotations/captions_val2017.json    or captions_{train,val}2014.json, captions_train2017.json
  val2017/000000000139.jpg …           or val2014/COCO_val2014_000000000139.jpg …
  dataset_coco.json                    Karpathy's split file, where a Karpathy split is asked for"""

    def __init__(
        self,
        root: Path | str,
        *,
        annotations: str | Sequence[str],
        images: str | Sequence[str],
        karpathy: str | None = None,
        split: str | None = None,
    ) -> None:
        """`annotations` and `images` are one or more files and folders below the root; `split` is Karpathy's."""
        super().__init__(root)
        if (karpathy is None) != (split is None):
            raise ConfigError(f"karpathy={karpathy!r} and split={split!r}: give both, or neither for every image")
        self.annotations = several(annotations)
        self.images = several(images)
        self.karpathy = karpathy
        self.split = split

    def annotation_files(self) -> tuple[Path, ...]:
        split_file = () if self.karpathy is None else (self.file(self.karpathy),)
        return (*(self.file(name) for name in self.annotations), *split_file)

    def read(self) -> tuple[Entry, ...]:
        names, captions = self.read_captions()
        wanted = tuple(names) if self.karpathy is None else self.read_split(self.file(self.karpathy))
        if absent := [number for number in wanted if number not in names]:
            raise DataError(
                f"images of split '{self.split}' that {', '.join(self.annotations)} do not describe: "
                f"{first_few(absent)}; add the other caption file to `annotations`"
            )
        pictures = Pictures([self.folder(folder) for folder in self.images])
        entries = (
            Entry(str(number), ImageSource(pictures.find(names[number], number)), tuple(captions.get(number, ())))
            for number in wanted
        )
        return tidy_captions(entries, ", ".join(self.annotations))

    def read_captions(self) -> tuple[dict[int, str], dict[int, list[Caption]]]:
        """Return file name by image id, and captions by image id, in the order of the files."""
        names: dict[int, str] = {}
        captions: dict[int, list[Caption]] = {}
        for path in (self.file(name) for name in self.annotations):
            with expected_shape(f"'{path}'", self.layout):
                content = read_json(path)
                for image in content["images"]:
                    if int(image["id"]) in names:
                        raise DataError(f"'{path}': image id {image['id']} occurs twice")
                    names[int(image["id"])] = Path(image["file_name"]).name
                for line in content["annotations"]:
                    caption = Caption(str(line["id"]), text(line["caption"]))
                    captions.setdefault(int(line["image_id"]), []).append(caption)
        if orphans := [number for number in captions if number not in names]:
            raise DataError(f"{', '.join(self.annotations)}: captions of images not listed: {first_few(orphans)}")
        return names, captions

    def read_split(self, path: Path) -> tuple[int, ...]:
        """Return the image ids of the split, in the order of Karpathy's file (1k folds are cut from that order)."""
        with expected_shape(f"'{path}'", self.layout):
            images = [(image["split"], int(image["cocoid"])) for image in read_json(path)["images"]]
        wanted = tuple(number for split, number in images if split == self.split)
        if not wanted:
            raise DataError(f"'{path}' has no split '{self.split}'; it has {sorted({split for split, _ in images})}")
        return wanted
