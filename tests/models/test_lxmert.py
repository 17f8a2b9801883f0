from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from argus.efficiency.weights import count, parameters, parameters_by_part
from argus.errors import ArgusError, ConfigError, DataError
from argus.models.base import Choice
from argus.models.loading import digest
from argus.models.lxmert import Lxmert, read_labels
from argus.models.regions.pocket import PocketRegions, load_detector
from argus.tasks.captioning import Captioning
from argus.tasks.sense import why_not
from tests.models.plain import PlainLxmert

TEXTS = ["a", "a red cube on the left", "seven blue balls, seven!", "no"]
LABELLED = [
    Choice("What is red?", ("cube", "yes", "blue")),
    Choice("no", ("yes", "no")),
    Choice("How many of the small things are in the image on the left?", ("2", "Red ", "cube", "blue")),
]
SENTENCES = [Choice("What is this?", ("a red cube.", "it is blue on the left side", "7", "x" * 12))]
QUESTIONS = [LABELLED[0], *SENTENCES, *LABELLED[1:]]
MIXED = Choice("What is it?", ("cube", "sphere", "cyan"))


def make(folder: Path, runtime, **changes) -> Lxmert:
    settings = {
        "checkpoint": {"matching": str(folder), "answers": str(folder)},
        "revision": {"matching": None, "answers": None},
        "labels": None,
        "regions": PocketRegions(str(folder / "regions"), None),
        "choose_by": "labels",
        "pairs_at_once": 3,
    }
    return Lxmert(**{**settings, **changes}, runtime=runtime)


@pytest.fixture(scope="module")
def lxmert(lxmert_folder, runtime) -> Lxmert:
    return make(lxmert_folder, runtime)


def plain_regions(folder: Path, image: Image.Image) -> dict[str, torch.Tensor]:
    """The five likeliest cells by a plain loop: peaks among their neighbours first, then the rest."""
    detector = load_detector(folder / "regions")
    small = np.asarray(image.resize((32, 32), Image.Resampling.BICUBIC), dtype=np.float32) / 255
    with torch.no_grad():
        cells = detector(torch.tensor(small).permute(2, 0, 1)[None])
    score = cells.objectness[0].view(4, 4)

    def rank(cell: int) -> tuple[bool, float]:
        row, column = divmod(cell, 4)
        around = score[max(row - 1, 0) : row + 2, max(column - 1, 0) : column + 2]
        return bool(score[row, column] >= around.max()), float(score[row, column])

    best = sorted(range(16), key=rank, reverse=True)[:5]
    return {"visual_feats": cells.features[:, best], "visual_pos": cells.boxes[:, best]}


def test_matching_scores_equal_those_of_the_plain_model(lxmert, lxmert_folder, images):
    plain = PlainLxmert(lxmert_folder)
    matched = lxmert.match(images, [TEXTS] * len(images))
    for image, row in zip(images, matched, strict=True):
        seen = plain_regions(lxmert_folder, image)
        assert row.tolist() == pytest.approx([plain.match(seen, text) for text in TEXTS], abs=1e-4)
    assert torch.stack(matched).std(dim=0).min() > 1e-3  # the picture matters
    assert torch.stack(matched).std(dim=1).min() > 1e-3  # the text matters


def test_answer_scores_are_the_log_probabilities_of_the_plain_answer_head(lxmert, lxmert_folder, images):
    plain = PlainLxmert(lxmert_folder)
    for image, scores in zip(images, lxmert.choose(images, [LABELLED] * len(images)), strict=True):
        seen = plain_regions(lxmert_folder, image)
        for asked, found in zip(LABELLED, scores, strict=True):
            assert found.tolist() == pytest.approx(plain.choose(seen, asked), abs=1e-4)


def test_sentences_are_chosen_by_matching_question_and_choice(lxmert, images):
    scores = lxmert.choose(images, [QUESTIONS] * len(images))
    texts = [f"{SENTENCES[0].question} {choice}" for choice in SENTENCES[0].choices]
    for image, found in zip(images, scores, strict=True):
        torch.testing.assert_close(found[1], lxmert.match([image], [texts])[0], atol=1e-5, rtol=0)
        torch.testing.assert_close(found[0], lxmert.choose([image], [LABELLED[:1]])[0][0], atol=1e-5, rtol=0)


def test_choices_of_which_only_some_are_answers_are_an_error_that_names_them(lxmert, images):
    with pytest.raises(DataError, match=r"2 are none of the 6 answers.*'sphere', 'cyan'.*choose_by=known_labels"):
        lxmert.choose(images[:1], [[MIXED]])


def test_what_is_no_answer_is_never_chosen_where_that_is_wished(lxmert_folder, runtime, images):
    model = make(lxmert_folder, runtime, choose_by="known_labels")
    for found in model.choose(images, [[MIXED]] * len(images)):
        assert found[0][0] > found[0][1] == found[0][2]
    assert model.choose(images[:1], [SENTENCES])[0][0].argmax() < 4


def test_every_question_goes_to_the_matching_head_where_that_is_wished(lxmert_folder, runtime, images):
    model = make(lxmert_folder, runtime, choose_by="matching")
    expected = model.match(images[:1], [[f"{MIXED.question} {choice}" for choice in MIXED.choices]])[0]
    torch.testing.assert_close(model.choose(images[:1], [[MIXED]])[0][0], expected, atol=1e-5, rtol=0)


def test_answers_can_be_named_by_a_file(lxmert, lxmert_folder, runtime, images, tmp_path):
    names = ["yes", "no", "red", "blue", "cube", "2"]
    (tmp_path / "list.json").write_text(json.dumps(names))
    (tmp_path / "table.json").write_text(json.dumps({name: number for number, name in enumerate(names)}))
    expected = lxmert.choose(images[:1], [LABELLED])[0]
    for file in ("list.json", "table.json"):
        found = make(lxmert_folder, runtime, labels=str(tmp_path / file)).choose(images[:1], [LABELLED])[0]
        assert all(torch.equal(one, other) for one, other in zip(found, expected, strict=True))


def test_a_table_that_does_not_belong_to_the_head_is_an_error(lxmert_folder, runtime, images, tmp_path):
    for wrong in (list("abcdefg"), [f"LABEL_{number}" for number in range(6)], [], "yes"):
        (tmp_path / "labels.json").write_text(json.dumps(wrong))
        model = make(lxmert_folder, runtime, labels=str(tmp_path / "labels.json"))
        with pytest.raises(DataError, match=r"labels\.json"):
            model.choose(images[:1], [LABELLED])
    with pytest.raises(DataError, match=r"cannot read the answers.*nowhere"):
        read_labels(tmp_path / "nowhere")


def test_scores_do_not_depend_on_the_company(lxmert, images, odd_images):
    pictures = [*images, *odd_images, *images[:4]]
    assert len(pictures) == 16
    chosen, matched = lxmert.choose(pictures, [QUESTIONS] * 16), lxmert.match(pictures, [TEXTS] * 16)
    for picture, scores, matches in zip(pictures, chosen, matched, strict=True):
        for asked, score in zip(QUESTIONS, scores, strict=True):
            torch.testing.assert_close(score, lxmert.choose([picture], [[asked]])[0][0], atol=1e-5, rtol=0)
        for text, match in zip(TEXTS, matches, strict=True):
            torch.testing.assert_close(match, lxmert.match([picture], [[text]])[0][0], atol=1e-5, rtol=0)


def test_another_number_of_texts_for_each_image_keeps_their_order(lxmert, images):
    texts = [TEXTS, [], TEXTS[::-1], TEXTS[:1]]
    scores = lxmert.match(images[:4], texts)
    assert [len(row) for row in scores] == [4, 0, 4, 1]
    assert lxmert.choose(images[:2], [[], QUESTIONS])[0] == []
    assert lxmert.match(images[:1], [[]])[0].shape == (0,)
    torch.testing.assert_close(scores[2].flip(0), lxmert.match(images[2:3], [TEXTS])[0], atol=1e-5, rtol=0)


def test_regions_lie_within_any_picture(lxmert, images, odd_images):
    regions = lxmert.regions.extract([*images, *odd_images], "cpu")
    assert regions.features.shape == (12, 5, 12)
    assert regions.boxes.shape == (12, 5, 4)
    assert regions.boxes.min() >= 0
    assert regions.boxes.max() <= 1
    assert (regions.boxes[..., 2:] >= regions.boxes[..., :2]).all()


def test_a_long_text_is_cut_at_the_last_position(lxmert, images):
    fits, long = "a " * 62, "a " * 63  # 64 positions, two of them for the first and last token
    scores = lxmert.match(images[:1], [[fits, long]])[0]
    assert scores[0] == pytest.approx(scores[1].item(), abs=1e-5)


def test_captions_are_left_out_with_the_reason():
    reason = why_not(Captioning, Lxmert, "none", "", ("captioning",))
    assert reason == "the model writes no text and embeds no pictures, so it cannot do captioning"


def test_each_task_counts_the_encoder_its_head_and_the_detector(lxmert_folder, runtime, images):
    model = make(lxmert_folder, runtime)
    encoder, head, detector = model.modules("retrieval")
    assert head.out_features == 2
    assert detector.config.side == 32
    assert model.modules("reasoning")[1].logit_fc[-1].out_features == 6
    assert make(lxmert_folder, runtime, choose_by="matching").modules("reasoning")[1].out_features == 2
    assert sum(weight.numel() for weight in encoder.parameters()) > 1000


def test_heads_of_one_checkpoint_share_their_encoder_and_all_tasks_the_detector(lxmert_folder, runtime):
    model = make(lxmert_folder, runtime)
    reasoning = parameters_by_part(model.parts("reasoning"))
    assert sum(reasoning.values()) == count(parameters(model.modules("reasoning")))
    retrieval = parameters_by_part(model.parts("retrieval"))
    assert set(retrieval) & set(reasoning) == {f"encoder {digest(lxmert_folder)}", "detector"}
    both = parameters_by_part(model.parts("reasoning"))  # questions without labels have gone to the matching head
    assert both == retrieval | reasoning
    assert len(both) == 4


def test_the_revision_names_heads_and_detector_and_says_what_is_missing(lxmert_folder, runtime, tmp_path):
    model = make(lxmert_folder, runtime, regions=PocketRegions(str(tmp_path / "nowhere"), None))
    assert model.revision == f"matching={digest(lxmert_folder)},answers={digest(lxmert_folder)},regions=missing"
    whole = make(lxmert_folder, runtime)
    assert whole.revision.endswith(f"regions={digest(lxmert_folder / 'regions')}")


def test_missing_weights_and_impossible_settings_are_errors(lxmert_folder, runtime, images, tmp_path):
    with pytest.raises(ConfigError, match="matching, answers"):
        make(lxmert_folder, runtime, checkpoint={"matching": str(lxmert_folder)})
    with pytest.raises(ConfigError, match="choose_by of LXMERT is 'luck'"):
        make(lxmert_folder, runtime, choose_by="luck")
    model = make(lxmert_folder, runtime, regions=PocketRegions(str(tmp_path / "nowhere"), None))
    with pytest.raises(DataError, match="nowhere"):
        model.match(images[:1], [TEXTS])
    with pytest.raises(DataError, match="holds no pocket detector"):
        make(lxmert_folder, runtime, regions=PocketRegions(str(lxmert_folder), None)).match(images[:1], [TEXTS])


def test_a_detector_of_other_features_is_an_error(lxmert_folder, runtime, images, tmp_path):
    from argus.models.regions.pocket import Detector, DetectorConfig, save_detector

    save_detector(Detector(DetectorConfig(32, (4, 4, 4, 4, 10), 5, (2,))), tmp_path)
    model = make(lxmert_folder, runtime, regions=PocketRegions(str(tmp_path), None))
    with pytest.raises(ConfigError, match=r"features of 10 numbers.*reads 12"):
        model.match(images[:1], [TEXTS])


def test_values_that_are_not_finite_are_an_error(lxmert_folder, runtime, images):
    model = make(lxmert_folder, replace(runtime, dtype="bfloat16"))
    for task in ("retrieval", "reasoning"):
        with torch.no_grad():
            model.modules(task)[0].pooler.dense.weight[0] = torch.nan
    with pytest.raises(ArgusError, match="LXMERT gave NaN"):
        model.match(images[:1], [TEXTS])


def test_use_prints_nothing_and_warns_nothing(lxmert_folder, runtime, images, capfd, recwarn):
    model = make(lxmert_folder, runtime)
    model.choose(images, [QUESTIONS] * len(images))
    model.match(images, [TEXTS] * len(images))
    assert capfd.readouterr() == ("", "")
    assert not recwarn.list
