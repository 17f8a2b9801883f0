"""Score captions as the COCO evaluation does: python -m argus.caption_eval references=… results=… output=…"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import hydra
from omegaconf import DictConfig
from rich.console import Console
from rich.table import Table

from argus.configuration import conf_dir
from argus.errors import ArgusError, ConfigError
from argus.metrics.captions.files import read_references, read_results, require_same_images
from argus.metrics.captions.java import JavaScores, meteor, spice
from argus.metrics.captions.scores import TokenizedCaptions, score_overlap, score_tokenized, tokenize_captions
from argus.overrides import require_known

_LABELS = {
    "bleu_1": "BLEU-1",
    "bleu_2": "BLEU-2",
    "bleu_3": "BLEU-3",
    "bleu_4": "BLEU-4",
    "meteor": "METEOR",
    "rouge_l": "ROUGE-L",
    "cider_d": "CIDEr-D (1.0 is what papers print as 100)",
    "spice": "SPICE",
}
_JAVA = {"meteor": meteor, "spice": spice}
_CHOICES: dict[object, tuple[str, ...]] = {
    False: (),
    True: ("spice", "meteor"),
    "meteor": ("meteor",),
    "spice": ("spice",),
}


@hydra.main(version_base=None, config_path=str(conf_dir()), config_name="caption_eval")
def main(cfg: DictConfig) -> None:
    """Read two files, write one, print a table. Exits with status 1 and one line on stderr where the input is wrong."""
    try:
        _evaluate(cfg)
    except ArgusError as error:
        sys.exit(f"error: {error}")


def _evaluate(cfg: DictConfig) -> None:
    for key in ("references", "results", "output"):
        if cfg[key] is None:
            raise ConfigError(f"{key} is not set: add {key}=<path of a JSON file>")
    if not isinstance(cfg.java, bool | str) or cfg.java not in _CHOICES:
        raise ConfigError(f"java is {cfg.java!r}: choose false, true, meteor or spice")
    output = Path(cfg.output)
    if not output.parent.is_dir():
        raise ConfigError(f"no folder '{output.parent}' for the output '{output}'; create it first")
    references, results = read_references(Path(cfg.references)), read_results(Path(cfg.results))
    require_same_images(references, results)
    scores = _scores(tokenize_captions(results, references), _CHOICES[cfg.java])
    try:
        output.write_text(json.dumps(scores, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"cannot write the output '{output}': {error.strerror}") from error
    Console().print(_table(scores["corpus"], len(references)))
    print(f"scores of each image: {output}")


def _scores(captions: TokenizedCaptions, java: tuple[str, ...]) -> dict[str, Any]:
    """Return what is written: the corpus's metrics, and each image's beside its id."""
    lone = len(captions.references) < 2
    scores = score_overlap(captions) if lone else score_tokenized(captions)
    corpus: dict[str, float | None] = dict(scores.corpus)
    images: dict[Any, dict[str, float | None]] = {image: dict(values) for image, values in scores.images.items()}
    if lone:
        print("warning: CIDEr-D is null, since it needs at least two images", file=sys.stderr)
        for values in (corpus, *images.values()):
            values["cider_d"] = None
    for name in java:
        found: JavaScores = _JAVA[name](captions)
        corpus[name] = found.corpus
        for image, values in images.items():
            values[name] = found.images[image]
    return {"corpus": corpus, "images": [{"image_id": image, **values} for image, values in images.items()]}


def _table(corpus: Mapping[str, float | None], images: int) -> Table:
    table = Table("metric", title=f"{images} image{'s' * (images != 1)}")
    table.add_column("value", justify="right")
    for name, label in _LABELS.items():
        if name in corpus:
            value = corpus[name]
            table.add_row(label, "–" if value is None else f"{value:.4f}")
    return table


if __name__ == "__main__":
    require_known("caption_eval")
    main()
