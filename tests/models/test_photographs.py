"""A real photograph, stored in every way that trips a tool, goes through every adapter of conf/model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from hydra.utils import instantiate
from PIL import Image

from argus.data.images import load_image
from argus.models.base import Choice, Chooser, Embedder, Generator, Matcher, Model, Runtime
from argus.models.pictures import LONGEST, bounded
from argus.records import ImageSource
from tests.models import tiny, tiny_chat, tiny_completion
from tests.models.test_conf import NAMES, settings

TEXTS = ["a red cube", "no"]
QUESTION = Choice("What is red?", ("cube", "yes", "blue"))
EXIF_QUARTER_TURN = 6


def _blip(folder: Path) -> dict[str, str]:
    return {f"checkpoint.{head}": path for head, path in tiny.save_blip(folder).items()}


def _lxmert(folder: Path) -> dict[str, str]:
    tiny.save_lxmert(folder)
    heads = {"checkpoint.matching": str(folder), "checkpoint.answers": str(folder)}
    return {**heads, "checkpoint.regions": str(folder / "regions")}


def _whole(save: Callable[[Path], Path]) -> Callable[[Path], dict[str, str]]:
    return lambda folder: {"checkpoint": str(save(folder))}


TINY: dict[str, Callable[[Path], dict[str, str]]] = {
    "blip": _blip,
    "blip2": _whole(tiny_completion.save_blip2),
    "clip": _whole(tiny.save_clip),
    "gemma": _whole(tiny.save_gemma),
    "internvl": _whole(tiny_chat.save_internvl),
    "llava_onevision": _whole(tiny_chat.save_llava_onevision),
    "lxmert": _lxmert,
    "paligemma": _whole(tiny_completion.save_paligemma2),
    "qwen": _whole(tiny_chat.save_qwen),
    "siglip": _whole(tiny.save_siglip),
    "siglip2": _whole(tiny.save_naflex),
    "smolvlm": _whole(tiny_chat.save_idefics3),
}
"""Which tiny checkpoint stands in for each yaml's; a yaml without one fails here."""

SERVED = {"server"}
"""Yamls of models that somebody else runs: no checkpoint of theirs is loaded here."""

POCKET = ("blip", "clip", "gemma", "lxmert")


@pytest.fixture(scope="session")
def photographs(sample_data: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Image.Image]:
    """One photograph, stored in different ways and read back as a data set would be."""
    folder = tmp_path_factory.mktemp("photographs")
    with Image.open(sample_data / "coco" / "val2017" / "000000000139.jpg") as opened:
        photograph = opened.convert("RGB")
    grey = photograph.convert("L")
    palette = photograph.quantize(64)
    palette.info["transparency"] = 3
    exif = Image.Exif()
    exif[0x0112] = EXIF_QUARTER_TURN
    stored = {
        "as it is.jpg": (photograph, {}),
        "tall.png": (photograph.resize((40, 700)), {}),
        "wide.png": (photograph.resize((700, 40)), {}),
        "tiny.png": (photograph.resize((8, 8)), {}),
        "one row.png": (photograph.resize((300, 1)), {}),
        "one column.png": (photograph.resize((2, 500)), {}),
        "one pixel.png": (photograph.resize((1, 1)), {}),
        "grey.png": (grey, {}),
        "cmyk.jpg": (photograph.convert("CMYK"), {}),
        "sixteen bit.png": (Image.fromarray(np.asarray(grey).astype(np.uint16) * 257), {}),
        "palette.png": (palette, {"transparency": 3}),
        "turned.jpg": (photograph, {"exif": exif}),
    }
    read = {}
    for name, (image, options) in stored.items():
        image.save(folder / name, **options)
        read[name] = load_image(ImageSource(folder / name))
    assert read["turned.jpg"].size == photograph.size[::-1]
    return read


def use(model: Model, images: list[Image.Image]) -> list[list[torch.Tensor | str]]:
    """Return for each ability of the model one output for each picture."""
    found: list[list[torch.Tensor | str]] = []
    if isinstance(model, Embedder):
        found.append(list(model.embed_images(images)))
    if isinstance(model, Matcher):
        found.append(list(model.match(images, [TEXTS] * len(images))))
    if isinstance(model, Chooser):
        found.append([scores[0] for scores in model.choose(images, [[QUESTION]] * len(images))])
    if isinstance(model, Generator):
        found.append(list(model.generate(images, [model.caption_prompt] * len(images))))
    return found


@pytest.mark.parametrize("name", sorted(set(NAMES) - SERVED))
def test_every_adapter_reads_it_whatever_its_shape_and_storage_and_company(
    name: str, photographs: dict[str, Image.Image], runtime: Runtime, tmp_path: Path
) -> None:
    adapter = settings(name, "pocket", *(f"model.{key}={value}" for key, value in TINY[name](tmp_path).items())).adapter
    if "max_new_tokens" in adapter:
        adapter.max_new_tokens = 4
    model = instantiate(adapter, _convert_="object", runtime=runtime)
    images = list(photographs.values())
    together = use(model, images)
    assert together
    for index, image in enumerate(images):
        for ability, (alone,) in zip(together, use(model, [image]), strict=True):
            if isinstance(alone, str):
                assert ability[index] == alone
            else:
                assert alone.isfinite().all()
                torch.testing.assert_close(ability[index], alone, atol=1e-4, rtol=0)


@pytest.mark.parametrize("name", POCKET)
def test_the_embedded_models_read_it_too(name: str, photographs: dict[str, Image.Image], runtime: Runtime) -> None:
    model = instantiate(settings(name, "pocket").adapter, _convert_="object", runtime=runtime)
    for outputs in use(model, list(photographs.values())):
        assert len(outputs) == len(photographs)
        assert all(isinstance(output, str) or output.isfinite().all() for output in outputs)


def test_only_a_picture_longer_than_the_limit_is_stretched_and_only_across() -> None:
    sizes = [(200, 1), (1, 200), (201, 1), (3, 1000), (5000, 24), (8, 8), (640, 480)]
    images = [Image.new("RGB", size) for size in sizes]
    found = bounded(images)
    assert [image.size for image in found] == [(200, 1), (1, 200), (201, 2), (5, 1000), (5000, 25), (8, 8), (640, 480)]
    assert found[0] is images[0]
    assert all(max(image.size) <= LONGEST * min(image.size) for image in found)
