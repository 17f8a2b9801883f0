"""How well a pocket Gemma-3 does on scenes it has not seen: `python -m argus.pocket.gemma_check FOLDER`.

Everything goes through the Auto classes and the chat template, as it does in use.
"""

from __future__ import annotations

import argparse
import logging
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from PIL import Image, ImageFilter
from torch import Tensor
from transformers import AutoModelForImageTextToText, AutoProcessor

from argus.pocket.corpus import descriptions, evaluation_scene, picture
from argus.pocket.gemma_turns import CAPTION_TEXT, CHOICE_TEXT, MATCH_TEXT
from argus.pocket.language import captions, questions
from argus.pocket.scenes import STYLES, Scene
from argus.pocket.train import CHECKPOINTS, SEED
from argus.pocket.typos import mistyped
from argus.seeding import rng_for

if TYPE_CHECKING:
    from collections.abc import Callable

    from argus.records import Question

    Damage = Callable[[Image.Image, int], Image.Image]

log = logging.getLogger(__name__)
CANDIDATES = 20
BATCH = 40


class Talker:
    """A chat checkpoint that is asked about pictures."""

    def __init__(self, folder: Path) -> None:
        self.processor = AutoProcessor.from_pretrained(folder)
        self.model = AutoModelForImageTextToText.from_pretrained(folder, dtype=torch.float32).eval()
        tokenizer = self.processor.tokenizer
        self.yes, self.no = (tokenizer(word, add_special_tokens=False)["input_ids"][0] for word in ("yes", "no"))

    def inputs(self, images: Sequence[Image.Image], texts: Sequence[str], answers: Sequence[str]) -> dict[str, Tensor]:
        """Return the tokens of one user turn each, followed by the answers, padded on the left."""
        chats = [_chat(image, text) for image, text in zip(images, texts, strict=True)]
        prompts = self.processor.apply_chat_template(chats, add_generation_prompt=True)
        full = [prompt + answer for prompt, answer in zip(prompts, answers, strict=True)]
        nested = [[image] for image in images]
        encoded: dict[str, Tensor] = self.processor(
            images=nested, text=full, padding=True, padding_side="left", add_special_tokens=False, return_tensors="pt"
        )
        return encoded

    @torch.inference_mode()
    def describe(self, images: Sequence[Image.Image]) -> list[str]:
        """Return one caption for each picture."""
        told: list[str] = []
        for start in range(0, len(images), BATCH):
            part = images[start : start + BATCH]
            encoded = self.inputs(part, [CAPTION_TEXT] * len(part), [""] * len(part))
            written = self.model.generate(**encoded)[:, encoded["input_ids"].shape[1] :]
            told += self.processor.batch_decode(written, skip_special_tokens=True)
        return told

    @torch.inference_mode()
    def agree(self, images: Sequence[Image.Image], texts: Sequence[str]) -> list[float]:
        """Return log P(yes) - log P(no) for each pair of picture and caption."""
        scores: list[float] = []
        for start in range(0, len(images), BATCH):
            part = slice(start, start + BATCH)
            asked = [MATCH_TEXT.format(text) for text in texts[part]]
            logits = self.model(**self.inputs(images[part], asked, [""] * len(asked)), logits_to_keep=1).logits[:, -1]
            scores += (logits[:, self.yes] - logits[:, self.no]).tolist()
        return scores

    @torch.inference_mode()
    def choose(self, image: Image.Image, text: str, choices: Sequence[str]) -> int:
        """Return the index of the choice with the highest mean log-likelihood."""
        encoded = self.inputs([image] * len(choices), [CHOICE_TEXT.format(text)] * len(choices), choices)
        logs = self.model(**encoded).logits[:, :-1].log_softmax(-1)
        likely = logs.gather(2, encoded["input_ids"][:, 1:, None])[..., 0]
        lengths = [len(self.processor.tokenizer(c, add_special_tokens=False)["input_ids"]) for c in choices]
        return int(np.argmax([float(row[-n:].mean()) for row, n in zip(likely, lengths, strict=True)]))


def _chat(image: Image.Image, text: str) -> list[dict[str, object]]:
    return [{"role": "user", "content": [{"type": "image", "image": image}, {"type": "text", "text": text}]}]


def held_out(style: str, count: int) -> list[Scene]:
    """Return scenes of the evaluation stream."""
    return [evaluation_scene(style, SEED, number) for number in range(count)]


def recalls(talker: Talker, count: int, damage: Damage, typos: bool) -> tuple[float, float]:
    """Return R@1 from picture to caption and from caption to picture, among CANDIDATES of the same style."""
    right = [0, 0]
    galleries = 0
    for style in STYLES:
        scenes = held_out(style, count)
        texts = [descriptions(scene, 1, rng_for(SEED, "check", style, str(i)))[0] for i, scene in enumerate(scenes)]
        texts = [_typed(text, i, typos) for i, text in enumerate(texts)]
        images = [damage(picture(scene), i) for i, scene in enumerate(scenes)]
        for start in range(0, count, CANDIDATES):
            some, sentences = images[start : start + CANDIDATES], texts[start : start + CANDIDATES]
            pairs = [(image, text) for image in some for text in sentences]
            scores = np.array(talker.agree([i for i, _ in pairs], [t for _, t in pairs])).reshape(len(some), -1)
            right[0] += int((scores.argmax(1) == np.arange(len(some))).sum())
            right[1] += int((scores.argmax(0) == np.arange(len(some))).sum())
            galleries += len(some)
    return right[0] / galleries, right[1] / galleries


def answers(talker: Talker, count: int, damage: Damage, typos: bool) -> tuple[float, float, dict[str, float]]:
    """Return the share of right answers, that of always giving a kind's commonest one, and the share by kind.

    The questions are those of the clevr and vcr styles. The commonest is of answers in clevr, of places in vcr.
    """
    hits: dict[str, list[bool]] = defaultdict(list)
    given: dict[str, Counter[str]] = defaultdict(Counter)
    for style in ("clevr", "vcr"):
        for number, scene in enumerate(held_out(style, count)):
            image = damage(picture(scene), number)
            for one in questions(scene, rng_for(SEED, "check", style, str(number))):
                hits[one.kind].append(talker.choose(image, _typed(one.text, number, typos), one.choices) == one.target)
                given[one.kind][_answer(one, style)] += 1
    total = sum(len(kind) for kind in hits.values())
    blind = sum(count.most_common(1)[0][1] for count in given.values()) / total
    return sum(map(sum, hits.values())) / total, blind, {kind: sum(h) / len(h) for kind, h in sorted(hits.items())}


def _answer(one: Question, style: str) -> str:
    return one.choices[one.target] if style == "clevr" else str(one.target)


def cider(talker: Talker, count: int, damage: Damage) -> float:
    """Return CIDEr-D of pycocoevalcap over all styles; 10 would be the references themselves."""
    from pycocoevalcap.cider.cider import Cider

    told: dict[str, list[str]] = {}
    references: dict[str, list[str]] = {}
    for style in STYLES:
        scenes = held_out(style, count)
        written = talker.describe([damage(picture(scene), i) for i, scene in enumerate(scenes)])
        for number, (scene, text) in enumerate(zip(scenes, written, strict=True)):
            name = f"{style} {number}"
            told[name] = [_words(text)]
            references[name] = [_words(one) for one in captions(scene, rng_for(SEED, "check", name))]
    return float(Cider().compute_score(references, told)[0])


def _words(text: str) -> str:
    """Return the words alone, in small letters, as the captions' tokenizer leaves them."""
    return " ".join("".join(mark if mark.isalnum() else " " for mark in text.lower()).split())


def _typed(text: str, number: int, typos: bool) -> str:
    return mistyped(text, rng_for(SEED, "typo", text, str(number))) if typos else text


def clean(image: Image.Image, number: int) -> Image.Image:
    """Return the picture itself."""
    return image


def blurred(image: Image.Image, number: int) -> Image.Image:
    """Return the picture blurred by 6 pixels."""
    return image.filter(ImageFilter.GaussianBlur(6))


def noisy(image: Image.Image, number: int) -> Image.Image:
    """Return the picture with noise of a standard deviation of 0.3 of full scale."""
    noise = rng_for(SEED, "noise", str(number)).normal(0, 0.3 * 255, (image.height, image.width, 3))
    return Image.fromarray((np.asarray(image) + noise).clip(0, 255).astype(np.uint8))


def main() -> None:
    """Print the figures, clean and damaged."""
    parser = argparse.ArgumentParser(prog="python -m argus.pocket.gemma_check")
    parser.add_argument("folder", type=Path, nargs="?", default=CHECKPOINTS / "gemma")
    parser.add_argument("--count", type=int, default=20, help="scenes of each style, a multiple of 20")
    chosen = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s", force=True)
    talker = Talker(chosen.folder)
    for name, damage, typos in (
        ("clean", clean, False),
        ("blur", blurred, False),
        ("noise", noisy, False),
        ("typos", clean, True),
    ):
        to_text, to_image = recalls(talker, chosen.count, damage, typos)
        log.info("%s: R@1 among %d: %.2f to text, %.2f to image", name, CANDIDATES, to_text, to_image)
        share, blind, kinds = answers(talker, chosen.count, damage, typos)
        log.info("%s: answers %.2f (blind %.2f) %s", name, share, blind, {k: round(v, 2) for k, v in kinds.items()})
        if not typos:
            log.info("%s: CIDEr-D %.2f", name, cider(talker, chosen.count, damage))


if __name__ == "__main__":
    main()
