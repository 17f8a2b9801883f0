from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from argus.data.flickr30k import Flickr30k
from argus.errors import ConfigError, DataError

TOKEN = "1.jpg#0\tA dog runs .\n1.jpg#1\tA dog .\n2.jpg#0\tTwo cats\u0085 sit .\n2.jpg#1\tCats .\n"
KARPATHY = {
    "images": [
        {"filename": "2.jpg", "split": "test", "sentences": [{"raw": "Two cats."}, {"raw": "Cats."}]},
        {"filename": "1.jpg", "split": "val", "sentences": [{"raw": "A dog runs."}]},
    ]
}


def flickr(root: Path, **changes: str | None) -> Flickr30k:
    names: dict[str, str | None] = {"images": "pictures", "token": None, "karpathy": "karpathy.json", "split": "test"}
    return Flickr30k(root, **(names | changes))  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def files(write: Any, picture: Any) -> None:
    write("karpathy.json", KARPATHY)
    write("captions.token", TOKEN)
    write("test.txt", "2\n")
    picture("pictures/1.jpg")
    picture("pictures/2.jpg")


def test_captions_come_from_the_token_file_and_the_split_from_karpathy(tmp_path: Path) -> None:
    (entry,) = flickr(tmp_path, token="captions.token").entries()
    assert [(caption.id, caption.text) for caption in entry.captions] == [("2#0", "Two cats sit ."), ("2#1", "Cats .")]


def test_karpathy_alone_is_enough(tmp_path: Path) -> None:
    (entry,) = flickr(tmp_path).entries()
    assert [(caption.id, caption.text) for caption in entry.captions] == [("2#0", "Two cats."), ("2#1", "Cats.")]


def test_list_alone_states_the_split(tmp_path: Path) -> None:
    dataset = flickr(tmp_path, token="captions.token", karpathy=None)
    assert [entry.id for entry in dataset.entries()] == ["2"]
    assert [path.name for path in dataset.annotation_files()] == ["captions.token", "test.txt"]


def test_without_a_split_every_image_is_read(tmp_path: Path) -> None:
    assert [entry.id for entry in flickr(tmp_path, split=None).entries()] == ["2", "1"]


def test_some_file_must_have_captions(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="both null"):
        flickr(tmp_path, karpathy=None)


def test_unknown_split_is_named_with_those_that_exist(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no split 'dev'; it has \['test', 'val'\]"):
        flickr(tmp_path, split="dev").entries()


def test_image_of_the_split_without_captions_is_an_error(tmp_path: Path, write: Any) -> None:
    write("test.txt", "2\n3\n")
    with pytest.raises(DataError, match="without captions: 3"):
        flickr(tmp_path, token="captions.token", karpathy=None).entries()


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("1.jpg#0 A dog", "expected '<image>.jpg#0 TAB"),
        ("1.jpg\tA dog", "expected '<image>.jpg#0 TAB"),
        ("1.jpg#1\tA dog", "expected '<image>.jpg#0 TAB"),
        ("1.jpg#0\tA dog\n1.jpg#0\tA dog", "line 2: expected '<image>.jpg#1 TAB"),
    ],
)
def test_faulty_token_lines_are_named(tmp_path: Path, write: Any, line: str, reason: str) -> None:
    write("captions.token", line)
    with pytest.raises(DataError, match=reason):
        flickr(tmp_path, token="captions.token", karpathy=None, split=None).entries()


def test_text_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    (tmp_path / "captions.token").write_bytes(b"1.jpg#0\tcaf\xe9\n")
    with pytest.raises(DataError, match="not UTF-8"):
        flickr(tmp_path, token="captions.token", karpathy=None, split=None).entries()


def test_image_listed_twice_is_an_error(tmp_path: Path, write: Any) -> None:
    write("karpathy.json", {"images": KARPATHY["images"] * 2})
    with pytest.raises(DataError, match="image 2 occurs twice"):
        flickr(tmp_path).entries()
    write("test.txt", "2\n2\n")
    with pytest.raises(DataError, match=r"image ids .* more than once: 2"):
        flickr(tmp_path, token="captions.token", karpathy=None).entries()
