"""The pocket BLIP: its tokenizer, processor and three randomly initialised networks, all of the official classes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_lowercase, digits, punctuation

from transformers import (
    BertTokenizer,
    BlipConfig,
    BlipForConditionalGeneration,
    BlipForImageTextRetrieval,
    BlipForQuestionAnswering,
    BlipImageProcessor,
    BlipPreTrainedModel,
    BlipProcessor,
)

from argus.pocket.corpus import GRID, PIXELS

WIDTH, HEADS, PROJECTION = 128, 4, 96
POSITIONS = 128
SPREAD = 0.07  # of the initial weights; the usual 0.02 is too small at this width
SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
START = "[DEC]"  # what the decoders begin with
SEEN_OFTEN = 3  # times a word must occur to become a piece of its own


@dataclass(frozen=True)
class Networks:
    """BLIP's three checkpoints. While they learn they have one image tower, and the first and last one text encoder."""

    retrieval: BlipForImageTextRetrieval
    captioning: BlipForConditionalGeneration
    vqa: BlipForQuestionAnswering

    @property
    def all(self) -> tuple[BlipPreTrainedModel, ...]:
        return (self.retrieval, self.captioning, self.vqa)


def share(networks: Networks) -> Networks:
    """Give the networks one image tower and one text encoder, the first one's, and return them."""
    networks.captioning.vision_model = networks.vqa.vision_model = networks.retrieval.vision_model
    networks.vqa.text_encoder = networks.retrieval.text_encoder
    return networks


def build_tokenizer(texts: Sequence[str]) -> BertTokenizer:
    """Return a WordPiece tokenizer of whole words and single letters: no typo in ASCII is unknown to it."""
    counts = Counter(word for text in texts for word in re.findall("[a-z]+", text.lower()))
    words = sorted(word for word, count in counts.items() if count >= SEEN_OFTEN and len(word) > 1)
    letters = [*ascii_lowercase, *digits]
    pieces = [*SPECIALS, *letters, *(f"##{letter}" for letter in letters), *punctuation, *words, START]
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    return BertTokenizer(vocab=vocabulary, bos_token=START, model_max_length=POSITIONS)


def build_processor(texts: Sequence[str]) -> BlipProcessor:
    """Return BLIP's processor for PIXELS x PIXELS pictures, its tokenizer made of the words of the texts."""
    images = BlipImageProcessor(size={"height": PIXELS, "width": PIXELS})
    return BlipProcessor(images, build_tokenizer(texts))


def build_networks(tokenizer: BertTokenizer) -> Networks:
    """Return the networks with random weights drawn from torch's global generator, sharing their towers."""
    retrieval = BlipForImageTextRetrieval(_config(tokenizer))
    captioning = BlipForConditionalGeneration(_config(tokenizer))
    vqa = BlipForQuestionAnswering(_config(tokenizer))
    return share(Networks(retrieval, captioning, vqa))


def _config(tokenizer: BertTokenizer) -> BlipConfig:
    shared = {
        "hidden_size": WIDTH,
        "intermediate_size": 3 * WIDTH,
        "num_attention_heads": HEADS,
        "initializer_range": SPREAD,
    }
    text = {
        "vocab_size": len(tokenizer),
        "num_hidden_layers": 3,
        "max_position_embeddings": POSITIONS,
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.sep_token_id,
        "sep_token_id": tokenizer.sep_token_id,
        "pad_token_id": tokenizer.pad_token_id,
    }
    vision = {"num_hidden_layers": 4, "image_size": PIXELS, "patch_size": PIXELS // GRID}
    return BlipConfig(
        text_config=shared | text,
        vision_config=shared | vision,
        image_text_hidden_size=PROJECTION,
        initializer_range=SPREAD,
    )
