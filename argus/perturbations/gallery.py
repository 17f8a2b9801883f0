"""Draw docs/gallery.md: every perturbation at every severity. python -m argus.perturbations.gallery [PICTURE]."""

from __future__ import annotations

import argparse
import inspect
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image

from argus.configuration import PACKAGE, conf_dir
from argus.data.images import decode
from argus.errors import DataError

if TYPE_CHECKING:
    from argus.perturbations.base import Perturbation

PICTURE = PACKAGE.parent / "docs" / "gallery" / "picture.jpg"
SIDE, SHOWN, GAP = 320, 160, 4  # pixels a long side: of the perturbed picture, of a picture in a strip; between these
QUALITY = 50
SEED, IDENTITY = 0, "gallery"
SENTENCE = "Don't they see the two orange suitcases beside 12 grey ones, and which colour is the big one on the left?"
CREDIT = """The picture is 000000475678.jpg of COCO 2017, made smaller and perturbed. It is
[photo 3337847570](https://www.flickr.com/photo.gne?id=3337847570) of Flickr
([file](http://farm4.staticflickr.com/3572/3337847570_4c8d6dd100_z.jpg)); COCO does not name its author. Its licence is
[CC BY 2.0](http://creativecommons.org/licenses/by/2.0/)."""
INTRODUCTION = """# Gallery of perturbations

Every perturbation at each of its severities, from 1 on the left to 5 on the right; those with one picture have
severity 1 alone. What they have in common is told in [perturbations.md](perturbations.md).
`python -m argus.perturbations.gallery [PICTURE]` draws this page, of any picture."""
SIGNS = str.maketrans({"\n": "⏎", "\t": "⇥", "\u00a0": "⍽"})


@dataclass(frozen=True)
class Member:
    """A perturbation at each of its severities; `about` is what its class says of itself."""

    name: str
    modality: str
    family: str
    about: str
    by_severity: Mapping[int, Perturbation]


def main(arguments: Sequence[str] | None = None) -> None:
    """Write gallery.md and its pictures; exits with a message where the picture cannot be read."""
    parser = argparse.ArgumentParser(prog="python -m argus.perturbations.gallery", description=__doc__)
    parser.add_argument("picture", nargs="?", type=Path, default=PICTURE, help="any picture; default: %(default)s")
    parser.add_argument("--out", type=Path, default=Path("docs"), help="folder for gallery.md; default: %(default)s")
    chosen = parser.parse_args(arguments)
    try:
        picture = decode(chosen.picture)
    except DataError as error:
        sys.exit(f"error: {error}")
    picture.thumbnail((SIDE, SIDE))
    credit = CREDIT if chosen.picture == PICTURE else f"The picture is {chosen.picture.name}, made smaller."
    write_gallery(picture, credit, chosen.out)


def write_gallery(picture: Image.Image, credit: str, out: Path) -> None:
    """Write gallery.md and gallery/<perturbation>.webp under the folder."""
    (out / "gallery").mkdir(parents=True, exist_ok=True)
    found = list(members())
    for member in found:
        if member.modality == "image":
            strip(picture, member).save(out / "gallery" / f"{member.name}.webp", quality=QUALITY, method=6)
    (out / "gallery.md").write_text(page(found, credit), encoding="utf-8")


def members() -> Iterator[Member]:
    """Yield every perturbation of conf/perturbation but clean, by modality, family and name."""
    from hydra.utils import instantiate
    from omegaconf import OmegaConf

    configs = [OmegaConf.load(path) for path in (conf_dir() / "perturbation").glob("*.yaml")]
    for config in sorted(configs, key=lambda each: (each.modality, each.family, each.name)):
        if config.modality == "none":
            continue
        whole = OmegaConf.create({"perturbation": config})
        built = {}
        for severity in instantiate(whole.perturbation.transform).severities():
            whole.perturbation.severity = severity
            built[severity] = instantiate(whole.perturbation.transform)
        about = (inspect.getdoc(type(next(iter(built.values())))) or "").split("\n\n")[0].replace("\n", " ")
        yield Member(config.name, config.modality, config.family, about, built)


def strip(picture: Image.Image, member: Member) -> Image.Image:
    """Return the perturbed pictures side by side, severities from left to right."""
    images = [each.image(picture, SEED, IDENTITY) for each in member.by_severity.values()]
    for image in images:
        image.thumbnail((SHOWN, SHOWN))
    width, height = images[0].size
    row = Image.new("RGB", ((width + GAP) * len(images) - GAP, height), "white")
    for place, image in enumerate(images):
        row.paste(image, (place * (width + GAP), 0))
    return row


def page(found: Sequence[Member], credit: str) -> str:
    """Return the page's Markdown."""
    lines = [INTRODUCTION, "", credit]
    for modality, title in (("image", "Pictures"), ("text", "Texts")):
        mine = [member for member in found if member.modality == modality]
        lines += ["", f"## {title}: {len(mine)} kinds"]
        if modality == "text":
            lines += ["", f"Clean: `{SENTENCE}`"]
        for family, group in groupby(mine, key=lambda member: member.family):
            lines += ["", f"### {family.capitalize()}"]
            for member in group:
                lines += ["", f"**`{member.name}`** {member.about}", ""]
                lines += [f"![{member.name}](gallery/{member.name}.webp)"] if modality == "image" else table(member)
    both = ", ".join(f"`{member.name}`" for member in found if member.modality == "both")
    lines += ["", "## Pictures and texts together", "", f"{both}: the pictures of the one and the texts of the other."]
    return "\n".join(lines) + "\n"


def table(member: Member) -> list[str]:
    texts = ((severity, each.text(SENTENCE, SEED, IDENTITY)) for severity, each in member.by_severity.items())
    return ["| | |", "| --- | --- |", *(f"| {severity} | `{shown(text)}` |" for severity, text in texts)]


def shown(text: str) -> str:
    """Return the text with signs for the white space that Markdown would not show."""
    return re.sub(" {2,}", lambda gap: "·" * len(gap.group()), text.translate(SIGNS))


if __name__ == "__main__":
    main()
