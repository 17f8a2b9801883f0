"""What was compared, as a reader finds it."""

from __future__ import annotations

from dataclasses import replace

from argus.report.html.background import Deployment
from argus.report.html.opening import compared
from argus.report.html.parts import Table
from argus.scoring.records import Value


def tables(analysis, background):
    return [block for block in compared(analysis, background).blocks if isinstance(block, Table)]


def test_the_weights_to_deploy_are_told_in_millions_or_as_a_gap(small, background):
    found = (
        Deployment("blip", ("captioning", "retrieval"), (), Value(5.25e6, "")),
        Deployment("lxmert", ("retrieval",), ("captioning",), Value(None, "", "too old")),
    )
    table = tables(small, replace(background, deployments=found))[1]
    blip, lxmert = table.rows
    assert [cell.text for cell in blip] == ["blip", "5.250", "captioning, retrieval"]
    assert [(cell.text, cell.under) for cell in lxmert[1:]] == [
        ("gap", "too old"),
        ("retrieval", "cannot do captioning"),
    ]


def test_prompts_have_a_row_for_each_model_that_is_prompted_and_no_table_without_any(small, background):
    given = {"gemma": {"captioning": "Describe."}, "qwen": {"captioning": "Caption?", "retrieval": "{caption}?"}}
    table = tables(small, replace(background, prompts=given))[-1]
    assert table.columns == ("model", "captioning", "retrieval")
    assert [cell.text for cell in table.rows[0]] == ["gemma", "Describe.", "–"]
    assert len(tables(small, background)) == 1
