"""Tiny checkpoints of the real architectures with random weights, in the `save_pretrained` layout.

They know nothing; they are for tests of everything around the weights. Each `save_…` writes one folder in well under
a second and returns it. The weights are the same in every process.
"""

from __future__ import annotations

import json
from pathlib import Path
from shutil import copytree
from string import ascii_letters, ascii_lowercase, digits, punctuation
from typing import Any

import torch
from tokenizers.pre_tokenizers import ByteLevel
from transformers import (
    BertTokenizer,
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
    CLIPTokenizer,
    Gemma3Config,
    Gemma3ForConditionalGeneration,
    Gemma3ImageProcessor,
    Gemma3Processor,
    GemmaTokenizer,
    GenerationConfig,
    LxmertConfig,
    LxmertForPreTraining,
    Siglip2Config,
    Siglip2ImageProcessor,
    Siglip2Model,
    Siglip2Processor,
    Siglip2Tokenizer,
    SiglipConfig,
    SiglipImageProcessor,
    SiglipModel,
    SiglipProcessor,
)
from transformers.utils import logging

from argus.models.regions.pocket import Detector, DetectorConfig, save_detector

SPREAD = 0.3  # of random weights: enough that different inputs give clearly different outputs
WORDS = ("yes", "no", "Yes", "red", "blue", "cube", "image", "this", "What")
CHAT_TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}<start_of_turn>{{ message['role'] }}\n"
    "{% for part in message['content'] %}"
    "{% if part['type'] == 'image' %}<start_of_image>{% else %}{{ part['text'] | trim }}{% endif %}"
    "{% endfor %}<end_of_turn>\n{% endfor %}"
    "{% if add_generation_prompt %}<start_of_turn>model\n{% endif %}"
)


def save_clip(folder: Path) -> Path:
    """Write a CLIP of 16 px pictures and 40 text positions, one token per letter."""
    tokenizer = letter_tokenizer()
    config = CLIPConfig(
        text_config={
            **tower(),
            "vocab_size": len(tokenizer),
            "max_position_embeddings": 40,
            "bos_token_id": tokenizer.bos_token_id,
            "eos_token_id": tokenizer.eos_token_id,
            "pad_token_id": tokenizer.pad_token_id,
        },
        vision_config={**tower(), "image_size": 16, "patch_size": 8},
        projection_dim=12,
    )
    pictures = CLIPImageProcessor(size={"shortest_edge": 16}, crop_size={"height": 16, "width": 16})
    return save(folder, CLIPModel, config, CLIPProcessor(pictures, tokenizer))


def save_siglip(folder: Path) -> Path:
    """Write a SigLIP of 16 px pictures and 40 text positions, one token per letter; its tokenizer is CLIP's."""
    tokenizer = letter_tokenizer()
    config = SiglipConfig(
        text_config={**tower(), "vocab_size": len(tokenizer), "max_position_embeddings": 40, "projection_size": 16},
        vision_config={**tower(), "image_size": 16, "patch_size": 8},
    )
    pictures = SiglipImageProcessor(size={"height": 16, "width": 16})
    return save(folder, SiglipModel, config, SiglipProcessor(pictures, tokenizer))


def save_siglip2(folder: Path) -> Path:
    """Write a SigLIP2 of one resolution: SigLIP with Gemma's tokenizer, pieces with merges, texts filled to 40."""
    tokenizer = gemma_tokenizer()
    config = SiglipConfig(
        text_config={**tower(), "vocab_size": len(tokenizer), "max_position_embeddings": 40, "projection_size": 16},
        vision_config={**tower(), "image_size": 16, "patch_size": 8},
    )
    pictures = SiglipImageProcessor(size={"height": 16, "width": 16})
    return save(folder, SiglipModel, config, SiglipProcessor(pictures, tokenizer))


def save_naflex(folder: Path) -> Path:
    """Write a SigLIP2 of any resolution: a picture keeps its shape, as up to 256 patches of which some are filling."""
    tokenizer = Siglip2Tokenizer(vocab=gemma_tokenizer().get_vocab(), merges=gemma_merges(), padding_side="right")
    config = Siglip2Config(
        text_config={**tower(), "vocab_size": len(tokenizer), "max_position_embeddings": 40, "projection_size": 16},
        vision_config={**tower(), "num_patches": 16, "patch_size": 16},
    )
    return save(folder, Siglip2Model, config, Siglip2Processor(Siglip2ImageProcessor(), tokenizer))


def save_blip(folder: Path) -> dict[str, str]:
    """Write the three BLIP checkpoints and return their folders by head."""
    return {
        "retrieval": str(_save_blip(folder / "retrieval", BlipForImageTextRetrieval)),
        "captioning": str(_save_blip(folder / "captioning", BlipForConditionalGeneration)),
        "vqa": str(_save_blip(folder / "vqa", BlipForQuestionAnswering)),
    }


def save_gemma(folder: Path, sliding_window: int = 24) -> Path:
    """Write a Gemma-3 of 4 image tokens, with sliding and full attention layers; its generation_config samples."""
    tokenizer = gemma_tokenizer()
    config = Gemma3Config(
        text_config={
            **tower(layers=3),
            "vocab_size": len(tokenizer),
            "num_key_value_heads": 1,
            "head_dim": 8,
            "query_pre_attn_scalar": 8,
            "sliding_window": sliding_window,
            "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
            "max_position_embeddings": 512,
            "pad_token_id": tokenizer.pad_token_id,
            "bos_token_id": tokenizer.bos_token_id,
            "eos_token_id": tokenizer.eos_token_id,
        },
        vision_config={**tower(), "image_size": 16, "patch_size": 4, "vision_use_head": False},
        mm_tokens_per_image=4,
        boi_token_index=tokenizer.convert_tokens_to_ids("<start_of_image>"),
        eoi_token_index=tokenizer.convert_tokens_to_ids("<end_of_image>"),
        image_token_index=tokenizer.convert_tokens_to_ids("<image_soft_token>"),
        initializer_range=SPREAD,
        tie_word_embeddings=True,
    )
    pictures = Gemma3ImageProcessor(size={"height": 16, "width": 16}, do_pan_and_scan=False)
    processor = Gemma3Processor(pictures, tokenizer, chat_template=CHAT_TEMPLATE, image_seq_length=4)
    save(folder, Gemma3ForConditionalGeneration, config, processor)
    ends = [tokenizer.eos_token_id, tokenizer.convert_tokens_to_ids("<end_of_turn>")]
    GenerationConfig(
        do_sample=True, top_k=20, top_p=0.9, temperature=1.5, eos_token_id=ends, pad_token_id=tokenizer.pad_token_id
    ).save_pretrained(folder)
    return folder


def save_lxmert(folder: Path, **shape: int) -> Path:
    """Write an LXMERT of 6 answers with both heads, one token per letter, and in `regions` its detector of 16 cells."""
    tokenizer = letter_pieces()
    answers = ("yes", "no", "red", "blue", "cube", "2")
    sizes = {"hidden_size": 16, "intermediate_size": 24, "num_attention_heads": 2}
    sizes |= {"l_layers": 2, "x_layers": 2, "r_layers": 1, "max_position_embeddings": 64}
    config = LxmertConfig(
        **{**sizes, **shape},
        vocab_size=len(tokenizer),
        initializer_range=SPREAD,
        visual_feat_dim=12,
        num_object_labels=3,
        num_attr_labels=3,
        num_qa_labels=len(answers),
        id2label=dict(enumerate(answers)),
        label2id={answer: number for number, answer in enumerate(answers)},
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(7)
        detector = Detector(DetectorConfig(side=32, widths=(4, 6, 8, 8, 12), regions=5, facets=(2, 3)))
    save_detector(detector, folder / "regions")
    return save(folder, LxmertForPreTraining, config, tokenizer)


def filled_up(folder: Path, copy: Path, side: str) -> Path:
    """Write a copy of a checkpoint whose tokenizer fills up on this side, and return it."""
    copytree(folder, copy)
    settings = json.loads((copy / "tokenizer_config.json").read_text())
    (copy / "tokenizer_config.json").write_text(json.dumps({**settings, "padding_side": side}))
    return copy


def tower(layers: int = 2) -> dict[str, Any]:
    return {
        "hidden_size": 16,
        "intermediate_size": 24,
        "num_hidden_layers": layers,
        "num_attention_heads": 2,
        "initializer_range": SPREAD,
    }


def letter_tokenizer() -> CLIPTokenizer:
    letters = sorted(ByteLevel.alphabet())
    pieces = [*letters, *(f"{letter}</w>" for letter in letters), "<|startoftext|>", "<|endoftext|>"]
    return CLIPTokenizer(vocab={piece: index for index, piece in enumerate(pieces)}, merges=[])


def _save_blip(folder: Path, kind: type) -> Path:
    tokenizer = letter_pieces()
    config = BlipConfig(
        text_config={
            **tower(),
            "vocab_size": len(tokenizer),
            "encoder_hidden_size": 16,
            "max_position_embeddings": 64,
            "bos_token_id": tokenizer.bos_token_id,
            "eos_token_id": tokenizer.sep_token_id,
            "sep_token_id": tokenizer.sep_token_id,
            "pad_token_id": tokenizer.pad_token_id,
        },
        vision_config={**tower(), "image_size": 16, "patch_size": 8},
        image_text_hidden_size=12,
        initializer_range=SPREAD,
    )
    pictures = BlipImageProcessor(size={"height": 16, "width": 16})
    return save(folder, kind, config, BlipProcessor(pictures, tokenizer))


def letter_pieces() -> BertTokenizer:
    letters = ascii_lowercase + digits + punctuation
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{letter}" for letter in letters)]
    pieces += [word for word in WORDS if word.islower()] + ["[DEC]", "[ENC]"]
    return BertTokenizer(vocab={piece: index for index, piece in enumerate(pieces)}, bos_token="[DEC]")


def gemma_merges() -> list[tuple[str, str]]:
    # Pieces that grow over a space, a line end or a quotation mark: a prompt cannot be cut just anywhere.
    merges = [("\n", "\n"), ("\n\n", "\n"), ("▁", '"'), ('"', "?"), ("▁", "a"), ('"', "a"), ("\n\n", "D")]
    for word in (*WORDS, "▁yes", "▁no", "▁red"):
        merges += [(word[:end], word[end]) for end in range(1, len(word)) if (word[:end], word[end]) not in merges]
    return merges


def gemma_tokenizer() -> GemmaTokenizer:
    specials = ["<pad>", "<eos>", "<bos>", "<unk>", "<mask>", "<start_of_turn>", "<end_of_turn>"]
    specials += ["<start_of_image>", "<end_of_image>", "<image_soft_token>"]
    letters = [*ascii_letters, *digits, *punctuation, "▁", "\n"]
    merges = gemma_merges()
    pieces = [*specials, *(f"<0x{value:02X}>" for value in range(256)), *letters]
    pieces += [piece for piece in dict.fromkeys("".join(pair) for pair in merges) if piece not in pieces]
    tokenizer = GemmaTokenizer(
        vocab={piece: index for index, piece in enumerate(pieces)},
        merges=merges,
        extra_special_tokens={
            "image_token": "<image_soft_token>",
            "boi_token": "<start_of_image>",
            "eoi_token": "<end_of_image>",
        },
    )
    tokenizer.add_tokens(["<start_of_turn>", "<end_of_turn>"], special_tokens=True)
    return tokenizer


def save(folder: Path, kind: Any, config: Any, processor: Any) -> Path:
    bars = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(7)
        model = kind(config)
        for weights in model.parameters():
            # Biases, class embeddings and Gemma's projector start at zero: then nothing would depend on the picture.
            if weights.count_nonzero() == 0:
                torch.nn.init.normal_(weights, std=SPREAD)
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    if bars:
        logging.enable_progress_bar()
    return folder
