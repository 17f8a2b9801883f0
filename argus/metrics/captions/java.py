"""METEOR and SPICE, which exist in Java alone: through the optional package pycocoevalcap and a Java runtime."""

from __future__ import annotations

import importlib
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from argus.errors import ArgusError, ConfigError
from argus.metrics.captions.scores import TokenizedCaptions

_MODELS = ("stanford-corenlp-3.6.0.jar", "stanford-corenlp-3.6.0-models.jar")


@dataclass(frozen=True)
class JavaScores:
    """One metric of the corpus and of each image, in [0, 1]."""

    corpus: float
    images: Mapping[Any, float]


def meteor(captions: TokenizedCaptions) -> JavaScores:
    """Return METEOR 1.5 as the COCO evaluation runs it.

    Raises ConfigError where Java or the package is missing, ArgusError where the Java process fails.
    """
    module = _module("meteor", "METEOR")
    scorer = module.Meteor()
    try:
        corpus, images = scorer.compute_score(*_as_lists(captions))
    except (ValueError, OSError) as error:
        raise ArgusError(f"METEOR's Java process failed ({error!r}); does 'java -version' work?") from error
    finally:
        for stream in (scorer.meteor_p.stdout, scorer.meteor_p.stderr):
            stream.close()
    return JavaScores(float(corpus), dict(zip(captions.references, map(float, images), strict=True)))


def spice(captions: TokenizedCaptions) -> JavaScores:
    """Return SPICE, the F-score over all tuples of the scene graphs.

    Raises ConfigError where Java, the package or its parser models are missing, ArgusError where the Java process
    fails.
    """
    module = _module("spice", "SPICE")
    folder = Path(str(module.__file__)).parent
    absent = [name for name in _MODELS if not (folder / "lib" / name).is_file()]
    if absent:
        raise ConfigError(
            f"SPICE needs {' and '.join(absent)} in '{folder / 'lib'}'. Fetch them once (about 400 MB): "
            f"cd '{folder}' && python get_stanford_models.py"
        )
    # SPICE sorts by id and wants one type of id: places keep the order.
    references = {place: list(group) for place, group in enumerate(captions.references.values())}
    candidates = {place: [text] for place, text in enumerate(captions.candidates.values())}
    try:
        corpus, images = module.Spice().compute_score(references, candidates)
    except (OSError, ValueError, KeyError, RuntimeError, module.subprocess.CalledProcessError) as error:
        raise ArgusError(f"SPICE's Java process failed ({error!r}); it needs up to 8 GB of memory") from error
    return JavaScores(
        float(corpus), {image: float(item["All"]["f"]) for image, item in zip(captions.references, images, strict=True)}
    )


def _module(name: str, metric: str) -> ModuleType:
    if shutil.which("java") is None:
        raise ConfigError(
            f"{metric} needs a Java runtime, and there is no 'java' on the PATH; install one (8 or later)"
        )
    try:
        return importlib.import_module(f"pycocoevalcap.{name}.{name}")
    except ImportError as error:
        raise ConfigError(f"{metric} needs pycocoevalcap ({error}): pip install 'argus-eval[java]'") from error


def _as_lists(captions: TokenizedCaptions) -> tuple[dict[Any, list[str]], dict[Any, list[str]]]:
    """Return references and candidates as pycocoevalcap wants them."""
    references = {image: list(group) for image, group in captions.references.items()}
    return references, {image: [captions.candidates[image]] for image in references}
