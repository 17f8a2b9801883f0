"""Every yaml in conf/score makes a scheme."""

from __future__ import annotations

from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from hydra.errors import InstantiationException
from hydra.utils import instantiate

from argus.scoring.scheme import Scheme

CONF = Path(__file__).resolve().parents[2] / "conf"
NAMES = sorted(path.stem for path in (CONF / "score").glob("*.yaml"))


def scheme_of(*overrides: str) -> Scheme:
    with initialize_config_dir(str(CONF), version_base="1.3"):
        scheme = instantiate(compose(overrides=list(overrides)).score)
    assert isinstance(scheme, Scheme)
    return scheme


@pytest.mark.parametrize("name", NAMES)
def test_score_yaml_makes_a_scheme_of_its_name(name: str):
    assert scheme_of(f"+score={name}").name == name


def test_named_weightings_share_their_formulas_and_differ_in_weights():
    schemes = [scheme_of(f"+score={name}") for name in NAMES]
    assert len({scheme.formulas for scheme in schemes}) == 1
    assert len({scheme.weights for scheme in schemes}) == len(NAMES) >= 4


def test_a_formula_is_chosen_on_the_command_line():
    assert scheme_of("+score=edge", "score.formulas.cdc=gini").formulas.cdc == "gini"


def test_a_misspelt_weight_or_formula_fails_at_build_time():
    with pytest.raises(InstantiationException, match="CDR"):
        scheme_of("+score=edge", "+score.weights.CDR=2")
    with pytest.raises(InstantiationException, match="choose one of population"):
        scheme_of("+score=edge", "score.formulas.cdc=mean")
