"""Several turns about one picture in one row of tokens: each sees the picture and itself, as if it came alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from argus.pocket.turns import Kind, Turn

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

END_WEIGHT = 0.1  # of the token that ends an answer: it is easy, and would drown the yes or no before it
PADDING = -1


@dataclass(frozen=True)
class Frame:
    """What a chat template writes around a user's text and the answer."""

    opening: str  # before the text, the picture's tokens included
    bridge: str  # between text and answer
    end: str  # the token that ends an answer
    both_ways: str | None  # the token whose copies see each other, where a picture's are not read in order


@dataclass(frozen=True)
class Packed:
    """A batch of rows. `at` are indices into the flattened (n, length) tokens whose successor is an answer's."""

    tokens: Tensor  # (n, length)
    positions: Tensor  # (n, length), counted on from the opening in every turn
    mask: Tensor  # (n, 1, length, length), True where the row's token may look at the column's
    at: Tensor  # (answer tokens,)
    targets: Tensor  # (answer tokens,)
    weights: Tensor  # (answer tokens,)
    kinds: Tensor  # (answer tokens,)
    last: Tensor  # (answer tokens,), True for the token that ends an answer

    def turns(self, kind: Kind) -> int:
        """Return how many turns of a kind there are."""
        return int((self.last & (self.kinds == kind)).sum())


class Packer:
    """Turns users' texts and answers into tokens: the same ones as the processor with its chat template."""

    def __init__(self, tokenizer: PreTrainedTokenizerBase, frame: Frame) -> None:
        self.tokenizer = tokenizer
        self.opening, self.bridge = self._tokens([frame.opening, frame.bridge])
        self.end = tokenizer.convert_tokens_to_ids(frame.end)
        self.both_ways = tokenizer.convert_tokens_to_ids(frame.both_ways) if frame.both_ways else None
        self.padding = tokenizer.pad_token_id

    def _tokens(self, texts: Sequence[str]) -> list[list[int]]:
        tokens: list[list[int]] = self.tokenizer(list(texts), add_special_tokens=False)["input_ids"]
        return tokens

    def pack(self, batch: Sequence[Sequence[Turn]]) -> Packed:
        """Return one row for each picture's turns, padded on the right."""
        flat = [turn for row in batch for turn in row]
        texts, answers = (self._tokens(part) for part in ([t.text for t in flat], [t.answer for t in flat]))
        pieces = iter(zip(flat, texts, answers, strict=True))
        rows = [self._row([next(pieces) for _ in row]) for row in batch]
        length = max(len(row.tokens) for row in rows)
        tokens = _padded([row.tokens for row in rows], length, self.padding)
        turn = _padded([row.turns for row in rows], length, PADDING)
        targets = torch.tensor([target for row in rows for target in row.targets])
        return Packed(
            tokens=tokens,
            positions=_padded([row.positions for row in rows], length, 0),
            mask=_mask(turn) if self.both_ways is None else _mask(turn) | _among(tokens == self.both_ways),
            at=torch.tensor([i * length + at for i, row in enumerate(rows) for at in row.at]),
            targets=targets,
            weights=torch.tensor([weight for row in rows for weight in row.weights]),
            kinds=torch.tensor([int(kind) for row in rows for kind in row.kinds]),
            last=targets == self.end,
        )

    def _row(self, pieces: Sequence[tuple[Turn, list[int], list[int]]]) -> _Row:
        start = len(self.opening)
        row = _Row(list(self.opening), [0] * start, list(range(start)), [], [], [], [])
        for number, (turn, text, answer) in enumerate(pieces, start=1):
            asked, said = [*text, *self.bridge], [*answer, self.end]
            begin = len(row.tokens)
            first = begin + len(asked) - 1  # the last token before the answer
            row.tokens.extend(asked + answer)
            row.turns.extend([number] * (len(row.tokens) - begin))
            row.positions.extend(range(start, start + len(row.tokens) - begin))
            row.at.extend(range(first, first + len(said)))
            row.targets.extend(said)
            row.weights.extend([1.0] * len(answer) + [END_WEIGHT])
            row.kinds.extend([turn.kind] * len(said))
        return row


@dataclass(frozen=True)
class _Row:
    tokens: list[int]
    turns: list[int]  # 0 for the opening that all turns share
    positions: list[int]
    at: list[int]
    targets: list[int]
    weights: list[float]
    kinds: list[Kind]


def _padded(rows: Sequence[Sequence[int]], length: int, filler: int) -> Tensor:
    return torch.tensor([[*row, *[filler] * (length - len(row))] for row in rows])


def _mask(turn: Tensor) -> Tensor:
    """Return where attention goes: back within the turn and to the opening."""
    length = turn.shape[1]
    back = torch.ones(length, length, dtype=torch.bool).tril()
    own = turn[:, :, None] == turn[:, None, :]
    shared = turn[:, None, :] == 0
    return (back & (own | shared))[:, None]


def _among(chosen: Tensor) -> Tensor:
    return (chosen[:, :, None] & chosen[:, None, :])[:, None]
