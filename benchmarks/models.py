"""Argus's adapters beside the loop a user would write: python benchmarks/models.py [--pictures 64 --texts 320].

The loop is transformers alone, one picture and one text, or one picture and one choice, a forward pass, in the same
process with the same weights, precision and threads; its scores must be the adapter's, and the largest difference is
printed. Pictures, captions and questions are those of the pocket suite. Matching every pair in the loop takes minutes:
unless --whole is given, it scores a sample of the pairs, evenly spread, and its time is that sample's, multiplied.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import Any

import torch
from hydra import compose, initialize_config_dir
from omegaconf import DictConfig
from PIL.Image import Image
from torch import Tensor

from argus.configuration import conf_dir
from argus.data.images import load_image
from argus.models.base import Choice, Chooser, Embedder, Generator, Matcher
from argus.models.prompts import answer_tokens
from argus.pocket.layouts import ensure_pocket
from argus.settings import build_model, build_reader, settings_of

MODELS = ("clip", "blip", "gemma", "qwen")


@dataclass(frozen=True)
class Material:
    """What both sides read."""

    pictures: list[Image]
    texts: list[str]
    asked: list[tuple[Image, Choice]]  # a question with four choices each
    batch: int


class Loop:
    """Transformers alone, over what an adapter has loaded: one forward pass for each call."""

    def __init__(self, adapter: Any) -> None:
        self.adapter = adapter


class ClipLoop(Loop):
    def image(self, picture: Image) -> Tensor:
        inputs = self.adapter.processor(images=picture, return_tensors="pt")
        return unit(self.adapter.model.get_image_features(**inputs).pooler_output)

    def text(self, text: str) -> Tensor:
        inputs = self.adapter.processor(text=text, truncation=True, return_tensors="pt")
        return unit(self.adapter.model.get_text_features(**inputs).pooler_output)


class BlipLoop(Loop):
    def image(self, picture: Image) -> Tensor:
        head = self.adapter._head("retrieval")
        pixels = head.processor(images=picture, return_tensors="pt")["pixel_values"]
        return unit(head.model.vision_proj(head.model.vision_model(pixel_values=pixels).last_hidden_state[:, 0]))

    def text(self, text: str) -> Tensor:
        head = self.adapter._head("retrieval")
        inputs = head.processor.tokenizer(text, return_tensors="pt")
        seen = head.model.text_encoder(input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"])
        return unit(head.model.text_proj(seen.last_hidden_state[:, 0]))

    def match(self, picture: Image, text: str) -> float:
        head = self.adapter._head("retrieval")
        return head.model(**head.processor(images=picture, text=text, return_tensors="pt")).itm_score[0, 1].item()

    def choice(self, picture: Image, question: str, choice: str) -> float:
        head = self.adapter._head("vqa")
        inputs = head.processor(images=picture, text=question, return_tensors="pt")
        seen = head.model.vision_model(pixel_values=inputs["pixel_values"]).last_hidden_state
        read = head.model.text_encoder(
            input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"], encoder_hidden_states=seen
        ).last_hidden_state
        answer = head.processor.tokenizer(choice, add_special_tokens=False, return_tensors="pt")["input_ids"]
        begun = torch.cat([torch.tensor([[head.tokens.bos_token_id]]), answer], dim=1)
        logits = head.model.text_decoder(input_ids=begun[:, :-1], encoder_hidden_states=read).logits
        return logits.log_softmax(-1).gather(-1, answer[..., None]).mean().item()

    def caption(self, picture: Image) -> str:
        head = self.adapter._head("captioning")
        inputs = head.processor(images=picture, return_tensors="pt")
        written = head.model.generate(**inputs, do_sample=False, max_new_tokens=self.adapter.max_new_tokens)
        return head.processor.decode(written[0], skip_special_tokens=True).strip()


class ChatLoop(Loop):
    def inputs(self, picture: Image, text: str) -> Any:
        turn = [{"role": "user", "content": [{"type": "image", "image": picture}, {"type": "text", "text": text}]}]
        return self.adapter.prompts.processor.apply_chat_template(
            turn,
            add_generation_prompt=True,
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
            processor_kwargs={"images_kwargs": self.adapter.prompts.image_options},
        )

    def match(self, picture: Image, text: str) -> float:
        inputs = self.inputs(picture, self.adapter.match_prompt.replace("{caption}", text))
        logs = self.adapter.model(**inputs, logits_to_keep=1).logits[0, -1].log_softmax(-1)
        yes, no = answer_tokens(self.adapter.prompts.processor.tokenizer)
        return (logs[yes].logsumexp(0) - logs[no].logsumexp(0)).item()

    def choice(self, picture: Image, question: str, choice: str) -> float:
        inputs = self.inputs(picture, self.adapter.question_prompt.replace("{question}", question))
        length = inputs["input_ids"].shape[1]
        tokenizer = self.adapter.prompts.processor.tokenizer
        answer = tokenizer(choice, add_special_tokens=False, return_tensors="pt")["input_ids"]
        for name, value in inputs.items():
            if value.shape == (1, length):
                filling = answer if name == "input_ids" else torch.full_like(answer, int(name == "attention_mask"))
                inputs[name] = torch.cat([value, filling], dim=1)
        logits = self.adapter.model(**inputs, logits_to_keep=answer.shape[1] + 1).logits[:, :-1]
        return logits.log_softmax(-1).gather(-1, answer[..., None]).mean().item()

    def caption(self, picture: Image) -> str:
        inputs = self.inputs(picture, self.adapter.caption_prompt)
        written = self.adapter.model.generate(**inputs)
        answer = written[0, inputs["input_ids"].shape[1] :]
        return self.adapter.prompts.processor.decode(answer, skip_special_tokens=True).strip()


LOOPS: dict[str, type[Loop]] = {"clip": ClipLoop, "blip": BlipLoop}
"""By model; every other is a chat model."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pictures", type=int, default=64)
    parser.add_argument("--texts", type=int, default=320)
    parser.add_argument("--models", nargs="+", default=MODELS)
    parser.add_argument("--pairs", type=int, default=256, help="pairs that the loop matches, unless --whole")
    parser.add_argument("--whole", action="store_true", help="the loop matches every pair")
    options = parser.parse_args()
    with TemporaryDirectory() as folder, initialize_config_dir(str(conf_dir()), version_base=None):
        ensure_pocket(f"{folder}/pocket", images=options.pictures, progress=lambda done, total: None)
        material = read(f"{folder}/pocket", options.pictures, options.texts)
        print(f"{len(material.pictures)} pictures, {len(material.texts)} texts, {len(material.asked)} questions")
        print("model  what          adapter s   loop s   ratio   largest difference", flush=True)
        for name in options.models:
            settings = settings_of(composed(name, "coco", f"{folder}/pocket"))
            adapter = build_model(settings.model_config, settings.hardware.runtime)
            with torch.inference_mode():
                compare(name, adapter, LOOPS.get(name, ChatLoop)(adapter), material, options)


def composed(model: str, dataset: str, root: str) -> DictConfig:
    return compose("run", overrides=[f"model={model}", f"dataset={dataset}", f"data_dir={root}", "hardware=cpu"])


def read(root: str, pictures: int, texts: int) -> Material:
    settings = settings_of(composed("clip", "coco", root))
    entries = build_reader(settings.dataset_config).entries()[:pictures]
    captions = [caption.text for entry in entries for caption in entry.captions]
    vcr = build_reader(settings_of(composed("clip", "vcr", root)).dataset_config).entries()[:pictures]
    asked = [(load_image(entry.source), question) for entry in vcr for question in entry.questions]
    return Material(
        pictures=[load_image(entry.source) for entry in entries],
        texts=captions[:texts],
        asked=[(picture, Choice(one.text, one.choices)) for picture, one in asked if len(one.choices) == 4],
        batch=settings.hardware.batch_size,
    )


def compare(name: str, adapter: Any, loop: Any, material: Material, options: argparse.Namespace) -> None:
    pictures, texts, batch = material.pictures, material.texts, material.batch
    if isinstance(adapter, Embedder):
        line(name, "embed images", *timed(batched(adapter.embed_images, pictures, batch), each(loop.image, pictures)))
        line(name, "embed texts", *timed(batched(adapter.embed_texts, texts, batch), each(loop.text, texts)))
    if isinstance(adapter, Matcher):
        step = 1 if options.whole else max(1, len(pictures) * len(texts) // options.pairs)
        match(name, adapter, loop, material, step)
    if isinstance(adapter, Chooser):
        choose = [(picture, one.question, choice) for picture, one in material.asked for choice in one.choices]
        one_each = batched(lambda part: scores_of(adapter, part), material.asked, batch)
        line(name, "choose of 4", *timed(one_each, each(lambda item: loop.choice(*item), choose)))
    if isinstance(adapter, Generator):
        prompt = adapter.caption_prompt
        write = batched(lambda part: adapter.generate(part, [prompt] * len(part)), pictures, batch)
        line(name, "write", *timed(write, each(loop.caption, pictures)))


def match(name: str, adapter: Matcher, loop: Any, material: Material, step: int) -> None:
    """Every pair by the adapter; every `step`th by the loop, whose time is multiplied."""
    pictures, texts = material.pictures, material.texts
    pairs = [(picture, text) for picture in pictures for text in texts][::step]
    whole = batched(lambda part: flat(adapter.match(part, [texts] * len(part))), pictures, material.batch)
    own, other, found, expected = timed(whole, each(lambda pair: loop.match(*pair), pairs))
    line(name, "match", own, other * len(pictures) * len(texts) / len(pairs), found[::step], expected)
    if step > 1:
        print(f"       (the loop matched {len(pairs)} of {len(pictures) * len(texts)} pairs)", flush=True)


def timed(own: Callable[[int], list[Any]], other: Callable[[int], list[Any]]) -> tuple[float, float, list[Any], Any]:
    """Return the seconds of both, after a short run of each, and what they gave."""
    own(1), other(1)
    begun = time.perf_counter()
    found = own(0)
    between = time.perf_counter()
    expected = other(0)
    return between - begun, time.perf_counter() - between, found, expected


def batched(use: Callable[[Any], Any], items: Sequence[Any], size: int) -> Callable[[int], list[Any]]:
    """Return a function that uses the items in batches, or the first batch only (1)."""

    def run(batches: int) -> list[Any]:
        last = batches * size or len(items)
        return [one for start in range(0, min(last, len(items)), size) for one in use(items[start : start + size])]

    return run


def each(use: Callable[[Any], Any], items: Sequence[Any]) -> Callable[[int], list[Any]]:
    """Return a function that uses the items one by one, or the first only (1)."""
    return lambda first: [use(item) for item in items[: first or len(items)]]


def scores_of(adapter: Chooser, asked: Sequence[tuple[Image, Choice]]) -> list[Tensor]:
    answers = adapter.choose([picture for picture, _ in asked], [[one] for _, one in asked])
    return flat([scores for (scores,) in answers])


def flat(rows: Sequence[Tensor]) -> list[Tensor]:
    return [score for row in rows for score in row]


def unit(features: Tensor) -> Tensor:
    return torch.nn.functional.normalize(features.float(), dim=-1)[0]


def line(name: str, what: str, own: float, other: float, found: list[Any], expected: list[Any]) -> None:
    if isinstance(found[0], str):
        alike = sum(one == two for one, two in zip(found, expected, strict=True))
        difference = f"{alike} of {len(found)} captions are the same"
    else:
        pairs = zip(found, expected, strict=True)
        largest = max((torch.as_tensor(one) - torch.as_tensor(two)).abs().max().item() for one, two in pairs)
        difference = f"{largest:.1e}"
    print(f"{name:6s} {what:12s} {own:10.2f} {other:8.1f} {other / own:7.2f}   {difference}", flush=True)


if __name__ == "__main__":
    main()
