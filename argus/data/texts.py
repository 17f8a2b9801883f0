"""Captions as they come from annotation files, made fit for use."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import replace

from argus.data.checks import first_few
from argus.errors import DataError
from argus.records import Caption, Entry

log = logging.getLogger(__name__)


def tidy(text: str) -> str:
    """Return the text with every run of white space (line ends too) as one space, and none at its ends."""
    return " ".join(text.split())


def tidy_captions(entries: Iterable[Entry], source: str) -> tuple[Entry, ...]:
    """Return the entries with tidy captions; those of only spaces are left out, and the log says how many.

    Raises DataError naming the images that have no caption: to leave them out would score another set of images.
    """
    described, blank = [], 0
    for entry in entries:
        captions = [Caption(caption.id, tidy(caption.text)) for caption in entry.captions]
        kept = tuple(caption for caption in captions if caption.text)
        blank += len(captions) - len(kept)
        described.append(replace(entry, captions=kept))
    if bare := [entry.id for entry in described if not entry.captions]:
        raise DataError(f"{source}: images without a caption: {first_few(bare)}; add the file that describes them")
    if blank:
        log.warning("%s: left out %d captions of only spaces", source, blank)
    return tuple(described)
