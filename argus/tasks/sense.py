"""Which cells make sense, told from classes alone: nothing is loaded, so a sweep can be planned in no time."""

from __future__ import annotations

from collections.abc import Sequence

from argus.models.base import Generator
from argus.tasks.base import Task
from argus.tasks.captioning import BANK, Captioning, source


def why_not(
    task: type[Task], model_class: type, modality: str, caption_prompt: str, dataset_tasks: Sequence[str]
) -> str | None:
    """Return the reason why a cell makes no sense, or None where it does.

    `modality` is what the perturbation changes ("image", "text", "both" or "none"), `caption_prompt` what the model is
    asked for a caption ("" where it reads no prompt).
    """
    if task.name not in dataset_tasks:
        return f"the dataset offers {', '.join(dataset_tasks) or 'no task'}, not {task.name}"
    if not issubclass(model_class, task.abilities):
        lacking = " and ".join(ability.lacking for ability in task.abilities)
        return f"the model {lacking}, so it cannot do {task.name}"
    if modality in ("text", "both") and issubclass(task, Captioning):
        if source(model_class) == BANK:
            return "the model reads no prompt: it picks captions from a bank, which is never perturbed"
        if issubclass(model_class, Generator) and not caption_prompt:
            return "the model reads no prompt for a caption, so no text can be perturbed"
    return None
