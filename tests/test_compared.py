"""What a sweep compared, told by what its cells logged."""

from __future__ import annotations

import json

import pytest

from argus.compared import checkpoints, deployments, prompts
from argus.records import CellKey, CellResult

DIGEST = "a" * 64
BLIP = {
    "model.checkpoint.retrieval": "x/itm",
    "model.checkpoint.vqa": "x/vqa",
    "model.loaded_revision": f"retrieval=sha256:{DIGEST},vqa=missing",
}
GEMMA = {
    "model.checkpoint": "x/gemma",
    "model.loaded_revision": "abc",
    "model.adapter.caption_prompt": "Describe.",
    "model.adapter.match_prompt": 'Does "{caption}" match?',
}


def cell(model: str, task: str, status: str = "FINISHED", parameters: float = 0.0) -> CellResult:
    key = CellKey(model, "coco", task, "clean", "none", 0, "cpu")
    costs = {"parameters": parameters} if parameters else {}
    return CellResult(key, status, f"{model}-{task}", 0.5, 10, (), {}, costs, {})


def logged(cells, base, **deployed):
    """Parameters of cells, with what each task deploys where it is told."""
    return {
        one.run_id: base | ({"model.deployed_parameters": json.dumps(deployed[one.key.task])} if deployed else {})
        for one in cells
    }


def test_each_checkpoint_is_named_with_its_role_and_its_revision_in_short():
    cells = [cell("blip", "retrieval")]
    assert checkpoints(cells, logged(cells, BLIP)) == {
        "blip, retrieval": "x/itm at revision sha256:aaaaaaaaaaaa…",
        "blip, vqa": "x/vqa at revision missing",
    }


def test_roles_of_one_checkpoint_stand_together_and_a_detector_is_called_one():
    base = {f"model.checkpoint.{role}": "x/lxmert" for role in ("matching", "answers")}
    base |= {"model.checkpoint.regions": "x/regions", "model.loaded_revision": "matching=1,answers=1,regions=2"}
    cells = [cell("lxmert", "retrieval")]
    assert checkpoints(cells, logged(cells, base)) == {
        "lxmert, matching and answers": "x/lxmert at revision 1",
        "lxmert, detector of regions": "x/regions at revision 2",
    }


def test_one_checkpoint_needs_no_role_and_a_server_is_named_by_what_it_serves():
    cells = [cell("gemma", "retrieval"), cell("server", "retrieval"), cell("never", "retrieval", "MISSING")]
    served = {
        "model.served": "tiny",
        "model.base_url": "http://h/v1",
        "model.loaded_revision": "tiny (by a, version 1)",
    }
    assert checkpoints(cells, {"gemma-retrieval": GEMMA, "server-retrieval": served}) == {
        "gemma": "x/gemma at revision abc",
        "never": "unknown checkpoint",
        "server": "tiny, http://h/v1 at revision tiny (by a, version 1)",
    }


def test_weights_of_all_tasks_are_deployed_and_shared_ones_once():
    cells = [cell("lxmert", "retrieval"), cell("lxmert", "reasoning"), cell("clip", "captioning", parameters=5.0)]
    parts = {"retrieval": {"encoder": 100, "top a": 2, "detector": 30}, "reasoning": {"encoder": 100, "top b": 3}}
    params = logged(cells[:2], {}, **parts) | logged(cells[2:], {"model.checkpoint": "x/clip"})
    clip, lxmert = deployments(cells, params)
    assert lxmert.parameters.value == 135
    assert lxmert.tasks == ("reasoning", "retrieval")
    assert lxmert.lacking == ("captioning",)
    assert clip.parameters.value == 5  # an older run, of one checkpoint


@pytest.mark.parametrize(
    ("base", "deployed", "status", "reason"),
    [
        (BLIP, {}, "FINISHED", "older than the record"),
        (BLIP, {"retrieval": {"a": 1}, "reasoning": {"b": 1}}, "FAILED", "no finished cell of reasoning"),
        ({}, {"retrieval": {}, "reasoning": {}}, "FINISHED", "on a server"),
        ({}, {"retrieval": {"model": 1}, "reasoning": {"model": 2}}, "FINISHED", "do not tell which they share"),
    ],
)
def test_a_total_that_is_not_known_is_a_gap_with_its_reason_and_no_guess(base, deployed, status, reason):
    cells = [cell("blip", "retrieval", parameters=7.0), cell("blip", "reasoning", status, 9.0)]
    (found,) = deployments(cells, logged(cells, base, **deployed))
    assert found.parameters.value is None
    assert reason in found.parameters.gap


def test_prompts_are_told_of_models_that_have_any_and_for_the_tasks_of_the_sweep():
    cells = [cell("gemma", "captioning"), cell("blip", "captioning"), cell("never", "captioning", "MISSING")]
    params = {"gemma-captioning": GEMMA, "blip-captioning": BLIP | {"model.adapter.caption_prompt": ""}}
    assert prompts(cells, params) == {"gemma": {"captioning": "Describe."}}
