"""What a user would write with transformers alone: one picture, one text, one answer a forward pass.

Nothing of argus's way through a model is used here, only what it is told to ask (the prompts) and its statement of
which tokens begin a yes or a no. Every number is a plain float.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import torch
from PIL.Image import Image
from torch import Tensor
from transformers import (
    AutoModel,
    AutoModelForImageTextToText,
    AutoProcessor,
    AutoTokenizer,
    BlipForConditionalGeneration,
    BlipForImageTextRetrieval,
    BlipForQuestionAnswering,
    BlipProcessor,
    LxmertForPreTraining,
    LxmertForQuestionAnswering,
)

from argus.models.base import Choice
from argus.models.prompts import answer_tokens

MATCH_PROMPT = 'Does this image match the caption "{caption}"? Answer yes or no.'
QUESTION_PROMPT = "{question} Answer with one of the words or sentences that fit."


class PlainTowers:
    """Two towers: the model's own logits, without its scale and bias."""

    def __init__(self, folder: Path, positions: int) -> None:
        self.model = AutoModel.from_pretrained(folder, dtype=torch.float32).eval()
        self.processor = AutoProcessor.from_pretrained(folder)
        self.positions = positions
        self.bias = self.model.logit_bias if "logit_bias" in dict(self.model.named_parameters()) else 0.0

    @torch.no_grad()
    def similarity(self, image: Image, text: str) -> float:
        inputs = self.processor(
            images=image,
            text=text,
            padding="max_length",
            max_length=self.positions,
            truncation=True,
            return_tensors="pt",
        )
        return ((self.model(**inputs).logits_per_image[0, 0] - self.bias) / self.model.logit_scale.exp()).item()


class PlainBlip:
    """BLIP's three checkpoints; `folders` by head."""

    def __init__(self, folders: dict[str, str]) -> None:
        heads = (BlipForImageTextRetrieval, BlipForConditionalGeneration, BlipForQuestionAnswering)
        names = ("retrieval", "captioning", "vqa")
        self.retrieval, self.captioning, self.vqa = (
            kind.from_pretrained(folders[name], dtype=torch.float32).eval()
            for name, kind in zip(names, heads, strict=True)
        )
        self.processor = BlipProcessor.from_pretrained(folders["retrieval"])

    @torch.no_grad()
    def match(self, image: Image, text: str) -> float:
        return self.retrieval(**self.processor(images=image, text=text, return_tensors="pt")).itm_score[0, 1].item()

    @torch.no_grad()
    def similarity(self, image: Image, text: str) -> float:
        inputs = self.processor(images=image, text=text, return_tensors="pt")
        return self.retrieval(**inputs, use_itm_head=False).itm_score.item()

    @torch.no_grad()
    def choose(self, image: Image, question: Choice) -> list[float]:
        inputs = self.processor(images=image, text=question.question, return_tensors="pt")
        seen = self.vqa.vision_model(pixel_values=inputs["pixel_values"]).last_hidden_state
        read = self.vqa.text_encoder(
            input_ids=inputs["input_ids"],
            attention_mask=inputs["attention_mask"],
            encoder_hidden_states=seen,
            encoder_attention_mask=torch.ones(seen.shape[:2]),
        ).last_hidden_state
        return [self._answer(choice, read, inputs["attention_mask"]) for choice in question.choices]

    @torch.no_grad()
    def caption(self, image: Image, prompt: str, num_beams: int) -> str:
        """Return the caption after the prompt."""
        options = {"text": prompt} if prompt else {}
        inputs = self.processor(images=image, return_tensors="pt", **options)
        written = self.captioning.generate(**inputs, do_sample=False, num_beams=num_beams, max_new_tokens=8)
        whole: str = self.processor.decode(written[0], skip_special_tokens=True)
        assert whole.startswith(prompt)
        return whole.removeprefix(prompt).strip()

    def _answer(self, choice: str, read: Tensor, mask: Tensor) -> float:
        answer = self.processor.tokenizer(choice, add_special_tokens=False, return_tensors="pt").input_ids
        start = torch.tensor([[self.vqa.config.text_config.bos_token_id]])
        logits = self.vqa.text_decoder(
            input_ids=torch.cat([start, answer], dim=1), encoder_hidden_states=read, encoder_attention_mask=mask
        ).logits[:, :-1]
        return logits.log_softmax(-1).gather(-1, answer[..., None]).mean().item()


class PlainLxmert:
    """LXMERT; what the detector sees of a picture is handed in."""

    def __init__(self, folder: Path) -> None:
        self.matching = LxmertForPreTraining.from_pretrained(folder, dtype=torch.float32).eval()
        self.answers = LxmertForQuestionAnswering.from_pretrained(folder, dtype=torch.float32).eval()
        self.tokenizer = AutoTokenizer.from_pretrained(folder)

    @torch.no_grad()
    def match(self, seen: dict[str, Tensor], text: str) -> float:
        logits = self.matching(**self.tokenizer(text, return_tensors="pt"), **seen).cross_relationship_score[0]
        logs = logits.log_softmax(-1)
        return (logs[1] - logs[0]).item()

    @torch.no_grad()
    def choose(self, seen: dict[str, Tensor], question: Choice) -> list[float]:
        inputs = self.tokenizer(question.question, return_tensors="pt")
        logs = self.answers(**inputs, **seen).question_answering_score[0].log_softmax(-1)
        places = {label.lower(): int(number) for number, label in self.answers.config.id2label.items()}
        return [logs[places[choice.strip().lower()]].item() for choice in question.choices]


class PlainChat:
    """A chat model: every text a whole sequence of its own, the picture read again each time."""

    def __init__(self, folder: Path) -> None:
        self.model = AutoModelForImageTextToText.from_pretrained(folder, dtype=torch.float32).eval()
        self.processor = AutoProcessor.from_pretrained(folder)

    def inputs(self, image: Image, text: str) -> dict[str, Tensor]:
        turn = [{"role": "user", "content": [{"type": "image", "image": image}, {"type": "text", "text": text}]}]
        return self.processor.apply_chat_template(
            turn, add_generation_prompt=True, tokenize=True, return_dict=True, return_tensors="pt"
        )

    @torch.no_grad()
    def log_probabilities(self, image: Image, text: str, answer: tuple[int, ...] = ()) -> Tensor:
        """Return log P over the vocabulary after the prompt and after each token of the answer."""
        inputs = self.inputs(image, text)
        length = inputs["input_ids"].shape[1]
        extra = torch.tensor([list(answer)], dtype=torch.long)
        for name, value in inputs.items():
            if value.shape == (1, length):
                filling = extra if name == "input_ids" else torch.full_like(extra, int(name == "attention_mask"))
                inputs[name] = torch.cat([value, filling], dim=1)
        return self.model(**inputs).logits[0, length - 1 :].log_softmax(-1)

    def match(self, image: Image, text: str) -> float:
        found = self.log_probabilities(image, MATCH_PROMPT.replace("{caption}", text))[-1]
        yes, no = answer_tokens(self.processor.tokenizer)
        return (found[yes].logsumexp(0) - found[no].logsumexp(0)).item()

    def choose(self, image: Image, question: Choice) -> list[float]:
        text = QUESTION_PROMPT.replace("{question}", question.question)
        scores = []
        for choice in question.choices:
            answer = self.processor.tokenizer(choice, add_special_tokens=False)["input_ids"]
            found = self.log_probabilities(image, text, answer)
            scores.append(sum(found[place, token].item() for place, token in enumerate(answer)) / len(answer))
        return scores

    @torch.no_grad()
    def generate(self, image: Image, text: str) -> str:
        inputs = self.inputs(image, text)
        written = self.model.generate(
            **inputs, do_sample=False, num_beams=1, max_new_tokens=8, top_k=None, top_p=None, temperature=None
        )
        answer: str = self.processor.decode(written[0, inputs["input_ids"].shape[1] :], skip_special_tokens=True)
        return answer.strip()


class PlainCompletion:
    """PaliGemma or BLIP-2: every text a whole sequence of its own. `mark` is what a user writes for the picture."""

    def __init__(self, folder: Path, mark: str, before_answer: str) -> None:
        self.model = AutoModelForImageTextToText.from_pretrained(folder, dtype=torch.float32).eval()
        self.processor = AutoProcessor.from_pretrained(folder)
        self.mark, self.before_answer = mark, before_answer

    def inputs(self, image: Image, text: str) -> dict[str, Tensor]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # PaliGemma's processor makes an array of a tensor
            inputs = self.processor(images=image, text=f"{self.mark}{text}", return_tensors="pt")
        return {name: value for name, value in inputs.items() if name != "labels"}

    @torch.no_grad()
    def log_probabilities(self, image: Image, text: str, answer: tuple[int, ...] = ()) -> Tensor:
        """Return log P over the vocabulary after the prompt and after each token of the answer."""
        inputs = self.inputs(image, text)
        length = inputs["input_ids"].shape[1]
        extra = torch.tensor([list(answer)], dtype=torch.long)
        inputs["input_ids"] = torch.cat([inputs["input_ids"], extra], dim=1)
        for name in (
            "attention_mask",
            "token_type_ids",
        ):  # 1: to be seen; of PaliGemma's suffix, which sees no successor
            if name in inputs:
                inputs[name] = torch.cat([inputs[name], torch.ones_like(extra)], dim=1)
        return self.model(**inputs).logits[0, length - 1 :].log_softmax(-1)

    def match(self, image: Image, text: str) -> float:
        found = self.log_probabilities(image, MATCH_PROMPT.replace("{caption}", text))[-1]
        yes, no = answer_tokens(self.processor.tokenizer)
        return (found[yes].logsumexp(0) - found[no].logsumexp(0)).item()

    def choose(self, image: Image, question: Choice) -> list[float]:
        text = QUESTION_PROMPT.replace("{question}", question.question)
        scores = []
        for choice in question.choices:
            answer = self.processor.tokenizer(f"{self.before_answer}{choice}", add_special_tokens=False)["input_ids"]
            found = self.log_probabilities(image, text, answer)
            scores.append(sum(found[place, token].item() for place, token in enumerate(answer)) / len(answer))
        return scores

    @torch.no_grad()
    def generate(self, image: Image, text: str) -> str:
        inputs = self.inputs(image, text)
        written = self.model.generate(**inputs, do_sample=False, num_beams=1, max_new_tokens=8)
        answer: str = self.processor.decode(written[0, inputs["input_ids"].shape[1] :], skip_special_tokens=True)
        return answer.strip()
