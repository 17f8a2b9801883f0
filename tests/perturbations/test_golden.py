"""Results that must not change unnoticed: stored scores were made with them.

The digests were the same with numpy 2.0.2, scipy 1.14.1 and pillow 11.0.0 as with numpy 2.4.6, scipy 1.17.1 and pillow
13.0.0. Another processor may round a value that lies halfway between two grey levels differently.
"""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from argus.perturbations.typo import Typo

DIGESTS = {
    "clean": ["88fabf5462350138"],
    "blur": ["7eec69a604562887", "e994a8eead451e40", "d1fc9b55ce6cf934", "d451f3f1f12e8f79", "c8b2a75a531085c6"],
    "noise": ["bdbc014d62c5e7bb", "cc1acd6341d93e59", "495f6019386f9343", "c332abf619e17aa8", "c21f4184a61ff3c0"],
    "typo": ["2f44db2dc81bcd6c", "e1f05aff2c4e0425", "4608ef938cc4515c", "2306c82845575a35", "f52db0d470deaf9e"],
}


@pytest.fixture(scope="module")
def found() -> dict[str, list[str]]:
    return runpy.run_path(str(Path(__file__).with_name("digests.py")))["digests"]()


@pytest.mark.parametrize("member", DIGESTS)
def test_results_are_those_of_earlier_runs(found, member):
    assert found[member] == DIGESTS[member]


@pytest.mark.parametrize(
    ("severity", "expected"),
    [
        (1, "X man riding a wave on top of a surfboard."),
        (2, "X man riding a wave pn top of a surfboard."),
        (3, "X man riding a aave pn top of a surfboard."),
        (4, "X man riding a aave pn tol of a surfboard."),
        (5, "X man riding a aave pn tol of a wurfboard."),
    ],
)
def test_typos_are_those_of_earlier_runs(severity, expected):
    assert Typo(severity).text("A man riding a wave on top of a surfboard.", 7, "text 0") == expected
