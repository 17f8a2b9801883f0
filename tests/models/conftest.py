"""Tiny checkpoints, written once per test session."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from argus.models.base import Runtime
from tests.models import tiny, tiny_chat


@pytest.fixture(scope="session")
def runtime() -> Runtime:
    return Runtime(device="cpu", dtype="float32", attention="sdpa")


@pytest.fixture(scope="session")
def clip_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.save_clip(tmp_path_factory.mktemp("clip"))


@pytest.fixture(scope="session")
def blip_folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return tiny.save_blip(tmp_path_factory.mktemp("blip"))


@pytest.fixture(scope="session")
def lxmert_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.save_lxmert(tmp_path_factory.mktemp("lxmert"))


@pytest.fixture(scope="session")
def gemma_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.save_gemma(tmp_path_factory.mktemp("gemma"))


CHAT_MODELS = {
    "gemma": tiny.save_gemma,
    "qwen": tiny_chat.save_qwen,
    "idefics3": tiny_chat.save_idefics3,
    "llava_onevision": tiny_chat.save_llava_onevision,
    "internvl": tiny_chat.save_internvl,
}


@pytest.fixture(scope="session", params=CHAT_MODELS.values(), ids=CHAT_MODELS)
def chat_folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A chat model: the tests that take it hold for every kind of them."""
    folder: Path = request.param(tmp_path_factory.mktemp("chat"))
    return folder


@pytest.fixture(scope="session")
def images() -> list[Image.Image]:
    """Six clearly different pictures of one size."""
    return [picture(24, 20, index) for index in range(6)]


@pytest.fixture(scope="session")
def odd_images() -> list[Image.Image]:
    """Sizes and origins that trip image processors: tiny, one pixel high, tall, wide, grey, one colour."""
    grey = picture(20, 20, 9).convert("L").convert("RGB")
    plain = Image.new("RGB", (17, 13), (255, 0, 0))
    return [picture(8, 8, 1), picture(30, 1, 2), picture(25, 100, 3), picture(332, 27, 4), grey, plain]


def picture(width: int, height: int, seed: int) -> Image.Image:
    """Return coarse colour noise that differs with the seed."""
    cells = [((seed * 89 + cell * 151) % 256, (seed + cell) * 67 % 256, seed * cell * 41 % 256) for cell in range(9)]
    coarse = Image.new("RGB", (3, 3))
    coarse.putdata(cells)
    return coarse.resize((width, height), Image.Resampling.BILINEAR)
