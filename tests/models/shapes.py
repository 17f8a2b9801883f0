"""Checkpoints with random weights in the proportions of the published ones: layers, heads, windows and odd ids.

Widths are divided by a number; what decides how a forward pass runs is kept: how many heads share keys, which layers
see a window, how positions are scaled, how many patches make a token, which ids stand for the beginning and the end.
"""

from __future__ import annotations

from pathlib import Path

from transformers import (
    BlipConfig,
    BlipForConditionalGeneration,
    BlipForImageTextRetrieval,
    BlipForQuestionAnswering,
    BlipImageProcessor,
    BlipProcessor,
    CLIPConfig,
    CLIPImageProcessor,
    CLIPModel,
    CLIPProcessor,
    Gemma3Config,
    Gemma3ForConditionalGeneration,
    Gemma3ImageProcessor,
    Gemma3Processor,
    Qwen2_5_VLConfig,
    Qwen2_5_VLForConditionalGeneration,
    Qwen2_5_VLProcessor,
    Qwen2VLImageProcessor,
    Qwen2VLVideoProcessor,
)

from tests.models.tiny import CHAT_TEMPLATE, SPREAD, gemma_tokenizer, letter_pieces, letter_tokenizer, save, save_lxmert
from tests.models.tiny_chat import QWEN_TEMPLATE, byte_tokenizer

DEEP = 0.15  # spread of random weights in many layers: 0.3 saturates them, so that every input gives the same


def save_clip(folder: Path) -> Path:
    """CLIP ViT-L/14 over 32: its published ids of beginning, end and filling (0, 2, 1) are none of the tokenizer's."""
    tokenizer = letter_tokenizer()
    config = CLIPConfig(
        text_config={
            "vocab_size": len(tokenizer),
            "hidden_size": 24,
            "intermediate_size": 96,
            "num_hidden_layers": 12,
            "num_attention_heads": 12,
            "max_position_embeddings": 77,
            "initializer_factor": 4.0,
            "bos_token_id": 0,
            "eos_token_id": 2,
            "pad_token_id": 1,
        },
        vision_config={
            "hidden_size": 32,
            "intermediate_size": 128,
            "num_hidden_layers": 24,
            "num_attention_heads": 16,
            "image_size": 56,
            "patch_size": 14,
            "initializer_factor": 4.0,
        },
        projection_dim=24,
    )
    pictures = CLIPImageProcessor(size={"shortest_edge": 56}, crop_size={"height": 56, "width": 56})
    return save(folder, CLIPModel, config, CLIPProcessor(pictures, tokenizer))


def save_blip(folder: Path) -> dict[str, str]:
    """BLIP base over 16: its published id of the end (2) is not [SEP], which ends a caption."""
    tokenizer = letter_pieces()
    sizes = {"hidden_size": 48, "intermediate_size": 192, "num_attention_heads": 12, "num_hidden_layers": 12}
    text = {
        **sizes,
        "encoder_hidden_size": 48,
        "vocab_size": len(tokenizer),
        "max_position_embeddings": 512,
        "initializer_range": 0.06,
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": 2,
        "sep_token_id": tokenizer.sep_token_id,
        "pad_token_id": tokenizer.pad_token_id,
    }
    vision = {**sizes, "image_size": 96, "patch_size": 16, "initializer_range": DEEP}
    config = BlipConfig(text_config=text, vision_config=vision, image_text_hidden_size=16, initializer_range=DEEP)
    processor = BlipProcessor(BlipImageProcessor(size={"height": 96, "width": 96}), tokenizer)
    heads = {
        "retrieval": BlipForImageTextRetrieval,
        "captioning": BlipForConditionalGeneration,
        "vqa": BlipForQuestionAnswering,
    }
    return {name: str(save(folder / name, kind, config, processor)) for name, kind in heads.items()}


def save_lxmert_base(folder: Path) -> Path:
    """LXMERT over 16: nine layers for words, five for regions, five for both."""
    sizes = {"hidden_size": 48, "intermediate_size": 192, "num_attention_heads": 12}
    return save_lxmert(folder, **sizes, l_layers=9, r_layers=5, x_layers=5, max_position_embeddings=512)


def save_gemma(folder: Path) -> Path:
    """Gemma-3-4B over 64: five layers of six see a window, far shorter than a prompt, and scale no positions."""
    tokenizer = gemma_tokenizer()
    config = Gemma3Config(
        text_config={
            "vocab_size": len(tokenizer),
            "hidden_size": 40,
            "intermediate_size": 160,
            "num_hidden_layers": 12,
            "num_attention_heads": 8,
            "num_key_value_heads": 4,
            "head_dim": 4,
            "query_pre_attn_scalar": 4,
            "sliding_window": 32,
            "rope_parameters": {
                "full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1e6},
                "sliding_attention": {"rope_type": "default", "rope_theta": 1e4},
            },
            "max_position_embeddings": 2048,
            "initializer_range": SPREAD,
            "pad_token_id": tokenizer.pad_token_id,
            "bos_token_id": tokenizer.bos_token_id,
            "eos_token_id": tokenizer.eos_token_id,
        },
        vision_config={
            "hidden_size": 32,
            "intermediate_size": 120,
            "num_hidden_layers": 3,
            "num_attention_heads": 16,
            "image_size": 64,
            "patch_size": 4,
            "initializer_range": SPREAD,
            "vision_use_head": False,
        },
        mm_tokens_per_image=16,
        boi_token_index=tokenizer.convert_tokens_to_ids("<start_of_image>"),
        eoi_token_index=tokenizer.convert_tokens_to_ids("<end_of_image>"),
        image_token_index=tokenizer.convert_tokens_to_ids("<image_soft_token>"),
        initializer_range=SPREAD,
        tie_word_embeddings=True,
    )
    pictures = Gemma3ImageProcessor(size={"height": 64, "width": 64}, do_pan_and_scan=False)
    processor = Gemma3Processor(pictures, tokenizer, chat_template=CHAT_TEMPLATE, image_seq_length=16)
    return save(folder, Gemma3ForConditionalGeneration, config, processor)


def save_qwen(folder: Path) -> Path:
    """Qwen2.5-VL-3B over 16: eight heads share keys, words are tied, every fourth of its layers sees all windows."""
    tokenizer = byte_tokenizer("<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>")
    identify = tokenizer.convert_tokens_to_ids
    config = Qwen2_5_VLConfig(
        text_config={
            "vocab_size": len(tokenizer),
            "hidden_size": 128,
            "intermediate_size": 688,
            "num_hidden_layers": 6,
            "num_attention_heads": 8,
            "num_key_value_heads": 1,
            "max_position_embeddings": 2048,
            "max_window_layers": 70,
            "sliding_window": 32768,
            "use_sliding_window": False,
            "rope_parameters": {"rope_type": "default", "mrope_section": [2, 3, 3], "rope_theta": 1e6},
            "initializer_range": DEEP,
            "bos_token_id": None,
            "eos_token_id": identify("<|im_end|>"),
            "pad_token_id": identify("<|endoftext|>"),
        },
        vision_config={
            "depth": 8,
            "hidden_size": 64,
            "intermediate_size": 171,
            "num_heads": 4,
            "window_size": 112,
            "fullatt_block_indexes": [3, 7],
            "out_hidden_size": 128,
            "initializer_range": DEEP,
        },
        image_token_id=identify("<|image_pad|>"),
        video_token_id=identify("<|video_pad|>"),
        vision_start_token_id=identify("<|vision_start|>"),
        vision_end_token_id=identify("<|vision_end|>"),
        tie_word_embeddings=True,
    )
    size = {"shortest_edge": 3136, "longest_edge": 12845056}
    pictures, videos = Qwen2VLImageProcessor(size=size), Qwen2VLVideoProcessor(size=size)
    processor = Qwen2_5_VLProcessor(pictures, tokenizer, videos, chat_template=QWEN_TEMPLATE)
    return save(folder, Qwen2_5_VLForConditionalGeneration, config, processor)


__all__ = ["save_blip", "save_clip", "save_gemma", "save_lxmert_base", "save_qwen"]
