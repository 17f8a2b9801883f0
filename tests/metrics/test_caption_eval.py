"""The command: what it writes and prints, and one clear line for every kind of wrong input."""

from __future__ import annotations

import json
import math
import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from argus import caption_eval

REFERENCES = {
    "images": [{"id": 2}, {"id": 1}],
    "annotations": [
        {"image_id": 1, "id": 10, "caption": "a dog runs on the beach"},
        {"image_id": 2, "id": 11, "caption": "two cats sit on a mat"},
        {"image_id": 1, "id": 12, "caption": "A dog is running."},
    ],
}
RESULTS = [{"image_id": 1, "caption": "A dog runs."}, {"image_id": 2, "caption": ""}]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Return a function that runs the command in an empty folder, with files of the given contents."""
    monkeypatch.chdir(tmp_path)

    def command(references: Any, results: Any, keys: Mapping[str, str] | None = None) -> dict[str, Any]:
        for name, content in (("references", references), ("results", results)):
            if content is not None:
                text = content if isinstance(content, str) else json.dumps(content)
                (tmp_path / f"{name}.json").write_text(text, encoding="utf-8")
        keys = {"references": "references.json", "results": "results.json", "output": "scores.json", **(keys or {})}
        monkeypatch.setattr(sys, "argv", ["caption_eval", *(f"{key}={value}" for key, value in keys.items())])
        caption_eval.main()
        return json.loads((tmp_path / "scores.json").read_text(encoding="utf-8"))

    return command


def test_scores_go_to_the_output_and_a_table_to_stdout_and_nothing_else_is_left(run, tmp_path, capsys):
    scores = run(REFERENCES, RESULTS)
    metrics = {"bleu_1", "bleu_2", "bleu_3", "bleu_4", "rouge_l", "cider_d"}
    assert set(scores) == {"corpus", "images"}
    assert set(scores["corpus"]) == metrics
    assert [set(image) for image in scores["images"]] == [{"image_id"} | metrics] * 2
    assert [image["image_id"] for image in scores["images"]] == [2, 1]
    assert scores["images"][0]["rouge_l"] == 0
    assert scores["images"][1]["bleu_1"] == pytest.approx(math.exp(1 - 4 / 3))  # all 3 words right, 4 in the reference
    assert sorted(path.name for path in tmp_path.iterdir()) == ["references.json", "results.json", "scores.json"]
    printed = capsys.readouterr()
    assert "CIDEr-D (1.0 is what papers print as 100)" in printed.out
    assert printed.err == ""


def test_official_files_give_the_scores_of_the_reference_implementation(run, sample_data):
    folder = sample_data / "coco_caption_eval"
    expected = json.loads((folder / "expected" / "fakecap126_expected.json").read_text())
    files = {
        "references": str(folder / "annotations" / "captions_val2014_fakecap126.json"),
        "results": str(folder / "results" / "captions_val2014_fakecap126_results.json"),
    }
    scores = run(None, None, files)
    assert scores["corpus"]["cider_d"] == pytest.approx(expected["corpus"]["CIDEr"], abs=1e-9)
    assert scores["corpus"]["bleu_4"] == pytest.approx(expected["corpus"]["Bleu_4"], abs=1e-9)
    theirs = {image["image_id"]: image["CIDEr"] for image in expected["per_image"]}
    assert {image["image_id"]: image["cider_d"] for image in scores["images"]} == pytest.approx(theirs, abs=1e-9)


def test_plain_lists_and_text_ids_are_read_too(run):
    references = [{"image_id": "a", "caption": "a dog"}, {"image_id": "b", "caption": "a cat"}]
    scores = run(references, [{"image_id": "b", "caption": "a cat"}, {"image_id": "a", "caption": "a dog"}])
    assert [image["image_id"] for image in scores["images"]] == ["a", "b"]
    assert scores["corpus"]["bleu_2"] == pytest.approx(1)


def test_one_image_has_null_for_cider_d_and_a_warning(run, capsys):
    scores = run(REFERENCES["annotations"][:1], RESULTS[:1])
    assert scores["corpus"]["cider_d"] is None
    assert scores["images"][0]["cider_d"] is None
    assert scores["corpus"]["bleu_1"] > 0
    assert "needs at least two images" in capsys.readouterr().err


MANY = [{"image_id": 100 + n, "caption": "a"} for n in range(7)]


@pytest.mark.parametrize(
    ("references", "results", "message"),
    [
        (REFERENCES, None, "no file 'results.json'"),
        (REFERENCES, "[{", "'results.json' is not JSON"),
        (REFERENCES, "", "'results.json' is not JSON"),
        (REFERENCES, "3", "'results.json' is not a caption file"),
        (REFERENCES, {"captions": []}, "'results.json' is not a caption file"),
        (REFERENCES, [], "'results.json' has no caption"),
        (REFERENCES, ["a dog"], "entry 0: no image_id"),
        (REFERENCES, [{"image_id": True, "caption": "a"}], "entry 0: no image_id"),
        (REFERENCES, [{"image_id": 1}], r"entry 0 \(image 1\): the caption is None, not a text"),
        (REFERENCES, [*RESULTS, RESULTS[0]], r"1 image\(s\) with more than one caption: 1"),
        (REFERENCES, [*RESULTS, *MANY], "7 of 9 results are of images without references: 100, 101, 102, 103, 104, …"),
        (REFERENCES, RESULTS[:1], "1 of 2 images with references have no result: 2"),
        ({**REFERENCES, "images": [{"id": 9}]}, RESULTS, r"'references.json' has 1 image\(s\) without a caption: 9"),
        ({**REFERENCES, "images": [{"file": 9}]}, RESULTS, "image 0: no id"),
    ],
)
def test_wrong_input_is_one_line_on_stderr_and_status_1(run, tmp_path, references, results, message):
    with pytest.raises(SystemExit, match=f"error: .*{message}") as stopped:
        run(references, results)
    # sys.exit prints a text to stderr and exits with status 1.
    assert isinstance(stopped.value.code, str)
    assert "\n" not in stopped.value.code
    assert not (tmp_path / "scores.json").exists()


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"references": "null"}, "references is not set"),
        ({"output": "nowhere/scores.json"}, "no folder 'nowhere'"),
        ({"output": "."}, "cannot write the output '.'"),
        ({"java": "yes_please"}, "java is 'yes_please': choose false, true, meteor or spice"),
    ],
)
def test_wrong_settings_are_one_line_too(run, keys, message):
    with pytest.raises(SystemExit, match=f"error: {message}"):
        run(REFERENCES, RESULTS, keys)


def test_without_java_meteor_is_an_error_that_says_what_to_install(run, monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(SystemExit, match="METEOR needs a Java runtime"):
        run(REFERENCES, RESULTS, {"java": "meteor"})


@pytest.fixture
def pretended_java(tmp_path_factory, monkeypatch):
    """Put a program named java on the PATH, for what is checked before Java is started."""
    program = tmp_path_factory.mktemp("bin") / "java"
    program.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(program.parent))


def test_without_its_package_meteor_is_an_error_that_says_what_to_install(run, pretended_java, monkeypatch):
    monkeypatch.setitem(sys.modules, "pycocoevalcap.meteor.meteor", None)  # what Python sees where it is not installed
    with pytest.raises(SystemExit, match=r"METEOR needs pycocoevalcap .*pip install 'argus-eval\[java\]'"):
        run(REFERENCES, RESULTS, {"java": "meteor"})


def test_without_its_models_spice_is_an_error_that_says_how_to_fetch_them(run, pretended_java):
    spice = pytest.importorskip("pycocoevalcap.spice.spice")
    if (Path(spice.__file__).parent / "lib" / "stanford-corenlp-3.6.0.jar").exists():
        pytest.skip("the models of SPICE are installed here")
    with pytest.raises(SystemExit, match=r"SPICE needs stanford-corenlp-3.6.0.jar .* get_stanford_models.py"):
        run(REFERENCES, RESULTS, {"java": "true"})


def test_meteor_equals_the_reference_implementation(run, sample_data):
    pytest.importorskip("pycocoevalcap")
    if shutil.which("java") is None or "ARGUS_TEST_METEOR" not in os.environ:
        pytest.skip("METEOR needs a Java runtime and up to a minute to load; set ARGUS_TEST_METEOR=1 to test it")
    folder = sample_data / "coco_caption_eval"
    expected = json.loads((folder / "expected" / "fakecap126_expected.json").read_text())["per_image"][:3]
    kept = {image["image_id"]: image["METEOR"] for image in expected}
    annotations = json.loads((folder / "annotations" / "captions_val2014_fakecap126.json").read_text())["annotations"]
    results = json.loads((folder / "results" / "captions_val2014_fakecap126_results.json").read_text())
    scores = run(
        [entry for entry in annotations if entry["image_id"] in kept],
        [entry for entry in results if entry["image_id"] in kept],
        {"java": "meteor"},
    )
    assert {image["image_id"]: image["meteor"] for image in scores["images"]} == pytest.approx(kept, abs=1e-9)
