"""Tiny chat models with a byte-level tokenizer and random weights, each with what could trip an adapter."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tokenizers.pre_tokenizers import ByteLevel
from transformers import (
    GotOcr2ImageProcessor,
    Idefics3Config,
    Idefics3ForConditionalGeneration,
    Idefics3ImageProcessor,
    Idefics3Processor,
    InternVLConfig,
    InternVLForConditionalGeneration,
    InternVLProcessor,
    InternVLVideoProcessor,
    LlavaOnevisionConfig,
    LlavaOnevisionForConditionalGeneration,
    LlavaOnevisionImageProcessor,
    LlavaOnevisionProcessor,
    LlavaOnevisionVideoProcessor,
    Qwen2_5_VLConfig,
    Qwen2_5_VLForConditionalGeneration,
    Qwen2_5_VLProcessor,
    Qwen2Tokenizer,
    Qwen2VLImageProcessor,
    Qwen2VLVideoProcessor,
)

from tests.models.tiny import SPREAD, save, tower

QWEN_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n"
    "{% for part in message['content'] %}"
    "{% if part['type'] == 'image' %}<|vision_start|><|image_pad|><|vision_end|>{% else %}{{ part['text'] }}{% endif %}"
    "{% endfor %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
IDEFICS_TEMPLATE = (
    "<|im_start|>{% for message in messages %}{{ message['role'] | capitalize }}:"
    "{% for part in message['content'] %}"
    "{% if part['type'] == 'image' %}<image>{% else %} {{ part['text'] }}{% endif %}"
    "{% endfor %}<end_of_utterance>\n{% endfor %}"
    "{% if add_generation_prompt %}Assistant:{% endif %}"
)
LLAVA_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }} "
    "{% for part in message['content'] %}"
    "{% if part['type'] == 'image' %}<image>{% else %}\n{{ part['text'] }}{% endif %}"
    "{% endfor %}<|im_end|>{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
INTERN_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n"
    "{% for part in message['content'] %}"
    "{% if part['type'] == 'image' %}<IMG_CONTEXT>\n{% else %}{{ part['text'] }}{% endif %}"
    "{% endfor %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def save_qwen(folder: Path) -> Path:
    """Write a Qwen2.5-VL: image tokens that follow the picture's size, positions in three axes."""
    tokenizer = byte_tokenizer("<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>")
    identify = tokenizer.convert_tokens_to_ids
    rope = {"rope_type": "default", "mrope_section": [2, 3, 3], "rope_theta": 1e4}
    config = Qwen2_5_VLConfig(
        text_config={**decoder(tokenizer), "max_position_embeddings": 512, "rope_parameters": rope},
        vision_config={
            "depth": 2,
            "hidden_size": 16,
            "intermediate_size": 24,
            "num_heads": 2,
            "window_size": 56,
            "fullatt_block_indexes": [1],
            "out_hidden_size": 32,
            "initializer_range": SPREAD,
        },
        image_token_id=identify("<|image_pad|>"),
        video_token_id=identify("<|video_pad|>"),
        vision_start_token_id=identify("<|vision_start|>"),
        vision_end_token_id=identify("<|vision_end|>"),
    )
    size = {"shortest_edge": 56 * 56, "longest_edge": 112 * 112}
    pictures, videos = Qwen2VLImageProcessor(size=size), Qwen2VLVideoProcessor(size=size)
    processor = Qwen2_5_VLProcessor(pictures, tokenizer, videos, chat_template=QWEN_TEMPLATE)
    return save(folder, Qwen2_5_VLForConditionalGeneration, config, processor)


def save_idefics3(folder: Path) -> Path:
    """Write an Idefics3, the architecture of SmolVLM: pictures are cut into tiles, each with tokens of its own."""
    tiles = [f"<row_{row + 1}_col_{column + 1}>" for row in range(6) for column in range(6)]
    tokenizer = byte_tokenizer("<image>", "<fake_token_around_image>", "<end_of_utterance>", "<global-img>", *tiles)
    identify = tokenizer.convert_tokens_to_ids
    ends = {"bos_token_id": identify("<|im_start|>"), "eos_token_id": identify("<end_of_utterance>")}
    config = Idefics3Config(
        text_config={**decoder(tokenizer), "model_type": "llama", **ends, "pad_token_id": identify("<|im_end|>")},
        vision_config={**tower(), "image_size": 16, "patch_size": 4},
        image_token_id=identify("<image>"),
        pad_token_id=identify("<|im_end|>"),
        scale_factor=2,
    )
    pictures = Idefics3ImageProcessor(size={"longest_edge": 32}, max_image_size={"longest_edge": 16})
    processor = Idefics3Processor(pictures, tokenizer, image_seq_len=4, chat_template=IDEFICS_TEMPLATE)
    return save(folder, Idefics3ForConditionalGeneration, config, processor)


def save_llava_onevision(folder: Path) -> Path:
    """Write a LLaVA-OneVision: a picture is cut into a grid of its own shape, and each row of it ends with a token."""
    tokenizer = byte_tokenizer("<image>", "<video>")
    pinpoints = [[16 * rows, 16 * columns] for rows in (1, 2, 3) for columns in (1, 2, 3)]
    config = LlavaOnevisionConfig(
        text_config={**decoder(tokenizer), "model_type": "qwen2", "tie_word_embeddings": True},
        vision_config={
            "model_type": "siglip_vision_model",
            **tower(),
            "image_size": 16,
            "patch_size": 4,
            "vision_use_head": False,
        },
        image_token_index=tokenizer.convert_tokens_to_ids("<image>"),
        video_token_index=tokenizer.convert_tokens_to_ids("<video>"),
        image_grid_pinpoints=pinpoints,
        vision_aspect_ratio="anyres_max_4",
        tie_word_embeddings=True,
    )
    size = {"height": 16, "width": 16}
    processor = LlavaOnevisionProcessor(
        LlavaOnevisionImageProcessor(size=size, image_grid_pinpoints=pinpoints),
        tokenizer,
        LlavaOnevisionVideoProcessor(size=size),
        num_image_tokens=16,
        vision_feature_select_strategy="full",
        vision_aspect_ratio="anyres_max_4",
        chat_template=LLAVA_TEMPLATE,
    )
    return save(folder, LlavaOnevisionForConditionalGeneration, config, processor)


def save_internvl(folder: Path) -> Path:
    """Write an InternVL: a picture is cut into up to six tiles and a thumbnail, four tokens each."""
    names = {"start_image_token": "<img>", "end_image_token": "</img>"}
    names |= {"context_image_token": "<IMG_CONTEXT>", "video_token": "<video>"}
    tokenizer = byte_tokenizer(*names.values(), extra_special_tokens=names)
    config = InternVLConfig(
        text_config={**decoder(tokenizer), "model_type": "qwen2", "tie_word_embeddings": True},
        vision_config={**tower(), "image_size": [16, 16], "patch_size": [4, 4]},
        image_token_id=tokenizer.convert_tokens_to_ids("<IMG_CONTEXT>"),
        image_seq_length=4,
        tie_word_embeddings=True,
    )
    size = {"height": 16, "width": 16}
    pictures = GotOcr2ImageProcessor(size=size, crop_to_patches=True, min_patches=1, max_patches=6)
    processor = InternVLProcessor(
        pictures, tokenizer, InternVLVideoProcessor(size=size), image_seq_length=4, chat_template=INTERN_TEMPLATE
    )
    return save(folder, InternVLForConditionalGeneration, config, processor)


def byte_tokenizer(*specials: str, **options: Any) -> Qwen2Tokenizer:
    """Return a tokenizer of bytes with a few merges, so that a prompt cannot be cut just anywhere."""
    specials = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", *specials)
    merges = [("y", "e"), ("ye", "s"), ("n", "o"), ("Y", "e"), ("Ye", "s"), ("Ġ", "n"), ("Ġ", '"'), ('"', "?")]
    pieces = [*sorted(ByteLevel.alphabet()), *("".join(pair) for pair in merges), *specials]
    tokenizer = Qwen2Tokenizer(vocab={piece: index for index, piece in enumerate(pieces)}, merges=merges, **options)
    tokenizer.add_tokens(list(specials), special_tokens=True)
    return tokenizer


def decoder(tokenizer: Qwen2Tokenizer) -> dict[str, Any]:
    return {
        **tower(),
        "hidden_size": 32,
        "num_key_value_heads": 1,
        "vocab_size": len(tokenizer),
        "max_position_embeddings": 1024,
        "bos_token_id": None,
        "eos_token_id": tokenizer.convert_tokens_to_ids("<|im_end|>"),
        "pad_token_id": tokenizer.convert_tokens_to_ids("<|endoftext|>"),
    }
