"""The pocket LXMERT: the randomly initialised network, of the official class."""

from __future__ import annotations

from transformers import BertTokenizer, LxmertConfig, LxmertForPreTraining

from argus.pocket.asking import ANSWERS
from argus.pocket.detecting import CONFIG
from argus.pocket.scenes import FLAT

WIDTH, HEADS = 128, 4
POSITIONS = 128
ANSWERED = tuple(dict.fromkeys((*ANSWERS, *FLAT.shapes, *FLAT.colors)))
"""What the answer head chooses from: CLEVR's 28 answers, and the words of the flat shapes, which only train it."""
SPREAD = 0.07  # of the initial weights; the usual 0.02 is too small at this width


def build_model(tokenizer: BertTokenizer) -> LxmertForPreTraining:
    """Return LXMERT, with its matching and its answer head, with random weights from torch's global generator."""
    config = LxmertConfig(
        vocab_size=len(tokenizer),
        hidden_size=WIDTH,
        intermediate_size=3 * WIDTH,
        num_attention_heads=HEADS,
        max_position_embeddings=POSITIONS,
        initializer_range=SPREAD,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        l_layers=2,
        x_layers=2,
        r_layers=1,
        visual_feat_dim=CONFIG.widths[-1],
        task_obj_predict=False,
        num_qa_labels=len(ANSWERED),
        id2label=dict(enumerate(ANSWERED)),
        label2id={answer: number for number, answer in enumerate(ANSWERED)},
        pad_token_id=tokenizer.pad_token_id,
    )
    return LxmertForPreTraining(config)
