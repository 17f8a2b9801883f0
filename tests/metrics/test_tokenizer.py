"""The tokens are those of the Java tool, compared with its recorded output, and with the tool itself where it runs."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from argus.metrics.captions.tokenizer import tokenize, tokenize_lines

RECORDED = Path(__file__).parent / "data"


@pytest.mark.parametrize("name", ["own_texts", "coco_captions"])
def test_tokens_equal_the_recorded_output_of_the_java_tool(name):
    pairs = json.loads((RECORDED / f"{name}.json").read_text(encoding="utf-8"))
    ours = [" ".join(tokens) for tokens in tokenize_lines([text for text, _ in pairs])]
    assert len(pairs) > 250
    assert [(text, got, want) for (text, want), got in zip(pairs, ours, strict=True) if got != want] == []


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("A man can't ride.", "a man ca n't ride"),
        ('The "big" dog\'s bone - half-eaten!', "the big dog 's bone half-eaten"),
        ("1,000 people (or so) cost $5.50", "1,000 people -lrb- or so -rrb- cost $ 5.50"),
        ("Mr. Smith of Main St. at 5 p.m.", "mr. smith of main st. at 5 p.m."),
        ("naïve CAFÉ 中文", "naïve café 中文"),
        ("thumbs 👍🏽 up", "thumbs up"),
        ("", ""),
        (" . , ! ", ""),
    ],
)
def test_a_reader_can_check_these_tokens(text, tokens):
    assert " ".join(tokenize(text)) == tokens


@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r", "\u2028", "\u2029", "\x0b", "\x0c"])
def test_a_line_break_inside_a_caption_is_a_space_and_never_shifts_the_captions_behind_it(line_break):
    assert tokenize_lines([f"a dog{line_break}runs", "a cat"]) == [("a", "dog", "runs"), ("a", "cat")]


def test_a_full_stop_is_read_by_the_next_caption_as_in_the_tool():
    assert tokenize_lines(["on platform K.", "A man"])[0] == ("on", "platform", "k")
    assert tokenize_lines(["on platform K.", "", "A man"])[0] == ("on", "platform", "k")
    assert tokenize_lines(["on platform K.", "man"])[0] == ("on", "platform", "k.")
    assert tokenize("on platform K.") == ("on", "platform", "k.")


def test_tokens_of_the_reference_implementation_on_official_captions(sample_data):
    folder = sample_data / "coco_caption_eval"
    expected = json.loads((folder / "expected" / "fakecap126_tokenized.json").read_text())["references"]
    annotations = json.loads((folder / "annotations" / "captions_val2014_fakecap126.json").read_text())["annotations"]
    texts: dict[str, list[str]] = {}
    for annotation in annotations:
        texts.setdefault(str(annotation["image_id"]), []).append(annotation["caption"])
    assert len(expected) == 126
    for image, references in expected.items():
        assert [" ".join(tokens) for tokens in tokenize_lines(texts[image])] == references


def test_all_texts_of_the_sample_data_equal_the_java_tool(sample_data):
    tool = pytest.importorskip("pycocoevalcap.tokenizer.ptbtokenizer")
    if shutil.which("java") is None:
        pytest.skip("no Java runtime to compare with")
    texts = [text for text in dict.fromkeys(_texts(sample_data)) if " " in text]  # no file names
    theirs = tool.PTBTokenizer().tokenize({place: [{"caption": text}] for place, text in enumerate(texts)})
    ours = [" ".join(tokens) for tokens in tokenize_lines(texts)]
    assert len(texts) > 25_000
    assert [(t, o, theirs[i][0]) for i, (t, o) in enumerate(zip(texts, ours, strict=True)) if o != theirs[i][0]] == []


def _texts(folder: Path) -> Iterator[str]:
    """Yield every text of every JSON file, except those with line breaks that the tool takes for two captions."""
    for path in sorted(folder.rglob("*.json*")):
        yield from (text for value in _values(path) for text in _strings(value) if "\r" not in text)


def _values(path: Path) -> list[object]:
    """Return the one value of a JSON file, or those of its lines."""
    content = path.read_text(encoding="utf-8")
    try:
        return [json.loads(content)]
    except json.JSONDecodeError:
        return [json.loads(line) for line in content.splitlines() if line.strip()]


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)
