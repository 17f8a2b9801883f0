"""The pocket Gemma-3: its tokenizer, processor and randomly initialised network, all of the official classes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import accumulate

import torch
from PIL.Image import Resampling
from tokenizers import AddedToken, Regex, Tokenizer, normalizers, pre_tokenizers, trainers
from tokenizers.models import BPE
from transformers import (
    Gemma3Config,
    Gemma3ForConditionalGeneration,
    Gemma3ImageProcessor,
    Gemma3Processor,
    Gemma3TextConfig,
    GemmaTokenizer,
    GenerationConfig,
    SiglipVisionConfig,
)

from argus.pocket.corpus import GRID, PIXELS

IMAGE_TOKENS = 16  # a perfect square whose side divides GRID
WIDTH = 128
HEADS = 4
LAYERS = 4
VOCABULARY = 720
SPREAD = 0.07  # of the initial weights; the usual 0.02 is too small at this width

BEGIN_OF_IMAGE, END_OF_IMAGE, IMAGE = "<start_of_image>", "<end_of_image>", "<image_soft_token>"
BEGIN_OF_TURN, END_OF_TURN = "<start_of_turn>", "<end_of_turn>"
PADDING, END, BEGIN, UNKNOWN, MASK = "<pad>", "<eos>", "<bos>", "<unk>", "<mask>"
SPECIALS = (PADDING, END, BEGIN, UNKNOWN, MASK, BEGIN_OF_TURN, END_OF_TURN, BEGIN_OF_IMAGE, END_OF_IMAGE, IMAGE)

# Renders what Gemma-3's own template renders for turns of text and pictures.
CHAT_TEMPLATE = """\
{{- bos_token -}}
{%- set lead = namespace(text='') -%}
{%- for message in messages -%}
    {%- set body = namespace(text='') -%}
    {%- if message['content'] is string -%}
        {%- set body.text = message['content'] | trim -%}
    {%- else -%}
        {%- for part in message['content'] -%}
            {%- if part['type'] == 'image' -%}
                {%- set body.text = body.text + '<start_of_image>' -%}
            {%- elif part['type'] == 'text' -%}
                {%- set body.text = body.text + (part['text'] | trim) -%}
            {%- endif -%}
        {%- endfor -%}
    {%- endif -%}
    {%- if message['role'] == 'system' -%}
        {%- set lead.text = body.text + '\\n\\n' -%}
    {%- else -%}
        {%- set role = 'model' if message['role'] == 'assistant' else message['role'] -%}
        {{- '<start_of_turn>' + role + '\\n' + lead.text + body.text + '<end_of_turn>\\n' -}}
        {%- set lead.text = '' -%}
    {%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}
    {{- '<start_of_turn>model\\n' -}}
{%- endif -%}
"""


def train_tokenizer(texts: Iterable[str], phrases: Sequence[str]) -> GemmaTokenizer:
    """Return a byte-fallback BPE tokenizer; whole words of `texts` become pieces, at most VOCABULARY of them.

    Learnt pieces never cross a space, a line end or a punctuation mark, so that a typo disturbs one word alone and
    "yes" and "no" stay one piece each. Each of the `phrases`, which stand in every prompt, becomes one piece besides:
    prompts are then a third shorter.
    """
    learner = Tokenizer(BPE(unk_token=UNKNOWN, byte_fallback=True))
    learner.normalizer = normalizers.Replace(" ", "▁")
    learner.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split("▁", "merged_with_next"),
            pre_tokenizers.Split(Regex(r"[^▁\p{L}]"), "isolated"),
        ]
    )
    bytes_ = [f"<0x{value:02X}>" for value in range(256)]
    printable = [chr(code) for code in range(0x21, 0x7F)] + ["▁", "\n"]
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        show_progress=False,
        special_tokens=[*SPECIALS, *bytes_],
        initial_alphabet=printable,
        limit_alphabet=len(printable),
    )
    learner.train_from_iterator(texts, trainer)
    model = json.loads(learner.to_str())["model"]
    merges = [(left, right) for left, right in model["merges"]]
    for phrase in phrases:
        words = learner.encode(phrase).tokens
        merges += zip(accumulate(words), words[1:], strict=False)
    vocabulary = dict(model["vocab"])
    for left, right in merges:
        vocabulary.setdefault(left + right, len(vocabulary))
    return _official(vocabulary, merges)


def _official(vocabulary: dict[str, int], merges: list[tuple[str, str]]) -> GemmaTokenizer:
    tokenizer = GemmaTokenizer(
        vocab=vocabulary,
        merges=merges,
        unk_token=UNKNOWN,
        bos_token=BEGIN,
        eos_token=END,
        pad_token=PADDING,
        mask_token=MASK,
        extra_special_tokens={"image_token": IMAGE, "boi_token": BEGIN_OF_IMAGE, "eoi_token": END_OF_IMAGE},
    )
    tokenizer.add_tokens([AddedToken(text, special=True, normalized=False) for text in (BEGIN_OF_TURN, END_OF_TURN)])
    return tokenizer


def build_processor(tokenizer: GemmaTokenizer) -> Gemma3Processor:
    """Return the processor: any picture becomes PIXELS x PIXELS and IMAGE_TOKENS tokens."""
    size = {"height": PIXELS, "width": PIXELS}
    pictures = Gemma3ImageProcessor(size=size, resample=Resampling.BICUBIC, do_pan_and_scan=False)
    return Gemma3Processor(pictures, tokenizer, chat_template=CHAT_TEMPLATE, image_seq_length=IMAGE_TOKENS)


def build_model(tokenizer: GemmaTokenizer) -> Gemma3ForConditionalGeneration:
    """Return the network with random weights drawn from torch's global generator; float32."""
    config = Gemma3Config(
        text_config=_text_config(tokenizer).to_dict(),
        vision_config=_vision_config().to_dict(),
        mm_tokens_per_image=IMAGE_TOKENS,
        boi_token_index=tokenizer.convert_tokens_to_ids(BEGIN_OF_IMAGE),
        eoi_token_index=tokenizer.convert_tokens_to_ids(END_OF_IMAGE),
        image_token_index=tokenizer.convert_tokens_to_ids(IMAGE),
        initializer_range=SPREAD,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )
    model = Gemma3ForConditionalGeneration(config)
    # The library starts the projector at zero, for weights that are loaded afterwards; here it must learn.
    torch.nn.init.normal_(model.model.multi_modal_projector.mm_input_projection_weight, std=0.05)
    model.generation_config = GenerationConfig(
        do_sample=False,
        max_new_tokens=64,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=[tokenizer.eos_token_id, tokenizer.convert_tokens_to_ids(END_OF_TURN)],
    )
    return model


def _vision_config() -> SiglipVisionConfig:
    return SiglipVisionConfig(
        hidden_size=WIDTH,
        intermediate_size=3 * WIDTH,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        image_size=PIXELS,
        patch_size=PIXELS // GRID,
        vision_use_head=False,
        initializer_range=SPREAD,
    )


def _text_config(tokenizer: GemmaTokenizer) -> Gemma3TextConfig:
    return Gemma3TextConfig(
        vocab_size=len(tokenizer),
        hidden_size=WIDTH,
        intermediate_size=3 * WIDTH,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        num_key_value_heads=HEADS // 2,
        head_dim=WIDTH // HEADS,
        query_pre_attn_scalar=WIDTH // HEADS,
        max_position_embeddings=1024,
        sliding_window=512,
        layer_types=["sliding_attention"] * (LAYERS - 1) + ["full_attention"],
        initializer_range=SPREAD,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )
