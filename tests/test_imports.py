"""Promises of what counts as the code of a cell."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir

from argus.configuration import PACKAGE, conf_dir
from argus.errors import ConfigError
from argus.fingerprint import PARTS_OF_A_CELL, code_of, modules_of
from argus.imports import reached

LOADED = """
import sys, importlib
for module in {modules}: importlib.import_module(module)
print("\\n".join(m.__file__ for n, m in list(sys.modules.items()) if n.split(".")[0] == "argus" and m.__file__))
"""


def targets(*overrides: str) -> tuple[str, ...]:
    with initialize_config_dir(str(conf_dir()), version_base=None):
        cfg = compose("run", overrides=list(overrides))
        return modules_of(cfg.model.adapter, cfg.dataset.reader, cfg.task.member, cfg.perturbation.transform)


@pytest.mark.parametrize(
    "overrides",
    [
        ("model=clip", "perturbation=blur_typo"),
        ("model=lxmert", "dataset=vcr", "task=reasoning", "perturbation=typo"),
        ("model=server", "dataset=clevr", "task=reasoning", "perturbation=fog"),
        ("model=qwen", "task=captioning", "perturbation=noise"),
    ],
    ids=" ".join,
)
def test_every_file_that_python_loads_for_a_cell_is_found(overrides: tuple[str, ...]) -> None:
    modules = ("argus.cell", *targets(*overrides))
    printed = subprocess.run(
        [sys.executable, "-c", LOADED.format(modules=modules)], capture_output=True, text=True, check=True
    ).stdout
    loaded = {Path(line) for line in printed.splitlines()}
    parts = {path for path in loaded if path.relative_to(PACKAGE).parts[0] in PARTS_OF_A_CELL}
    assert len(parts) > 20
    assert parts <= reached(modules)


def test_what_is_imported_inside_a_function_counts() -> None:
    assert PACKAGE / "perturbations" / "writing" / "meaning.py" in reached(["argus.cell"])
    assert PACKAGE / "aggregation.py" in reached(["argus.aggregate"])  # imported in a function


def test_another_perturbations_file_is_no_part_of_a_cell() -> None:
    blur = reached(("argus.cell", *targets("perturbation=blur")))
    assert PACKAGE / "perturbations" / "blur.py" in blur
    assert PACKAGE / "perturbations" / "noise.py" not in blur
    assert PACKAGE / "models" / "blip.py" not in blur


def test_each_cells_code_has_a_digest_of_its_own() -> None:
    digests = {code_of(targets(f"perturbation={name}")) for name in ("clean", "blur", "typo", "blur_typo")}
    assert len(digests) == 4


def test_a_module_that_is_none_is_named() -> None:
    with pytest.raises(ConfigError, match=r"there is no module 'argus\.perturbations\.darken'"):
        reached(["argus.perturbations.darken"])
