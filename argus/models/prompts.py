"""What a chat model is told: one user turn with a picture and a text, rendered by the model's own chat template."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from PIL.Image import Image, new

from argus.errors import ConfigError

YES = ("yes", " yes", "Yes")
NO = ("no", " no", "No")


class Prompts:
    """Renders and tokenises turns for one processor. `image_options` go to its image processor.

    Raises ConfigError when the processor does not know an option, or its template is not one for this class.
    """

    def __init__(self, processor: Any, image_options: Mapping[str, Any]) -> None:
        if processor.chat_template is None:
            raise ConfigError(
                f"this {type(processor).__name__} has no chat template; take a checkpoint tuned for chat (…-Instruct, "
                "…-it), or another adapter: argus.models.completion.Completion reads PaliGemma and BLIP-2"
            )
        self.processor = processor
        self.image_options = dict(image_options)
        self._pictures: dict[tuple[int, int], tuple[int, int, str]] = {}
        try:
            self._picture(new("RGB", (64, 64)))
        except TypeError as error:
            raise ConfigError(f"image_options {self.image_options} of {type(processor).__name__}: {error}") from error

    def inputs(self, images: Sequence[Image], texts: Sequence[str]) -> Any:
        """Return the model's inputs for one turn each, texts filled up on the left."""
        turns = [_turn({"type": "image", "image": image}, text) for image, text in zip(images, texts, strict=True)]
        return self._apply(turns, padding=True, padding_side="left", return_tensors="pt")

    def tokens(self, image: Image, texts: Sequence[str]) -> list[list[int]]:
        """Return the token ids of each text's turn beside a picture of this size, without processing the picture."""
        start, end, picture = self._picture(image)
        return self._tokenise([turn[:start] + picture + turn[end:] for turn in self._render(texts)])

    def _picture(self, image: Image) -> tuple[int, int, str]:
        """Return what the processor puts for a picture of this size: [start, end) in the rendered turn, and the text.

        Asked of the processor itself, once for each size. Raises ConfigError when the text stands before the picture,
        or when the tokens differ from the processor's own.
        """
        if image.size not in self._pictures:
            own = self._apply([_turn({"type": "image", "image": image}, "What?")], return_text_replacement_offsets=True)
            (spot,) = own["text_replacement_offsets"][0]
            (start, end), picture = spot["span"], spot["replacement"]
            turn, other = self._render(["What?", "Who?"])
            tokens = self._tokenise([turn[:start] + picture + turn[end:]])[0]
            if tokens != list(own["input_ids"][0]) or turn[:end] != other[:end]:
                raise ConfigError(
                    f"the chat template of this {type(self.processor).__name__} does not put the picture before the "
                    "text, or its tokens cannot be foretold; this model needs an adapter of its own"
                )
            self._pictures[image.size] = (start, end, picture)
        return self._pictures[image.size]

    def _render(self, texts: Sequence[str]) -> list[str]:
        turns = [_turn({"type": "image"}, text) for text in texts]
        return self.processor.apply_chat_template(turns, add_generation_prompt=True, tokenize=False)

    def _tokenise(self, turns: Sequence[str]) -> list[list[int]]:
        # As processors do: special tokens are added unless the template has written them.
        start = self.processor.tokenizer.bos_token
        written = start is not None and turns[0].startswith(start)
        return self.processor.tokenizer(list(turns), add_special_tokens=not written)["input_ids"]

    def _apply(self, turns: list[list[dict[str, Any]]], **options: Any) -> Any:
        return self.processor.apply_chat_template(
            turns,
            add_generation_prompt=True,
            tokenize=True,
            return_dict=True,
            return_tensors=options.pop("return_tensors", None),
            processor_kwargs={"images_kwargs": self.image_options, **options},
        )


def require_places(match_prompt: str, question_prompt: str) -> None:
    """Raise ConfigError for a prompt that does not say where the caption or the question goes."""
    for name, prompt, place in (
        ("match_prompt", match_prompt, "{caption}"),
        ("question_prompt", question_prompt, "{question}"),
    ):
        if place not in prompt:
            raise ConfigError(f"{name} is {prompt!r}: it must hold {place}")


def answer_tokens(tokenizer: Any) -> tuple[list[int], list[int]]:
    """Return the ids that begin a yes and those that begin a no.

    "yes", " yes" and "Yes" may begin with different tokens, and any of them says yes; a token that could begin either
    answer (a lone space) says nothing and is left out. Raises ConfigError when nothing is left.
    """
    yes, no = ({ids[0] for ids in tokenizer(list(words), add_special_tokens=False)["input_ids"]} for words in (YES, NO))
    if not yes - no or not no - yes:
        raise ConfigError(f"the tokenizer ({type(tokenizer).__name__}) cannot tell a yes from a no by its first token")
    return sorted(yes - no), sorted(no - yes)


def require_place(name: str, prompt: str, place: str) -> None:
    """Raise ConfigError where a prompt has no place for what is asked about."""
    if place not in prompt:
        raise ConfigError(f"{name} is {prompt!r}: it must hold {place}")


def _turn(image: dict[str, Any], text: str) -> list[dict[str, Any]]:
    return [{"role": "user", "content": [image, {"type": "text", "text": text}]}]
