from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from PIL import Image

from argus.cache import Cache
from argus.errors import DataError
from argus.loop import LightningLoop, Pictures
from argus.perturbations.base import ImagePerturbation, Perturbation
from argus.perturbations.clean import Clean
from argus.perturbations.noise import Noise
from argus.picture_files import PictureFiles
from argus.records import Entry, ImageSource, Sample

TRAINER = {"accelerator": "cpu", "devices": 1, "precision": "32-true"}


@pytest.fixture
def entries(tmp_path: Path) -> tuple[Entry, ...]:
    for number in range(7):
        Image.new("RGB", (16 + number, 12), (number * 30, 90, 200)).save(tmp_path / f"{number}.png")
    return tuple(Entry(str(number), ImageSource(tmp_path / f"{number}.png")) for number in range(7))


NO_FILES = PictureFiles(Path("nowhere"), 0, "")


def caching(limit: int) -> Cache[Image.Image]:
    return Cache(limit, lambda picture: picture.width * picture.height * 3)


def loop_over(
    entries: Sequence[Entry],
    batch_size: int = 3,
    perturbation: Perturbation | None = None,
    workers: int = 0,
    cache: Cache[Image.Image] | None = None,
    seed: int = 0,
    files: PictureFiles | None = None,
) -> LightningLoop:
    change = "" if perturbation is None else f"{type(perturbation).__name__} {perturbation.severity}"
    pictures = Pictures(entries, perturbation or Clean(0), seed, cache or caching(0), files or NO_FILES, change)
    return LightningLoop(pictures, TRAINER, batch_size, workers, lambda done, total: None)


def look(samples: Sequence[Sample]) -> list[tuple[str, bytes]]:
    return [(sample.id, sample.image.tobytes()) for sample in samples]


@pytest.mark.parametrize("batch_size", [1, 3, 7, 32])
def test_outputs_come_in_order_whatever_the_batch_size(entries: tuple[Entry, ...], batch_size: int) -> None:
    assert [name for name, _ in loop_over(entries, batch_size)(look)] == [entry.id for entry in entries]


def test_pictures_are_perturbed_alike_in_any_batch_and_worker(entries: tuple[Entry, ...]) -> None:
    alone = loop_over(entries, 1, Noise(3))(look)
    together = loop_over(entries, 7, Noise(3))(look)
    elsewhere = loop_over(entries, 2, Noise(3), workers=1)(look)
    assert alone == together == elsewhere
    assert alone != loop_over(entries)(look)


def test_a_cache_changes_no_picture_whatever_ran_before(entries: tuple[Entry, ...]) -> None:
    cache = caching(2**20)
    cases = [(None, 0), (Noise(3), 0), (Noise(4), 0), (Noise(3), 1), (Noise(3), 0), (None, 0)]
    for perturbation, seed in cases:
        plain = loop_over(entries, perturbation=perturbation, seed=seed)(look)
        assert loop_over(entries, perturbation=perturbation, seed=seed, cache=cache)(look) == plain
    assert cache.held == 4 * sum((16 + number) * 12 * 3 for number in range(7))


def test_a_cached_picture_is_read_again_once_its_file_has_changed(entries: tuple[Entry, ...], tmp_path: Path) -> None:
    cache = caching(2**20)
    before = loop_over(entries, cache=cache)(look)
    Image.new("RGB", (30, 40)).save(tmp_path / "3.png")
    after = loop_over(entries, cache=cache)(look)
    assert [old == new for old, new in zip(before, after, strict=True)] == [number != 3 for number in range(7)]


@pytest.mark.parametrize("workers", [0, 1])
def test_pictures_kept_on_disk_are_those_made_anew(entries: tuple[Entry, ...], tmp_path: Path, workers: int) -> None:
    plain = [loop_over(entries, perturbation=Noise(severity), seed=1)(look) for severity in (2, 3)]
    for _ in range(2):
        files = PictureFiles(tmp_path / "kept", 10_000_000, "v")
        kept = [
            loop_over(entries, perturbation=Noise(severity), seed=1, workers=workers, files=files)(look)
            for severity in (2, 3)
        ]
        assert kept == plain
        assert len(list((tmp_path / "kept").rglob("*.npy"))) == 2 * len(entries)


def test_progress_counts_every_picture(entries: tuple[Entry, ...]) -> None:
    seen: list[tuple[int, int]] = []
    pictures = Pictures(entries, Clean(0), 0, caching(0), NO_FILES, "")
    LightningLoop(pictures, TRAINER, 3, 0, lambda done, total: seen.append((done, total)))(look)
    assert seen == [(3, 7), (6, 7), (7, 7)]


def test_one_broken_picture_in_a_hundred_is_left_out_and_named(entries: tuple[Entry, ...], tmp_path: Path) -> None:
    (tmp_path / "broken.png").write_bytes((tmp_path / "0.png").read_bytes()[:40])
    many = [Entry(str(number), entries[number % 7].source) for number in range(99)]
    loop = loop_over([*many, Entry("broken", ImageSource(tmp_path / "broken.png"))])
    assert len(loop(look)) == 99
    assert list(loop.failures) == ["broken"]
    assert "broken.png" in loop.failures["broken"]


def test_more_than_one_in_a_hundred_fails_and_names_the_first(entries: tuple[Entry, ...], tmp_path: Path) -> None:
    (tmp_path / "2.png").write_bytes(b"")
    with pytest.raises(DataError, match=r"1 of 7 pictures.*1 % may fail(.|\n)*2\.png"):
        loop_over(entries)(look)


class Faulty(ImagePerturbation):
    def perturb(self, image: Image.Image, rng: object) -> Image.Image:
        raise ZeroDivisionError("a fault of the program is no unreadable picture")


def test_a_fault_in_a_perturbation_is_not_taken_for_a_broken_picture(entries: tuple[Entry, ...]) -> None:
    with pytest.raises(ZeroDivisionError):
        loop_over(entries, perturbation=Faulty(1))(look)
