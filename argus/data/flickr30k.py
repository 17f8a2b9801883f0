"""Flickr30k (Young et al. 2014), with the token file's captions or Karpathy's."""

from __future__ import annotations

from pathlib import Path

from argus.data.base import Dataset
from argus.data.checks import first_few
from argus.data.files import expected_shape, read_json, read_lines, text
from argus.data.texts import tidy_captions
from argus.errors import ConfigError, DataError
from argus.records import Caption, Entry, ImageSource


class Flickr30k(Dataset):
    """The images of a split, or all.

    Captions come from `token` where it is given and else from `karpathy`; the split from `karpathy` where it is given
    and else from the list `{split}.txt`. Ids are the same either way: `1000092795` and `1000092795#0` to `#4`.
    """

    layout = """\
  flickr30k-images/1000092795.jpg …
  dataset_flickr30k.json       Karpathy's split file (captions and splits), and/or
  results_20130124.token       <image>.jpg#<n> TAB <caption>
  train.txt val.txt test.txt   image ids, one a line: the splits, without Karpathy's file"""

    def __init__(
        self, root: Path | str, *, images: str, token: str | None, karpathy: str | None, split: str | None
    ) -> None:
        """Name the folder of images and the files, below the root; `split` is train, val or test, or null for all."""
        super().__init__(root)
        if token is None and karpathy is None:
            raise ConfigError("token and karpathy are both null: name the file that has the captions")
        self.images = images
        self.token = token
        self.karpathy = karpathy
        self.split = split

    def annotation_files(self) -> tuple[Path, ...]:
        names = [self.token, self.karpathy]
        if self.karpathy is None and self.split is not None:
            names.append(f"{self.split}.txt")
        return tuple(self.file(name) for name in names if name is not None)

    def read(self) -> tuple[Entry, ...]:
        splits, captions = self.read_karpathy(self.file(self.karpathy)) if self.karpathy else ({}, {})
        if self.token is not None:
            captions = self.read_token(self.file(self.token))
        wanted = self.choose(splits, captions)
        if absent := [name for name in wanted if name not in captions]:
            raise DataError(f"'{self.root}': images of split {self.split!r} without captions: {first_few(absent)}")
        folder = self.folder(self.images)
        entries = (
            Entry(
                id=name,
                source=ImageSource(folder / f"{name}.jpg"),
                captions=tuple(Caption(f"{name}#{number}", line) for number, line in enumerate(captions[name])),
            )
            for name in wanted
        )
        return tidy_captions(entries, str(self.root))

    def choose(self, splits: dict[str, str], captions: dict[str, list[str]]) -> tuple[str, ...]:
        """Return the names of the images in the split, in the order of the file that states it."""
        if self.split is None:
            return tuple(captions)
        if self.karpathy is None:
            return tuple(line.strip().removesuffix(".jpg") for _, line in read_lines(self.file(f"{self.split}.txt")))
        wanted = tuple(name for name, split in splits.items() if split == self.split)
        if not wanted:
            raise DataError(f"'{self.karpathy}' has no split {self.split!r}; it has {sorted(set(splits.values()))}")
        return wanted

    def read_karpathy(self, path: Path) -> tuple[dict[str, str], dict[str, list[str]]]:
        """Return the split and the captions of each image, by the image's name without its ending."""
        splits: dict[str, str] = {}
        captions: dict[str, list[str]] = {}
        with expected_shape(f"'{path}'", self.layout):
            for image in read_json(path)["images"]:
                name = Path(image["filename"]).stem
                if name in splits:
                    raise DataError(f"'{path}': image {name} occurs twice")
                splits[name] = image["split"]
                captions[name] = [text(sentence["raw"]) for sentence in image["sentences"]]
        return splits, captions

    def read_token(self, path: Path) -> dict[str, list[str]]:
        """Return the captions of each image, by the image's name without its ending."""
        captions: dict[str, list[str]] = {}
        for where, line in read_lines(path):
            key, tab, caption = line.partition("\t")
            image, mark, number = key.partition("#")
            lines = captions.setdefault(Path(image).stem, [])
            if not tab or not mark or number.strip() != str(len(lines)):
                raise DataError(f"{where}: expected '<image>.jpg#{len(lines)} TAB <caption>', found {line[:60]!r}")
            lines.append(caption)
        return captions
