from __future__ import annotations

import json
import math
from io import StringIO

import pytest
from rich.console import Console

from argus.records import CellKey, DroppedCell
from argus.report.export import as_json
from argus.report.frames import cells_frame, curves, frame
from argus.report.ranking import best, gap_sentence, ranked
from argus.report.table import breakdown, clean_scores, notes, report
from argus.scoring.scheme import Weights
from argus.scoring.vector import score_models


def never(clean, perturbed):
    raise AssertionError("the samples are the same")


@pytest.fixture
def cells(make_cell):
    """gemma is the most capable; clip is even and robust; blip failed one cell and cannot be perturbed by text."""

    def model(name: str, coco: float, clevr: float, blurred: float):
        return [
            make_cell(name, "coco", "retrieval", coco),
            make_cell(name, "clevr", "reasoning", clevr),
            make_cell(name, "coco", "retrieval", coco * blurred, "blur", 1, "image"),
            make_cell(name, "coco", "retrieval", coco * blurred / 2, "blur", 5, "image"),
        ]

    blip = [
        make_cell("blip", "coco", "retrieval", 0.6),
        make_cell("blip", "clevr", "reasoning", None, status="FAILED", reason="out of memory"),
        make_cell("blip", "coco", "retrieval", 0.66, "blur", 1, "image"),
        make_cell("blip", "coco", "retrieval", 0.66, "blur", 5, "image"),
    ]
    return [*model("gemma", 0.9, 0.5, 0.6), *model("clip", 0.5, 0.5, 0.9), *blip]


@pytest.fixture
def dropped():
    keys = [CellKey("blip", "coco", "retrieval", "typo", "text", severity, "cpu") for severity in (3, 5)]
    return [DroppedCell(key, "reads no text") for key in keys]


def printed(renderable) -> str:
    console = Console(width=100, no_color=True, file=StringIO())
    console.print(renderable)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


@pytest.fixture
def cards(cells, dropped, make_scheme):
    return score_models(cells, make_scheme(Weights(1, 0, 1, 1)), never, dropped)


def test_json_has_the_promised_shape(cards, make_scheme):
    document = json.loads(json.dumps(as_json(cards, make_scheme()), allow_nan=False))
    clip = document["models"]["clip"]
    assert clip["P"]["value"] == 0.5
    assert clip["CDC"]["value"] == 1.0
    assert clip["coverage"] == "4 of 4 cells"
    assert clip["common"]["P"]["over"] == "1 of 2 clean cells"
    assert clip["by_perturbation"]["blur"]["by_severity"]["5"]["value"] == pytest.approx(0.45)
    assert document["models"]["blip"]["CDC"] == {
        "value": None,
        "over": "1 of 2 datasets",
        "gap": "needs two datasets, has coco",
        "notes": [],
        "interval": None,
    }
    assert document["models"]["blip"]["missing"] == [
        {"cell": "clevr/reasoning/clean", "reason": "FAILED: out of memory"}
    ]
    assert document["weights"] == {"P": 1, "CDC": 1, "RR": 1, "E": 1}
    assert set(document["formulas"]) == {"P", "CDC", "RR", "E", "overall"}
    assert document["scheme"] == "test"


def test_ranks_come_from_the_common_cells_and_equals_share_one(make_cell, make_scheme):
    models = {"a": 0.5, "b": 0.9, "c": 0.5, "d": 0.4}
    only_p = make_scheme(Weights(1, 0, 0, 0))
    cells = [make_cell(name, "coco", "retrieval", score) for name, score in models.items()]
    easy = make_cell("d", "flickr30k", "retrieval", 1.0)  # lifts d's own mean to 0.7, not its rank
    cards = score_models([*cells, easy], only_p, never)
    assert [(rank, card.name) for rank, card in ranked(cards)] == [(1, "b"), (2, "a"), (2, "c"), (4, "d")]


def test_a_model_without_an_overall_has_no_rank_and_comes_last(make_cell, make_scheme):
    cells = [
        make_cell("a", "coco", "retrieval", None, status="FAILED"),
        make_cell("b", "coco", "retrieval", 0.1),
    ]
    cards = score_models(cells, make_scheme(Weights(1, 0, 0, 0)), never)
    assert [(rank, card.name) for rank, card in ranked(cards)] == [(1, "b"), (None, "a")]


def test_leaders_are_named_and_the_gap_between_capable_and_reliable_is_said(cards):
    assert best(cards, "P") == ("gemma",)
    assert best(cards, "RR") == ("blip",)
    sentence = gap_sentence(cards)
    assert "most capable (P): gemma" in sentence
    assert "most consistent (CDC): unknown" in sentence  # one common dataset
    assert "cheapest (E): all the same" in sentence
    assert sentence.endswith("the most capable model is not the most robust")


def test_a_model_that_leads_everything_shows_no_gap(make_cell, make_scheme):
    models = {"clip": 0.5, "blip": 0.4}
    cells = [make_cell(name, dataset, "retrieval", score) for name, score in models.items() for dataset in ("a", "b")]
    assert "is not the" not in gap_sentence(score_models(cells, make_scheme(), never))


def test_a_single_model_is_told_to_lead_nothing(make_cell, make_scheme):
    cards = score_models([make_cell("clip", "coco", "retrieval", 0.5)], make_scheme(), never)
    assert gap_sentence(cards) == ""
    assert as_json(cards, make_scheme())["leaders"] == ""
    assert "most capable" not in printed(report(cards, make_scheme()))


def test_common_and_own_cells_have_a_heading_each_and_stars_only_where_models_compare(cards, make_scheme):
    text = printed(report(cards, make_scheme(Weights(1, 0, 1, 1))))
    common, own = text[: text.index("Clean score")].split("over each model's own cells: not for comparing")
    assert "over the cells that all models have: ranks come from these" in common
    assert "*" in common
    assert "*" not in own


def test_report_fits_100_columns_and_names_every_gap_failed_and_dropped_cell(cards, make_scheme):
    text = printed(report(cards, make_scheme(Weights(1, 0, 1, 1))))
    assert max(map(len, text.splitlines())) <= 100
    joined = " ".join(text.split())
    for promise in (
        "P 1, CDC 0, RR 1, E 1",
        "blip: CDC is a gap: needs two datasets, has coco",
        "blip: without clevr/reasoning/clean (FAILED: out of memory)",
        "blip: not meant for coco/retrieval/typo-3,5 (reads no text)",
        "common: 3 of 4 cells",
        "blip: RR 1.100 is above 1",
        "own: 3 of 4 cells",
    ):
        assert promise in joined


def test_best_figure_of_each_column_is_starred_without_colour(cards, make_scheme):
    text = printed(report(cards, make_scheme(Weights(1, 0, 1, 1))))
    first_gemma = next(line for line in text.splitlines() if " gemma " in line)
    assert "0.900*" in first_gemma
    assert "0.450*" not in first_gemma


def test_model_names_are_no_markup(make_cell, make_scheme):
    cards = score_models([make_cell("clip[bold]", "coco", "retrieval", 0.5)], make_scheme(), never)
    assert "clip[bold]" in printed(report(cards, make_scheme()))


def test_models_with_the_same_cells_are_shown_once(make_cell, make_scheme):
    cards = score_models([make_cell(name, "coco", "retrieval", 0.5) for name in "ab"], make_scheme(), never)
    text = printed(report(cards, make_scheme()))
    assert "1 of 1 cells" in text
    assert "common:" not in text
    assert "own cells" not in text


def test_clean_scores_are_shown_by_dataset_and_by_task_with_gaps(cards):
    rows = [line.split() for line in printed(clean_scores(cards)).splitlines() if "dataset " in line or "task " in line]
    assert ["dataset", "clevr", "gap", "0.500*", "0.500*"] in rows
    assert ["task", "retrieval", "0.600", "0.500", "0.900*"] in rows


def test_breakdown_has_each_severity_and_the_mean(cards):
    text = printed(breakdown(cards))
    rows = [line.split() for line in text.splitlines() if "blur" in line]
    assert rows == [
        ["image", "blur", "1", "1.100*", "0.900", "0.600"],
        ["image", "blur", "5", "1.100*", "0.450", "0.300"],
        ["image", "blur", "mean", "1.100*", "0.675", "0.450"],
    ]


@pytest.fixture
def weathered(make_cell, make_scheme):
    """Two perturbations of one family and one of another, of one model."""
    clean = make_cell("clip", "coco", "retrieval", 1.0)
    fog, snow = (
        make_cell("clip", "coco", "retrieval", score, name, 3, "image", family="weather")
        for name, score in (("fog", 0.8), ("snow", 0.4))
    )
    typo = make_cell("clip", "coco", "retrieval", 0.7, "typo", 3, "text", family="typing")
    return score_models([clean, fog, snow, typo], make_scheme(), never)


def test_families_are_shown_once_one_of_them_has_several_perturbations(weathered, cards, make_scheme):
    text = printed(report(weathered, make_scheme()))
    rows = [line.split() for line in text[text.index("RR by family") :].splitlines() if " 3 " in line]
    assert rows[:2] == [["image", "weather", "3", "0.600"], ["text", "typing", "3", "0.700"]]
    assert "RR by family" not in printed(report(cards, make_scheme()))


def test_json_has_the_families_by_modality(weathered, make_scheme):
    families = as_json(weathered, make_scheme())["models"]["clip"]["by_family"]
    assert {name: one["value"] for name, one in families.items()} == pytest.approx(
        {"image/weather": 0.6, "text/typing": 0.7}
    )
    assert families["image/weather"]["by_severity"]["3"]["over"] == "2 of 2 perturbations"


def test_nothing_to_say_is_no_note(make_cell, make_scheme):
    cells = [make_cell("clip", name, "retrieval", 0.5) for name in ("coco", "clevr")]
    cells.append(make_cell("clip", "coco", "retrieval", 0.4, "blur", 3, "image"))
    assert notes(score_models(cells, make_scheme(), never)) == ()


def test_frame_has_a_row_a_model_and_nan_with_a_reason_for_a_gap(cards):
    rows = frame(cards).set_index("model")
    assert sorted(rows.index) == ["blip", "clip", "gemma"]
    assert rows.loc["clip", "P"] == 0.5
    assert math.isnan(rows.loc["blip", "CDC"])
    assert "CDC: needs two datasets" in rows.loc["blip", "gaps"]
    assert sorted(rows["rank"]) == [1, 2, 3]


def test_cells_frame_has_a_row_a_cell_with_costs_and_nan_for_no_score(cells):
    rows = cells_frame(cells, {cells[0].run_id: {"score": (0.8, 1.0)}})
    assert len(rows) == len(cells)
    failed = rows[rows.status == "FAILED"].iloc[0]
    assert (failed.model, failed.reason) == ("blip", "out of memory")
    assert math.isnan(failed.score)
    assert rows["costs.latency_p50_ms"].tolist() == [10.0] * len(cells)


def test_frames_survive_csv_and_parquet(cards, cells, tmp_path):
    for name, rows in (("cards", frame(cards)), ("cells", cells_frame(cells, {}))):
        rows.to_csv(tmp_path / f"{name}.csv", index=False)
        rows.to_parquet(tmp_path / f"{name}.parquet")


def test_what_is_left_at_each_severity_is_a_curve_from_1_on(cards):
    blip, clip, _ = cards
    assert clip.name == "clip"
    assert curves(clip) == {0: {"curve.blur": 1.0}, 1: {"curve.blur": 0.9}, 5: {"curve.blur": 0.45}}
    assert curves(blip)[5] == {"curve.blur": pytest.approx(1.1)}


def test_a_single_severity_is_no_curve(make_cell, make_scheme):
    cells = [make_cell("m", "coco", "retrieval", 1.0), make_cell("m", "coco", "retrieval", 0.5, "blur", 3, "image")]
    (card,) = score_models(cells, make_scheme(), never)
    assert curves(card) == {}
