from __future__ import annotations

import pytest
from omegaconf import OmegaConf

from argus.configuration import conf_dir
from argus.pocket.ceiling import STYLES, oracle


@pytest.mark.parametrize("style", STYLES)
def test_the_ceiling_of_a_pocket_dataset_is_what_a_true_caption_reaches(style: str) -> None:
    stated = OmegaConf.load(conf_dir() / "dataset" / f"{style}.yaml")["caption_ceilings"]["pocket"]
    assert stated == pytest.approx(max(oracle(style)), abs=0.005)
