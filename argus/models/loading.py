"""Where weights come from, and how they are loaded: quietly, completely, in the wanted precision."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from argus.errors import ArgusError, ConfigError, DataError

if TYPE_CHECKING:
    from torch import Tensor

    from argus.models.base import Runtime

POCKET = "pocket/"
"""Locations that start so mean a folder shipped within the package."""

PROBE = "a man and a dog on the left of two red ones"
LAYOUT = "config.json, *.safetensors (or *.bin), and the processor's and tokenizer's json files"
"""The `save_pretrained` layout, as error messages show it."""

SETTINGS, DETECTOR_SETTINGS = "config.json", "config.yaml"
"""What describes a checkpoint: transformers' name, and that of the published region detector."""

DIGESTED = (".safetensors", ".bin", ".json", ".yaml", ".jinja", ".model", ".txt")
"""Suffixes of the files that can change what a model does."""


@dataclass(frozen=True)
class Source:
    """Weights that were found: what to hand to `from_pretrained`, and which they are.

    `commit` is None for a folder. `revision` is the hub commit, or "sha256:…" of a folder's files.
    """

    path: str
    commit: str | None
    revision: str


def resolve(location: str, revision: str | None = None) -> Source:
    """Find the weights of a folder, a shipped `pocket/…` checkpoint or a hub repository, and return where they are.

    `revision` (branch, tag or commit; None is the main branch) counts for a hub repository only. No weights are
    loaded; a hub repository's config.json is fetched, or read from the hub cache when HF_HUB_OFFLINE is set.
    Raises DataError that names the path or repository, the files expected there, and what to do.
    """
    if location.startswith(POCKET):
        return _shipped(location)
    folder = Path(location).expanduser()
    if folder.is_dir() or folder.is_absolute() or location.startswith((".", "~")) or location.count("/") != 1:
        return _folder(folder, location)
    return _repository(location, revision)


class Sources:
    """The weights of a model that comes in parts, each found when it is first asked for.

    Raises ConfigError when `checkpoint` or `revision` does not name exactly the `parts`.
    """

    def __init__(
        self, model: str, parts: Iterable[str], checkpoint: Mapping[str, str], revision: Mapping[str, str | None]
    ) -> None:
        self.parts = tuple(parts)
        for name, given in (("checkpoint", checkpoint), ("revision", revision)):
            if set(given) != set(self.parts):
                raise ConfigError(f"{name} of {model} has the heads {sorted(given)}; give {', '.join(self.parts)}")
        self.checkpoint, self.revision = dict(checkpoint), dict(revision)
        self._found: dict[str, Source] = {}

    def __getitem__(self, part: str) -> Source:
        if part not in self._found:
            self._found[part] = resolve(self.checkpoint[part], self.revision[part])
        return self._found[part]

    def revisions(self) -> dict[str, str]:
        """Return the revision of every part, used or not; "missing" for one whose weights are not there."""
        return {part: self._revision(part) for part in self.parts}

    def _revision(self, part: str) -> str:
        try:
            return self[part].revision
        except DataError:
            return "missing"


def digest(folder: Path) -> str:
    """Return "sha256:…" over names and contents of a folder's weight, configuration and tokenizer files."""
    total = hashlib.sha256()
    for path in sorted(path for path in folder.iterdir() if path.suffix in DIGESTED):
        with path.open("rb") as file:
            total.update(f"{path.name}:{hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
    return f"sha256:{total.hexdigest()}"


def load_model(auto: type, source: Source, runtime: Runtime, attention: str) -> Any:
    """Load `auto.from_pretrained` of a source for inference: given precision, attention kernel and device, eval mode.

    Raises DataError when weights are missing or have another shape: transformers would fill them with random numbers.
    """
    try:
        with quietly():
            model, report = auto.from_pretrained(  # type: ignore[attr-defined]
                source.path,
                revision=source.commit,
                dtype=torch_dtype(runtime.dtype),
                attn_implementation=attention,
                output_loading_info=True,
                ignore_mismatched_sizes=True,  # reported below, with the missing ones
            )
    except (OSError, ValueError) as error:
        raise DataError(f"cannot load '{source.path}' as {auto.__name__}: {error}. Expected: {LAYOUT}") from error
    lacking = sorted(map(str, [*report["missing_keys"], *report["mismatched_keys"]]))
    if lacking:
        raise DataError(
            f"'{source.path}' lacks {len(lacking)} weights of {type(model).__name__} (first: {lacking[0]}); "
            "it was saved from another kind of model. Choose a checkpoint of this architecture"
        )
    return model.to(runtime.device).eval()


def load_processor(source: Source) -> Any:
    """Load the image processor and tokenizer that belong to a source."""
    from transformers import AutoProcessor

    try:
        with quietly():
            processor = AutoProcessor.from_pretrained(source.path, revision=source.commit)
    except (OSError, ValueError) as error:
        raise DataError(f"cannot load the processor of '{source.path}': {error}. Expected: {LAYOUT}") from error
    if "Processor" not in type(processor).__name__:
        raise DataError(
            f"'{source.path}' has a {type(processor).__name__} but no image processor; "
            "save the whole processor there: AutoProcessor.from_pretrained(…).save_pretrained(folder)"
        )
    _require_words(processor.tokenizer, source)
    return processor


def load_tokenizer(source: Source) -> Any:
    """Load the tokenizer of a source that has no image processor: its model reads regions, not pixels."""
    from transformers import AutoTokenizer

    try:
        with quietly():
            tokenizer = AutoTokenizer.from_pretrained(source.path, revision=source.commit)
    except (OSError, ValueError) as error:
        raise DataError(f"cannot load the tokenizer of '{source.path}': {error}. Expected: {LAYOUT}") from error
    _require_words(tokenizer, source)
    return tokenizer


def _require_words(tokenizer: Any, source: Source) -> None:
    """Raise DataError for a tokenizer without words: transformers makes an empty one where its files are missing."""
    special = {*tokenizer.all_special_ids, tokenizer.unk_token_id}
    known = set(tokenizer(PROBE, add_special_tokens=False)["input_ids"]) - special
    if len(known) < 2:
        raise DataError(
            f"the tokenizer of '{source.path}' knows no words (of '{PROBE}' it reads {len(known)}): tokenizer.json, or "
            f"vocab and merges, is missing or of another model. Expected: {LAYOUT}"
        )


def torch_dtype(name: str) -> Any:
    """Return the torch dtype of this name, or raise ConfigError naming those that work."""
    import torch

    known = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
    if name not in known:
        raise ConfigError(f"dtype '{name}' of the hardware profile: choose one of {', '.join(known)}")
    return known[name]


def finite(scores: Tensor, model: str, runtime: Runtime) -> Tensor:
    """Return the scores as float32 on the CPU; raise ArgusError when one is NaN or infinite."""
    scores = scores.float().cpu()
    if not scores.isfinite().all():
        advice = "look at its inputs"
        if runtime.dtype == "float16":
            advice = "float16 overflows in some models: use bfloat16 or float32"
        raise ArgusError(f"{model} gave NaN or infinite values in {runtime.dtype} on {runtime.device}; {advice}")
    return scores


@contextmanager
def quietly() -> Iterator[None]:
    """Keep transformers' progress bars and notes off the terminal; errors still show."""
    from transformers.utils import logging

    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()


def _shipped(location: str) -> Source:
    folder = Path(__file__).parents[1] / "pocket" / "checkpoints" / location.removeprefix(POCKET)
    if not folder.is_dir():
        raise DataError(
            f"no weights are shipped as '{location}' (no folder '{folder}'). Take the published ones: suite=official, "
            "or on generated scenes suite.checkpoints=official; or name a folder: model.checkpoint=FOLDER"
        )
    return _folder(folder, location)


def _folder(folder: Path, location: str) -> Source:
    if not folder.is_dir():
        raise DataError(f"no folder '{folder}' (checkpoint '{location}'). Expected there: {LAYOUT}")
    if not any((folder / name).is_file() for name in (SETTINGS, DETECTOR_SETTINGS)):
        raise DataError(f"'{folder / SETTINGS}' is missing. Expected beside it: {LAYOUT}")
    if not any(path.suffix in (".safetensors", ".bin") for path in folder.iterdir()):
        raise DataError(f"no weights in '{folder}'. Expected: {LAYOUT}")
    return Source(path=str(folder), commit=None, revision=digest(folder))


def _repository(name: str, revision: str | None) -> Source:
    from huggingface_hub.errors import (
        GatedRepoError,
        HfHubHTTPError,
        HFValidationError,
        LocalEntryNotFoundError,
        OfflineModeIsEnabled,
        RemoteEntryNotFoundError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    page = f"https://huggingface.co/{name}"
    try:
        config = _settings_file(name, revision)
    except GatedRepoError as error:
        raise DataError(f"'{name}' is gated: accept its licence on {page}, then run: hf auth login") from error
    except HFValidationError as error:
        raise DataError(f"'{name}' is no folder and cannot be the name of a hub repository: {error}") from error
    except RepositoryNotFoundError as error:
        raise DataError(f"no folder and no hub repository '{name}'; check the name on {page}") from error
    except RevisionNotFoundError as error:
        raise DataError(f"'{name}' has no revision '{revision}'; see {page}/commits") from error
    except RemoteEntryNotFoundError as error:
        raise DataError(f"'{name}' has no config.json. Expected: {LAYOUT}") from error
    except (LocalEntryNotFoundError, OfflineModeIsEnabled, HfHubHTTPError, ConnectionError) as error:
        pinned = f" --revision {revision}" if revision else ""
        raise DataError(
            f"'{name}'{pinned} is no folder, not in the hub cache, and the hub cannot be reached. "
            f"Run where it can: hf download {name}{pinned}; or name a folder with {LAYOUT}; "
            "or take one of the models of suite=pocket"
        ) from error
    # The hub cache keeps files as …/snapshots/<commit>/<file>.
    commit = Path(config).parent.name
    return Source(path=name, commit=commit, revision=commit)


def _settings_file(name: str, revision: str | None) -> str:
    """Fetch what describes a hub repository, or find it in the cache; raises what huggingface_hub does."""
    from huggingface_hub import hf_hub_download, try_to_load_from_cache
    from huggingface_hub.errors import EntryNotFoundError, LocalEntryNotFoundError

    try:
        return hf_hub_download(name, SETTINGS, revision=revision)
    except EntryNotFoundError as error:
        cached = try_to_load_from_cache(name, DETECTOR_SETTINGS, revision=revision)
        if isinstance(cached, str):
            return cached
        if isinstance(error, LocalEntryNotFoundError):
            raise  # the hub was not reached
        return hf_hub_download(name, DETECTOR_SETTINGS, revision=revision)
