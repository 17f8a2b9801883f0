"""Reads many texts beside one picture without reading the picture again for each of them.

The texts of a picture begin with the same tokens: the template's head, the picture, and the start of the prompt. That
prefix goes through the model once; its keys and values are then copied for each text, and only what differs is
computed. The results are those of whole sequences, to rounding.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

import torch
from torch import Tensor

from argus.models.decoding import right_padded


@dataclass(frozen=True)
class Row:
    """A sequence, and which tokens' probability is asked: `targets[i]` after the token at `positions[i]`."""

    tokens: tuple[int, ...]
    positions: tuple[int, ...]
    targets: tuple[int, ...]


def shared_length(rows: Sequence[Row]) -> int:
    """Return how many leading tokens all rows share, ending before the first token whose successor is asked for."""
    alike = takewhile(lambda column: len(set(column)) == 1, zip(*(row.tokens for row in rows), strict=False))
    return min(sum(1 for _ in alike), *(min(row.positions) for row in rows))


def read(model: Any, inputs: Any, rows: Sequence[Sequence[Row]], pairs_at_once: int) -> list[list[Tensor]]:
    """Return for each row of each picture log P of its targets, shape (len(row.targets),), on the CPU.

    `inputs` are the model's inputs for each picture and a prompt that begins as all rows do; every picture takes the
    same number of tokens and has at least one row. At most `pairs_at_once` rows (but at least one for each picture) go
    through the model at once.
    """
    found: list[list[Tensor]] = [[torch.empty(0)] * len(own) for own in rows]
    length = shared_length([row for own in rows for row in own])
    prefix = _encode(model, inputs, length)
    for indices in _steps(rows, max(1, pairs_at_once // len(rows))):
        part_rows = [own[index] for own, part in zip(rows, indices, strict=True) for index in part]
        scores = iter(_extend(model, prefix, len(indices[0]), part_rows, length))
        for image, part in enumerate(indices):
            for index in part:
                found[image][index] = next(scores)
    return found


def _encode(model: Any, inputs: Any, length: int) -> Any:
    """Return the cache of the first `length` tokens of each prompt."""
    shape = inputs["input_ids"].shape
    cut = {name: value[:, :length] if value.shape == shape else value for name, value in inputs.items()}
    return model(**cut, use_cache=True, logits_to_keep=1).cache


def _extend(model: Any, prefix: Any, repeats: int, rows: Sequence[Row], length: int) -> list[Tensor]:
    """Read rows, `repeats` for each picture of the prefix, picture by picture.

    The rows are filled up on the right, where no real token sees the filling, so neither mask nor positions are
    needed: the model counts on from the cache, as it does when it writes.
    """
    cache = deepcopy(prefix)
    cache.batch_repeat_interleave(repeats)
    ids, _ = right_padded([row.tokens[length:] for row in rows], 0, model.device)
    kept = sorted({position for row in rows for position in row.positions})
    keep = torch.tensor(kept, device=model.device) - length
    logits = model(input_ids=ids, cache=cache, use_cache=True, logits_to_keep=keep).logits
    return asked(logits, rows, {position: index for index, position in enumerate(kept)})


def asked(logits: Tensor, rows: Sequence[Row], column: Mapping[int, int]) -> list[Tensor]:
    """Return for each row log P of its targets: logits (rows, columns, vocabulary), a position being in `column`."""
    width = logits.shape[1]
    spots = [index * width + column[position] for index, row in enumerate(rows) for position in row.positions]
    # Several targets may be asked for at one spot: the sum over the vocabulary is done once for each spot.
    different, spot = torch.tensor(spots, device=logits.device).unique(return_inverse=True)
    targets = torch.tensor([target for row in rows for target in row.targets], device=logits.device)
    found = logits.flatten(0, 1)[different].float()
    scores = found[spot, targets] - found.logsumexp(dim=-1)[spot]
    return list(scores.cpu().split([len(row.targets) for row in rows]))


def _steps(rows: Sequence[Sequence[Row]], count: int) -> Iterator[list[list[int]]]:
    """Yield which rows of each picture to read next: `count` of each, those of like length together.

    Every picture gets the same number, a picture with fewer rows some of them again, so that the copies of the prefix
    stay in the order of the pictures.
    """
    orders = [[index for _, index in sorted((len(row.tokens), index) for index, row in enumerate(own))] for own in rows]
    longest = max(map(len, orders))
    filled = [order + [order[-1]] * (longest - len(order)) for order in orders]
    for start in range(0, longest, count):
        yield [order[start : start + count] for order in filled]
