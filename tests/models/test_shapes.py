"""Every adapter against plain transformers, in the published proportions and with the embedded weights, to 1e-4."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from argus.models.base import Choice
from argus.models.blip import Blip
from argus.models.chat import Chat
from argus.models.clip import Clip
from argus.models.lxmert import Lxmert
from argus.models.regions.pocket import PocketRegions
from tests.models import shapes
from tests.models.conftest import picture
from tests.models.plain import MATCH_PROMPT, QUESTION_PROMPT, PlainBlip, PlainChat, PlainLxmert, PlainTowers

POCKET = Path(__file__).resolve().parents[2] / "argus" / "pocket" / "checkpoints"
TEXTS = ["a red cube", "no", "seven large blue rubber balls and some other things on the left, behind a small cube"]
QUESTIONS = [
    Choice("What is red?", ("cube", "yes", "large", "2")),
    Choice("How many of the small things are in the image on the left?", ("2", "no")),
]
SENTENCES = Choice("What is this?", ("a red cube on the left of it", "blue", "two small yellow metal spheres"))
KINDS = ["published", "pocket"]


@pytest.fixture(scope="module")
def pictures():
    """Pictures of three sizes; the first two share one."""
    return [picture(96, 72, 1), picture(96, 72, 2), picture(70, 300, 3), picture(150, 110, 4)]


def close(found: torch.Tensor, expected: list[float]) -> None:
    torch.testing.assert_close(found, torch.tensor(expected), atol=1e-4, rtol=0)


def matters(rows: list[torch.Tensor]) -> None:
    """Random weights that say the same of everything would prove nothing."""
    table = torch.stack(rows)
    assert table.std(dim=0).min() > 1e-3
    assert table.std(dim=1).min() > 1e-3


@pytest.mark.parametrize("kind", KINDS)
def test_clip_embeds_as_the_plain_model(tmp_path, runtime, pictures, kind):
    folder = POCKET / "clip" if kind == "pocket" else shapes.save_clip(tmp_path)
    texts = [*TEXTS, "cube " * 60]  # longer than its 77 positions
    plain = PlainTowers(folder, positions=77)
    clip = Clip(str(folder), None, "longest", runtime)
    rows = list(clip.embed_images(pictures) @ clip.embed_texts(texts).T)
    for image, row in zip(pictures, rows, strict=True):
        close(row, [plain.similarity(image, text) for text in texts])
    matters(rows)


@pytest.mark.parametrize("kind", KINDS)
def test_blip_embeds_matches_answers_and_writes_as_the_plain_model(tmp_path, runtime, pictures, kind):
    names = ("retrieval", "captioning", "vqa")
    folders = {name: str(POCKET / "blip" / name) for name in names} if kind == "pocket" else shapes.save_blip(tmp_path)
    plain = PlainBlip(folders)
    blip = Blip(folders, dict.fromkeys(names), "", 1, 8, None, 256, runtime)
    matched, chosen = blip.match(pictures, [TEXTS] * 4), blip.choose(pictures, [QUESTIONS] * 4)
    similar = blip.embed_images(pictures) @ blip.embed_texts(TEXTS).T
    for index, image in enumerate(pictures):
        close(matched[index], [plain.match(image, text) for text in TEXTS])
        close(similar[index], [plain.similarity(image, text) for text in TEXTS])
        for question, scores in zip(QUESTIONS, chosen[index], strict=True):
            close(scores, plain.choose(image, question))
    matters(matched)
    prompts = ["", "a", "", "a red cube"]
    assert blip.generate(pictures, prompts) == [
        plain.caption(*pair, num_beams=1) for pair in zip(pictures, prompts, strict=True)
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_lxmert_matches_and_answers_as_the_plain_model(tmp_path, runtime, pictures, kind):
    folder = POCKET / "lxmert" if kind == "pocket" else shapes.save_lxmert_base(tmp_path)
    regions = PocketRegions(str(folder / "regions"), None)
    heads = {"matching": str(folder), "answers": str(folder)}
    lxmert = Lxmert(heads, dict.fromkeys(heads), None, regions, "known_labels", 256, runtime)
    plain = PlainLxmert(folder)
    questions = [QUESTIONS[0], Choice(QUESTIONS[1].question, ("2", "no"))]
    matched, chosen = lxmert.match(pictures, [TEXTS] * 4), lxmert.choose(pictures, [questions] * 4)
    for index, image in enumerate(pictures):
        found = regions.extract([image], "cpu")
        seen = {"visual_feats": found.features, "visual_pos": found.boxes}
        close(matched[index], [plain.match(seen, text) for text in TEXTS])
        close(chosen[index][1], plain.choose(seen, questions[1]))
    matters(matched)


SAVERS = {"gemma": shapes.save_gemma, "qwen": shapes.save_qwen}
CHECKPOINTS = [
    *((name, kind) for name in SAVERS for kind in KINDS if kind != "pocket" or (POCKET / name).is_dir()),
]


@pytest.fixture(scope="module", params=CHECKPOINTS, ids="-".join)
def chat_checkpoint(request, tmp_path_factory) -> Path:
    name, kind = request.param
    return POCKET / name if kind == "pocket" else SAVERS[name](tmp_path_factory.mktemp(name))


def test_a_chat_model_matches_answers_and_writes_as_the_plain_model(chat_checkpoint, runtime, pictures):
    plain = PlainChat(chat_checkpoint)
    prompts = ("Describe this image in one sentence.", MATCH_PROMPT, QUESTION_PROMPT)
    chat = Chat(str(chat_checkpoint), None, *prompts, 1, 8, {}, 64, runtime)
    questions = [QUESTIONS[0], SENTENCES]
    matched, chosen = chat.match(pictures, [TEXTS] * 4), chat.choose(pictures, [questions] * 4)
    for index, image in enumerate(pictures):
        close(matched[index], [plain.match(image, text) for text in TEXTS])
        for question, scores in zip(questions, chosen[index], strict=True):
            close(scores, plain.choose(image, question))
    matters(matched)
    asked = [chat.caption_prompt, "a", "What is this small thing in the image on the left?", ""]
    assert chat.generate(pictures, asked) == [plain.generate(*pair) for pair in zip(pictures, asked, strict=True)]
