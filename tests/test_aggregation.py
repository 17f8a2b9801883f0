"""An aggregation of a stored sweep: what it writes for others to read."""

from __future__ import annotations

import json
import re
import runpy
import sqlite3
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pandas as pd
import pytest
from hydra import compose, initialize_config_dir
from omegaconf import DictConfig
from rich.console import Console

from argus import tracking
from argus.aggregation import Aggregate, aggregate_sweep
from argus.configuration import conf_dir
from argus.errors import DataError
from argus.stored_sweep import evidence_of, read_sweep
from argus.tracking import Store

SYNTHETIC = runpy.run_path(str(Path(__file__).parents[1] / "benchmarks" / "aggregate.py"))
COSTS = "score.formulas.costs=[latency_p50_ms,throughput_per_s,parameters]"


def score(*overrides: str) -> DictConfig:
    with initialize_config_dir(str(conf_dir()), version_base=None):
        return compose("aggregate", overrides=[COSTS, "score.bootstrap.resamples=200", *overrides]).score


@pytest.fixture
def sweep(store: Store) -> str:
    """Two models' cells on two data sets, 40 pictures each."""
    planned = [key for key in SYNTHETIC["keys"](2 * 49) if key.dataset in ("coco", "clevr") and key.severity in (0, 3)]
    return SYNTHETIC["make_sweep"](store, planned, 40)


@pytest.fixture
def aggregated(store: Store, sweep: str) -> Aggregate:
    return aggregate_sweep(store, sweep, score(), Console(file=StringIO(), width=100))


def artifact(store: Store, run: str, name: str, read: Callable[[Path], object]) -> object:
    with tracking.fetched(store, run, name) as path:
        return read(path)


def test_every_figure_has_its_interval_in_json_metrics_and_tables(store: Store, aggregated: Aggregate) -> None:
    document = artifact(store, aggregated.run_id, "scores.json", lambda path: json.loads(path.read_text()))
    for card in document["models"].values():
        parts = ("by_dataset", "by_task", "by_perturbation", "by_family", "by_modality")
        groups = [of[part] for of in (card, card["shared"]) for part in parts]
        assert set(card["by_family"]) == {"image/blur", "text/typing"}
        for value in [
            *(card[name] for name in ("P", "CDC", "RR", "E", "overall")),
            *(v for g in groups for v in g.values()),
        ]:
            assert value["interval"][0] <= value["value"] <= value["interval"][1]
    runs = tracking.find(store, store.scores_experiment, "tags.`argus.kind` = 'scorecard'")
    parts = (
        "common.P",
        "dataset.coco",
        "task.reasoning",
        "RR.blur",
        "RR.text.typing",
        "shared.RR.blur",
        "shared.task.reasoning",
    )
    for name in ("P", "CDC", "RR", "E", "overall", *parts):
        assert runs[0].metrics[f"{name}_low"] <= runs[0].metrics[name] <= runs[0].metrics[f"{name}_high"]
    scores = artifact(store, aggregated.run_id, "scores.parquet", pd.read_parquet)
    assert (scores.P_low < scores.P).all()
    cells = artifact(store, aggregated.run_id, "cells.parquet", pd.read_parquet)
    assert (cells.score_low < cells.score).all()
    captioned = cells[cells.task == "captioning"]
    assert (captioned["metrics.bleu_4_low"] < captioned["metrics.bleu_4_high"]).all()


def test_runs_bear_the_start_of_their_sweep_so_that_those_of_two_sweeps_are_told_apart(store: Store) -> None:
    planned = [key for key in SYNTHETIC["keys"](49) if key.dataset == "clevr" and key.severity == 0]
    sweeps = [SYNTHETIC["make_sweep"](store, planned, 10, hits) for hits in (0.8, 0.7)]
    for sweep in sweeps:
        aggregate_sweep(store, sweep, score("score.bootstrap.resamples=0"), Console(file=StringIO()))
    runs = tracking.find(store, store.scores_experiment, "")
    names = {run.name for run in runs}
    assert len(names) == len(runs) == 4
    started = r"20\d\d-\d\d-\d\d \d\d:\d\d"
    assert all(re.fullmatch(rf"(aggregation|model0) · equal · {started}( [0-9a-f]{{4}})?", name) for name in names)


def test_the_same_seed_gives_the_same_intervals_and_another_seed_others(store: Store, sweep: str) -> None:
    def intervals(*overrides: str) -> list[tuple[float, float] | None]:
        found = aggregate_sweep(store, sweep, score(*overrides), Console(file=StringIO()))
        return [card.own.P.interval for card in found.analysis.scorecards]

    assert intervals() == intervals()
    assert intervals() != intervals("score.bootstrap.seed=1")
    assert intervals("score.bootstrap.resamples=0") == [None, None]


def test_a_run_of_an_older_argus_is_named_and_has_a_score_without_an_interval(store: Store, sweep: str) -> None:
    found = read_sweep(store, sweep)
    clean = next(c for c in found.cells if (c.key.task, c.key.modality, c.key.model) == ("reasoning", "none", "model0"))
    (Path(found.locations[clean.run_id]) / "image_sums.parquet").unlink()
    cards = aggregate_sweep(store, sweep, score(), Console(file=StringIO())).analysis.scorecards
    lacking, whole = cards
    assert lacking.own.P.value is not None
    assert lacking.own.P.interval is None
    assert whole.own.P.interval is not None
    assert any("no interval for what stands on 1 of" in note and "image_sums.parquet" in note for note in lacking.notes)


def test_artifacts_on_this_machine_are_read_where_they_lie(store: Store, sweep: str) -> None:
    found = read_sweep(store, sweep)
    cell = found.cells[0]
    with tracking.opened(store, cell.run_id, found.locations[cell.run_id], "image_sums.parquet") as path:
        assert path.is_relative_to(found.locations[cell.run_id])
    with tracking.opened(store, cell.run_id, "mlflow-artifacts:/1/x/artifacts", "image_sums.parquet") as path:
        assert not path.is_relative_to(found.locations[cell.run_id])
        assert path.is_file()
    assert len(evidence_of(store, found).sums(cell).image_ids) == 40


def test_every_analysis_has_its_table_and_its_place_in_the_json(store: Store, aggregated: Aggregate) -> None:
    names = ("differences", "ranks", "leads", "weights", "alternatives", "gap", "breakage", "breakage_by_perturbation")
    tables = {name: artifact(store, aggregated.run_id, f"{name}.csv", pd.read_csv) for name in names}
    assert tables["differences"].figure.tolist() == ["P", "CDC", "RR", "E", "overall"]  # of one pair of models
    assert tables["weights"].won.sum() == pytest.approx(1)
    assert len(tables["breakage"]) == 2 * 3 * 2  # models, tasks, perturbations
    document = artifact(store, aggregated.run_id, "scores.json", lambda path: path.read_text())
    assert "NaN" not in document
    analysis = json.loads(document)["analysis"]
    assert set(analysis) == {
        "differences", "ranks", "CDC_corrected", "gap", "weights", "alternatives", "breakage",
        "corruption", "leads",
    }  # fmt: skip
    assert sum(one["probabilities"][0] for one in analysis["ranks"] if one["figure"] == "overall") == pytest.approx(1)


def test_what_is_won_less_what_is_lost_is_what_the_score_changed(store: Store, aggregated: Aggregate) -> None:
    cells = artifact(store, aggregated.run_id, "cells.parquet", pd.read_parquet)
    broken = artifact(store, aggregated.run_id, "breakage.parquet", pd.read_parquet)
    scores = cells.set_index(["model", "dataset", "task", "perturbation"]).score
    hits = broken[broken.task != "captioning"]
    assert len(hits) == 8
    for row in hits.itertuples():
        change = (
            scores[row.model, row.dataset, row.task, row.perturbation]
            - scores[row.model, row.dataset, row.task, "clean"]
        )
        assert row.corrective - row.destructive == pytest.approx(change)


def test_findings_say_how_far_to_trust_the_ranking(store: Store, sweep: str) -> None:
    console = Console(file=StringIO(), width=200)
    aggregate_sweep(store, sweep, score(), console)
    printed = console.file.getvalue()
    assert "How far to trust the ranking" in printed
    assert "of all weightings, " in printed


def test_a_report_is_kept_as_a_page_and_as_markdown_and_the_terminal_says_where(store: Store, sweep: str) -> None:
    console = Console(file=StringIO(), width=100)
    found = aggregate_sweep(store, sweep, score(), console)
    kept = artifact(store, found.run_id, "report.html", lambda path: path.read_text())
    assert kept == found.html
    assert "model0" in kept
    assert "Some examples could not be read" in kept  # synthetic cells keep none
    assert "## Scores" in artifact(store, found.run_id, "report.md", lambda path: path.read_text())
    place = next(line for line in console.file.getvalue().splitlines() if line.startswith("Report: "))
    assert Path(place.removeprefix("Report: ")).read_text() == kept


def test_a_report_that_fails_is_told_and_costs_no_score(
    store: Store, sweep: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ValueError("no ink")

    monkeypatch.setattr("argus.aggregation.report_of", fail)
    console = Console(file=StringIO(), width=200)
    found = aggregate_sweep(store, sweep, score(), console)
    assert found.html is None
    assert "the scores are kept, but the report could not be written: ValueError('no ink')" in console.file.getvalue()
    assert "no ink" in artifact(store, found.run_id, "report_traceback.txt", lambda path: path.read_text())
    assert tracking.get(store, found.run_id).status == "FINISHED"
    assert len(tracking.find(store, store.scores_experiment, "tags.`argus.kind` = 'scorecard'")) == 2


def test_cells_of_two_seeds_in_one_sweep_are_an_error_that_names_them(store: Store, sweep: str) -> None:
    cell = read_sweep(store, sweep).cells[0]
    with sqlite3.connect(store.root / "mlflow.db") as database:  # a logged parameter is not to be changed otherwise
        changed = database.execute("UPDATE params SET value = '1' WHERE key = 'seed' AND run_uuid = ?", (cell.run_id,))
        assert changed.rowcount == 1
    with pytest.raises(DataError, match="several values of seed: 0, 1"):
        read_sweep(store, sweep)
