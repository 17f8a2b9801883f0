from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from argus.report.weightings import Job, Margin, Outcome, labels, outcome_of, sentence, weightings_table

CLEAR, CLOSE = Margin("blip", 0.05, 0.002, True), Margin("blip", 0.01, 0.4, False)


def job(name: str, clip: float, blip: float, lead: Margin | None = None) -> Job:
    return Job(f"score={name}", Outcome({"clip": clip, "blip": blip}, lead))


def printed(jobs: list[Job]) -> list[str]:
    console = Console(width=80, no_color=True, file=StringIO())
    console.print(weightings_table(jobs))
    assert isinstance(console.file, StringIO)
    return console.file.getvalue().splitlines()


def row(lines: list[str], label: str) -> str:
    at = next(place for place, line in enumerate(lines) if line.strip().startswith(label))
    return " ".join(" ".join(lines[at : at + 3]).split())


def test_a_row_says_who_wins_whether_that_is_another_one_and_how_sure_it_is():
    lines = printed([job("equal", 0.7, 0.6, CLEAR), job("edge", 0.5, 0.6, Margin("clip", 0.1, 0.4, False))])
    assert row(lines, "score=equal") == "score=equal 0.700* 0.600 clip blip by 0.050 beyond noise p 0.002"
    assert row(lines, "score=edge") == "score=edge 0.500 0.600* blip clip by 0.100 changed not told apart p 0.400"


def test_a_table_of_five_models_fits_80_columns_with_no_figure_folded():
    overall = dict.fromkeys(("clip", "blip", "gemma", "lxmert", "qwen"), 0.5) | {"lxmert": 0.6}
    lines = printed([Job(f"score={name}", Outcome(overall, CLEAR)) for name in ("reliability", "edge")])
    assert max(map(len, lines)) <= 80
    assert "score=reliability 0.500 0.500 0.500 0.600* 0.500 lxmert blip by 0.050" in row(lines, "score=rel")


def test_the_sentence_counts_the_weightings_that_a_model_wins_and_names_the_others():
    three = [job(name, 0.7, 0.6, CLEAR) for name in ("equal", "capability", "reliability")]
    assert sentence([*three, job("edge", 0.5, 0.6, CLOSE)]) == (
        "clip wins under 3 of 4 weightings (beyond noise); "
        "blip wins under score=edge (not told apart from the second); the winner changes"
    )
    assert sentence([*three[:2], job("edge", 0.7, 0.6, CLOSE)]) == (
        "clip wins under all 3 weightings (beyond noise under 2 of them); the winner does not change"
    )


def test_a_failed_job_has_its_row_and_wins_nothing():
    jobs = [job("equal", 0.7, 0.6, CLEAR), Job("score=edge", Outcome({}, error="the disk is full"))]
    assert row(printed(jobs), "score=edge").startswith("score=edge - - failed -")
    assert sentence(jobs).endswith("; no winner is known under score=edge")


def test_models_without_an_overall_score_have_no_winner():
    assert sentence([Job("score=equal", Outcome({"clip": None})), Job("score=edge", Outcome({"clip": None}))]) == (
        "no winner under any of them: fewer than two models have an overall score over cells that all have"
    )


def test_a_model_without_a_rival_wins_nothing():
    jobs = [job("equal", 0.7, 0.6, CLEAR), Job("score=edge", Outcome({"clip": 0.5, "blip": None}))]
    assert row(printed(jobs), "score=edge").startswith("score=edge 0.500 gap no rival -")
    assert sentence(jobs).startswith("clip wins under 1 of 2 weightings")
    assert sentence(jobs).endswith("no winner is known under score=edge")


def test_jobs_that_differ_in_more_than_weights_are_no_weightings():
    jobs = [Job(label, job("", 0.7, 0.6, CLEAR).outcome) for label in ("score.formulas.cdc=gini", "score=edge")]
    assert "under all 2 jobs" in sentence(jobs)
    assert "Does the winner stay the same?" in printed(jobs)[0]


def test_a_label_is_what_sets_a_job_apart():
    same = "tracking.root=/tmp/x"
    assert labels([["score=equal", same], ["score=edge", same]]) == ["score=equal", "score=edge"]
    assert labels([["score=edge", same], ["score=edge", same]]) == [f"score=edge {same}"] * 2


@pytest.mark.parametrize("models", [("clip", "gemma"), ("clip",)])
def test_an_outcome_has_the_overall_scores_and_the_lead_over_the_second(models, make_analysis, make_sweep):
    analysis = make_analysis(make_sweep(models))
    outcome = outcome_of(analysis)
    assert outcome.overall == {card.name: card.common.overall.value for card in analysis.scorecards}
    if len(models) == 1:
        assert outcome.lead is None
        return
    (found,) = (one for one in analysis.differences if one.figure == "overall")
    assert outcome.lead is not None
    assert {*outcome.winners, outcome.lead.second} == {found.first, found.second}
    assert (outcome.lead.p, outcome.lead.beyond_noise) == (found.p_holm, found.beyond_noise)
    assert outcome.lead.value > 0
