"""Tiny models that complete a plain text: PaliGemma, whose prompt sees itself, and BLIP-2 over an OPT."""

from __future__ import annotations

from pathlib import Path

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
from tokenizers.pre_tokenizers import ByteLevel
from transformers import (
    Blip2Config,
    Blip2ForConditionalGeneration,
    Blip2Processor,
    BlipImageProcessor,
    GemmaTokenizer,
    PaliGemmaConfig,
    PaliGemmaForConditionalGeneration,
    PaliGemmaProcessor,
    PreTrainedTokenizerFast,
    SiglipImageProcessor,
)

from tests.models.tiny import SPREAD, gemma_merges, gemma_tokenizer, save, tower


def save_paligemma2(folder: Path) -> Path:
    """Write a PaliGemma 2: every other layer sees a window, shorter than a prompt, and logits are capped."""
    return save_paligemma(folder, model_type="gemma2", sliding_window=24, query_pre_attn_scalar=8)


def save_paligemma(folder: Path, **text: str | int) -> Path:
    """Write a PaliGemma of 16 image tokens; its processor puts the picture, <bos>, the text and a line end."""
    tokenizer = GemmaTokenizer(vocab=gemma_tokenizer().get_vocab(), merges=gemma_merges())
    pictures = SiglipImageProcessor(size={"height": 16, "width": 16})
    pictures.image_seq_length = 16
    processor = PaliGemmaProcessor(pictures, tokenizer)
    config = PaliGemmaConfig(
        text_config={
            "model_type": "gemma",
            **text,
            **tower(),
            "hidden_size": 32,
            "num_key_value_heads": 1,
            "head_dim": 8,
            "vocab_size": len(tokenizer),
            "max_position_embeddings": 512,
            "pad_token_id": tokenizer.pad_token_id,
            "bos_token_id": tokenizer.bos_token_id,
            "eos_token_id": tokenizer.eos_token_id,
        },
        vision_config={
            "model_type": "siglip_vision_model",
            **tower(),
            "image_size": 16,
            "patch_size": 4,
            "vision_use_head": False,
        },
        image_token_index=processor.image_token_id,
        vocab_size=len(tokenizer),
        projection_dim=32,
        hidden_size=32,
        initializer_range=SPREAD,
    )
    return save(folder, PaliGemmaForConditionalGeneration, config, processor)


def save_blip2(folder: Path) -> Path:
    """Write a BLIP-2 of 4 image tokens, which stand before the </s> that begins the text; a line end ends a caption."""
    tokenizer = _opt_tokenizer()
    processor = Blip2Processor(BlipImageProcessor(size={"height": 16, "width": 16}), tokenizer, num_query_tokens=4)
    sizes = tower()
    config = Blip2Config(
        text_config={
            "model_type": "opt",
            "vocab_size": len(tokenizer),
            "hidden_size": 16,
            "word_embed_proj_dim": 16,
            "ffn_dim": 24,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "max_position_embeddings": 256,
            "init_std": SPREAD,
            "bos_token_id": tokenizer.bos_token_id,
            "pad_token_id": tokenizer.pad_token_id,
            "eos_token_id": tokenizer.convert_tokens_to_ids("Ċ"),
        },
        vision_config={**sizes, "image_size": 16, "patch_size": 8},
        qformer_config={**sizes, "vocab_size": 32, "cross_attention_frequency": 1, "max_position_embeddings": 32},
        num_query_tokens=4,
        image_token_index=tokenizer.convert_tokens_to_ids("<image>"),
        initializer_range=SPREAD,
    )
    return save(folder, Blip2ForConditionalGeneration, config, processor)


def _opt_tokenizer() -> PreTrainedTokenizerFast:
    """Bytes with merges over a space, and </s> before every text."""
    merges = [("y", "e"), ("ye", "s"), ("n", "o"), ("Y", "e"), ("Ye", "s"), ("Ġ", "n"), ("Ġ", "c"), ("Ġc", "u")]
    pieces = ["<pad>", "</s>", *sorted(ByteLevel.alphabet()), *("".join(pair) for pair in merges)]
    made = Tokenizer(models.BPE(vocab={piece: index for index, piece in enumerate(pieces)}, merges=merges))
    made.pre_tokenizer, made.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    made.post_processor = processors.TemplateProcessing(single="</s> $A", special_tokens=[("</s>", 1)])
    return PreTrainedTokenizerFast(tokenizer_object=made, bos_token="</s>", eos_token="</s>", pad_token="<pad>")
