"""What every task checks before it trusts a model's numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from argus.errors import ArgusError, ConfigError

if TYPE_CHECKING:
    from argus.models.base import Model
    from argus.tasks.base import Task

OVERFLOW_ADVICE = (
    "Half precision may have overflowed: run in bfloat16 or float32 (runtime.dtype of the hardware profile); "
    "if it stays, the weights themselves hold NaN"
)


def require_finite(scores: np.ndarray, sample_id: str) -> np.ndarray:
    """Return the scores, or raise ArgusError naming the sample where one is NaN or infinite."""
    wrong = int(np.size(scores) - np.isfinite(scores).sum())
    if wrong:
        raise ArgusError(
            f"{wrong} of {np.size(scores)} scores of sample '{sample_id}' are NaN or infinite. {OVERFLOW_ADVICE}"
        )
    return scores


def require_ability(task: type[Task] | Task, model: Model) -> None:
    """Raise ConfigError where the model has none of the abilities that the task can use."""
    if not isinstance(model, task.abilities):
        lacking = " and ".join(ability.lacking for ability in task.abilities)
        raise ConfigError(
            f"the model ({type(model).__name__}) {lacking}, so it cannot do {task.name}; "
            "choose another model=… or task=…"
        )
