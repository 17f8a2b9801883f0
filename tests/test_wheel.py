from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

REPOSITORY = Path(__file__).resolve().parents[1]


def test_the_wheel_carries_configs_plugin_word_lists_checkpoints_and_what_reports_need(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", tmp_path, "."],
        cwd=REPOSITORY,
        check=True,
    )
    (wheel,) = tmp_path.glob("argus_eval-*.whl")
    names = set(ZipFile(wheel).namelist())
    configs = {f"argus/{path.relative_to(REPOSITORY)}" for path in (REPOSITORY / "conf").rglob("*.yaml")}
    assert configs
    assert configs <= names
    lists = {str(path.relative_to(REPOSITORY)) for path in (REPOSITORY / "argus").rglob("*.tsv")}
    assert lists
    assert lists <= names
    page = {str(path.relative_to(REPOSITORY)) for path in (REPOSITORY / "argus" / "report" / "html").glob("*.*")}
    assert {path.rpartition(".")[2] for path in page} >= {"j2", "css", "js", "json", "txt"}
    assert page <= names
    assert "hydra_plugins/argus_sweeper/__init__.py" in names
    assert "hydra_plugins/__init__.py" not in names  # a namespace package: other plugins live beside it
    for model in ("clip", "blip/retrieval", "blip/captioning", "blip/vqa", "gemma", "lxmert", "lxmert/regions", "qwen"):
        assert f"argus/pocket/checkpoints/{model}/model.safetensors" in names
    assert not any(name.startswith("tests/") for name in names)
