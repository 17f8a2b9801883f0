"""Promises of the shipped Gemma-3 and of its recipe: it is trained on just what the chat adapter asks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor
from transformers import AutoModelForImageTextToText, AutoProcessor, Gemma3ForConditionalGeneration, Gemma3Processor

from argus.models.base import Model
from argus.perturbations.base import Perturbation
from argus.perturbations.blur import Blur
from argus.perturbations.clean import Clean
from argus.perturbations.noise import Noise
from argus.perturbations.typo import Typo
from argus.pocket.corpus import Corpus, corpus, picture
from argus.pocket.evaluate import GEMMA, build, commonest, entries, predict
from argus.pocket.language import captions
from argus.pocket.layouts import write_pocket
from argus.pocket.learning import Recipe
from argus.pocket.packing import Packer
from argus.pocket.scenes import STYLES
from argus.pocket.talking import WEIGHTS, answer_loss, held
from argus.pocket.train import CHECKPOINTS
from argus.pocket.train_gemma import Reader, frame, train
from argus.pocket.turns import CAPTION_TEXT, CHOICE_TEXT, MATCH_TEXT, Turn, turns, wrong_description
from argus.records import ChoicePrediction, Entry
from argus.seeding import rng_for
from argus.tasks.captioning import Captioning
from argus.tasks.reasoning import Reasoning
from argus.tasks.retrieval import Retrieval

SEED = 5
SCENES = 6  # of each style, to train on
UNSEEN = 40  # of each style, to be asked about
CANDIDATES = 20
CAPTIONED = ("coco", "flickr30k", "visual_genome")
MEGABYTE = 10**6
DAMAGE = [Noise(5), Typo(5)]


@pytest.fixture(scope="module")
def gemma() -> Model:
    return build("gemma", CHECKPOINTS / "gemma")


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Entry, ...]]:
    root = tmp_path_factory.mktemp("scenes") / "pocket"
    write_pocket(root, UNSEEN)
    return entries(root)


@pytest.fixture(scope="module")
def data() -> Corpus:
    return corpus(SEED, SCENES)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("gemma")
    few = Recipe(SCENES, 2, 5, 1e-3)
    train(folder, SEED, few, few)
    return folder


def recall(model: Model, read: dict[str, tuple[Entry, ...]], perturbation: Perturbation) -> float:
    """Return R@1 among CANDIDATES pictures, the mean of both directions and of the datasets with captions."""
    task = Retrieval(CANDIDATES, None)
    found = [task.measure(predict(task, model, read[name], perturbation)) for name in CAPTIONED]
    names = ("image_to_text_recall_at_1", "text_to_image_recall_at_1")
    return float(np.mean([one[name] for one in found for name in names]))


def test_the_shipped_checkpoint_is_an_official_gemma_3_of_few_megabytes() -> None:
    folder = CHECKPOINTS / "gemma"
    assert isinstance(AutoProcessor.from_pretrained(folder), Gemma3Processor)
    model = AutoModelForImageTextToText.from_pretrained(folder, dtype=torch.float32)
    assert isinstance(model, Gemma3ForConditionalGeneration)
    assert model.generation_config.do_sample is False
    assert sum(file.stat().st_size for file in folder.iterdir()) <= 3.5 * MEGABYTE


def test_it_is_trained_on_the_words_that_the_adapter_says() -> None:
    assert GEMMA["caption_prompt"] == CAPTION_TEXT
    assert GEMMA["match_prompt"].replace("{caption}", "{}") == MATCH_TEXT
    assert GEMMA["question_prompt"].replace("{question}", "{}") == CHOICE_TEXT


@pytest.mark.parametrize("name", ["coco", "flickr30k"])
def test_it_describes_scenes_that_it_never_saw_and_worse_so_through_a_blur(
    gemma: Model, read: dict[str, tuple[Entry, ...]], name: str
) -> None:
    task = Captioning(1.0)
    sharp, blurred = (
        task.measure(predict(task, gemma, read[name], perturbation))["cider_d"] for perturbation in (Clean(0), Blur(5))
    )
    assert 0.5 < blurred < sharp - 0.1
    assert sharp > 2.3


@pytest.fixture(scope="module")
def clean(gemma: Model, read: dict[str, tuple[Entry, ...]]) -> float:
    return recall(gemma, read, Clean(0))


def test_it_finds_captions_and_pictures(clean: float) -> None:
    assert clean > 0.7


@pytest.mark.parametrize("damage", DAMAGE, ids=lambda damage: type(damage).__name__)
def test_damage_lowers_retrieval_but_does_not_blind(
    gemma: Model, read: dict[str, tuple[Entry, ...]], clean: float, damage: Perturbation
) -> None:
    assert 2 / CANDIDATES < recall(gemma, read, damage) < clean


@pytest.mark.parametrize("name", ["clevr", "vcr"])
def test_it_answers_better_than_the_commonest_answer(
    gemma: Model, read: dict[str, tuple[Entry, ...]], name: str
) -> None:
    predictions = predict(Reasoning(), gemma, read[name], Clean(0))
    answered = [one for one in predictions if isinstance(one, ChoicePrediction)]
    floor = commonest(read[name])
    assert np.mean([(one.predicted == one.target) - floor[one.kind] for one in answered]) > 0.1


def test_a_few_steps_write_a_checkpoint_that_the_auto_classes_load(trained: Path) -> None:
    model = AutoModelForImageTextToText.from_pretrained(trained, dtype=torch.float32)
    tokenizer = AutoProcessor.from_pretrained(trained).tokenizer
    ends = [tokenizer.convert_tokens_to_ids(word) for word in ("<eos>", "<end_of_turn>")]
    assert model.generation_config.eos_token_id == ends
    assert [len(tokenizer(word, add_special_tokens=False)["input_ids"]) for word in ("yes", "no")] == [1, 1]


@pytest.mark.parametrize("style", STYLES)
def test_packed_turns_train_what_each_would_alone(style: str, trained: Path, data: Corpus) -> None:
    model = AutoModelForImageTextToText.from_pretrained(trained, dtype=torch.float32).eval()
    processor = AutoProcessor.from_pretrained(trained)
    made = turns(data[style], 0, rng_for(SEED, style))
    packed = Packer(processor.tokenizer, frame(processor)).pack([made])
    reader = Reader(model)
    image = picture(data[style].scenes[0])
    with torch.inference_mode():
        _, seen = reader.look(data[style].pictures[:1])
        alone = [_alone(model, processor, image, turn) for turn in made]
        together = float(answer_loss(reader.read(seen, packed), packed))
    assert torch.equal(torch.cat([targets for targets, _ in alone]), packed.targets)
    losses = torch.cat([losses for _, losses in alone]) * packed.weights
    kinds = {kind: packed.kinds == kind for kind in WEIGHTS}
    count = {kind: sum(turn.kind == kind for turn in made) for kind in kinds}
    means = [WEIGHTS[kind] * losses[own].sum() / count[kind] for kind, own in kinds.items()]
    assert together == pytest.approx(float(sum(means)), abs=2e-3)


def _alone(
    model: Gemma3ForConditionalGeneration, processor: Gemma3Processor, image: object, turn: Turn
) -> tuple[Tensor, Tensor]:
    """Return the answer's tokens, up to the end of the turn, and the loss of each, the turn being asked by itself."""
    user = {"role": "user", "content": [{"type": "image", "image": image}, {"type": "text", "text": turn.text}]}
    said = {"role": "assistant", "content": [{"type": "text", "text": turn.answer}]}
    options = {"tokenize": True, "return_dict": True, "return_tensors": "pt"}
    asked = processor.apply_chat_template([[user]], add_generation_prompt=True, **options)["input_ids"].shape[1]
    whole = processor.apply_chat_template([[user, said]], **options)
    logs = model(**whole).logits[0].log_softmax(-1)
    targets = whole["input_ids"][0, asked:-1]  # a line end follows the end of the turn
    return targets, -logs[asked - 1 : -2].gather(1, targets[:, None])[:, 0]


def test_a_wrong_description_is_never_one_that_the_scene_would_give(data: Corpus) -> None:
    for style in STYLES:
        for number, scene in enumerate(data[style].scenes):
            rng = rng_for(SEED, style, str(number))
            true = {text for _ in range(40) for text in captions(scene, rng)}
            assert wrong_description(scene, rng) not in true


def test_an_image_token_holds_what_lies_over_its_four_patches() -> None:
    labels = np.zeros((1, 4, 64), np.uint8)
    labels[0, 0, 9] = 3  # second row and column of patches: the first token
    tokens = held(labels)
    assert tokens.shape[:2] == (1, 16)
    assert tokens.nonzero().tolist() == [[0, 0, 2]]


def test_the_same_turns_come_from_the_same_generator(data: Corpus) -> None:
    first, second = (turns(data["vcr"], 1, rng_for(SEED, "again")) for _ in range(2))
    assert first == second
