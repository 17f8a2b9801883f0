"""Caption metrics of the COCO evaluation without Java: same tokens, same numbers as pycocoevalcap 1.2."""

from argus.metrics.captions.bleu import BleuStatistics, bleu, total
from argus.metrics.captions.scores import CaptionScores, score_captions
from argus.metrics.captions.tokenizer import tokenize

__all__ = ["BleuStatistics", "CaptionScores", "bleu", "score_captions", "tokenize", "total"]
