"""The pocket Qwen2.5-VL: its tokenizer, processor and randomly initialised network, all of the official classes."""

from __future__ import annotations

import json
from collections.abc import Iterable

import torch
from tokenizers import AddedToken, Regex, Tokenizer, pre_tokenizers, trainers
from tokenizers.models import BPE
from transformers import (
    GenerationConfig,
    Qwen2_5_VLConfig,
    Qwen2_5_VLForConditionalGeneration,
    Qwen2_5_VLProcessor,
    Qwen2_5_VLTextConfig,
    Qwen2_5_VLVisionConfig,
    Qwen2Tokenizer,
    Qwen2VLImageProcessor,
    Qwen2VLVideoProcessor,
)
from transformers.models.qwen2.tokenization_qwen2 import PRETOKENIZE_REGEX

from argus.pocket.corpus import GRID

PATCH = 14  # with MERGE, TEMPORAL and WINDOW the official values
MERGE = 2  # patches a side of one image token
TEMPORAL = 2  # frames of one patch: a picture is taken twice
WINDOW = 112
PIXELS = GRID * PATCH  # one window
IMAGE_TOKENS = (GRID // MERGE) ** 2
WIDTH = 128
HEADS = 4
LAYERS = 4
VOCABULARY = 720
SPREAD = 0.07  # of the initial weights; the usual 0.02 is too small at this width
WORDS = 0.8  # spread of the initial word embeddings: what a layer adds at first would drown them at SPREAD

END, BEGIN_OF_TURN, END_OF_TURN = "<|endoftext|>", "<|im_start|>", "<|im_end|>"
BEGIN_OF_IMAGE, END_OF_IMAGE, IMAGE, VIDEO = "<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>"
SPECIALS = (END, BEGIN_OF_TURN, END_OF_TURN, BEGIN_OF_IMAGE, END_OF_IMAGE, IMAGE, VIDEO)
SYSTEM = "You are a helpful assistant."

# Renders what Qwen2.5-VL's own template renders for turns of text, pictures and videos.
CHAT_TEMPLATE = """\
{%- if messages[0]['role'] != 'system' -%}
    {{- '<|im_start|>system\\nYou are a helpful assistant.<|im_end|>\\n' -}}
{%- endif -%}
{%- for message in messages -%}
    {{- '<|im_start|>' + message['role'] + '\\n' -}}
    {%- if message['content'] is string -%}
        {{- message['content'] -}}
    {%- else -%}
        {%- for part in message['content'] -%}
            {%- if part['type'] == 'image' -%}
                {{- '<|vision_start|><|image_pad|><|vision_end|>' -}}
            {%- elif part['type'] == 'video' -%}
                {{- '<|vision_start|><|video_pad|><|vision_end|>' -}}
            {%- elif part['type'] == 'text' -%}
                {{- part['text'] -}}
            {%- endif -%}
        {%- endfor -%}
    {%- endif -%}
    {{- '<|im_end|>\\n' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}
    {{- '<|im_start|>assistant\\n' -}}
{%- endif -%}
"""


def train_tokenizer(texts: Iterable[str]) -> Qwen2Tokenizer:
    """Return a byte-level BPE tokenizer; whole words of `texts` become pieces, at most VOCABULARY of them."""
    learner = Tokenizer(BPE())
    learner.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PRETOKENIZE_REGEX), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY - len(SPECIALS),
        show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    learner.train_from_iterator(texts, trainer)
    model = json.loads(learner.to_str())["model"]
    pieces = [*model["vocab"], *SPECIALS]
    tokenizer = Qwen2Tokenizer(
        vocab={piece: index for index, piece in enumerate(pieces)},
        merges=[(left, right) for left, right in model["merges"]],
    )
    tokenizer.add_tokens([AddedToken(text, special=True, normalized=False) for text in SPECIALS])
    return tokenizer


def build_processor(tokenizer: Qwen2Tokenizer) -> Qwen2_5_VLProcessor:
    """Return the processor: a square picture becomes PIXELS x PIXELS and IMAGE_TOKENS tokens, others as many pixels."""
    size = {"shortest_edge": PIXELS**2, "longest_edge": PIXELS**2}
    pictures, videos = Qwen2VLImageProcessor(size=size), Qwen2VLVideoProcessor(size=size)
    return Qwen2_5_VLProcessor(pictures, tokenizer, videos, chat_template=CHAT_TEMPLATE)


def build_model(tokenizer: Qwen2Tokenizer) -> Qwen2_5_VLForConditionalGeneration:
    """Return the network with random weights drawn from torch's global generator; float32."""
    identify = tokenizer.convert_tokens_to_ids
    config = Qwen2_5_VLConfig(
        text_config=_text_config(tokenizer).to_dict(),
        vision_config=_vision_config().to_dict(),
        image_token_id=identify(IMAGE),
        video_token_id=identify(VIDEO),
        vision_start_token_id=identify(BEGIN_OF_IMAGE),
        vision_end_token_id=identify(END_OF_IMAGE),
        tie_word_embeddings=False,  # as the larger ones of its kind: words come in WORDS wide, and go out SPREAD wide
        initializer_range=SPREAD,
    )
    model = Qwen2_5_VLForConditionalGeneration(config)
    torch.nn.init.normal_(model.get_input_embeddings().weight, std=WORDS)
    model.generation_config = GenerationConfig(
        do_sample=False,
        max_new_tokens=64,
        eos_token_id=[identify(END_OF_TURN), identify(END)],
        pad_token_id=tokenizer.pad_token_id,
    )
    return model


def _vision_config() -> Qwen2_5_VLVisionConfig:
    return Qwen2_5_VLVisionConfig(
        depth=LAYERS,
        hidden_size=WIDTH,
        intermediate_size=3 * WIDTH,
        num_heads=HEADS,
        patch_size=PATCH,
        spatial_merge_size=MERGE,
        temporal_patch_size=TEMPORAL,
        window_size=WINDOW,
        fullatt_block_indexes=[1, 3],
        out_hidden_size=WIDTH,
        initializer_range=SPREAD,
    )


def _text_config(tokenizer: Qwen2Tokenizer) -> Qwen2_5_VLTextConfig:
    return Qwen2_5_VLTextConfig(
        vocab_size=len(tokenizer),
        hidden_size=WIDTH,
        intermediate_size=3 * WIDTH,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        num_key_value_heads=HEADS // 2,
        max_position_embeddings=1024,
        rope_parameters={"rope_type": "default", "mrope_section": [4, 6, 6], "rope_theta": 1e4},
        initializer_range=SPREAD,
        bos_token_id=None,
        eos_token_id=tokenizer.convert_tokens_to_ids(END_OF_TURN),
        pad_token_id=tokenizer.pad_token_id,
    )
