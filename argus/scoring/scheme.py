"""How figures are made and weighed: one scheme for each yaml in `conf/score`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields

from argus.errors import ConfigError
from argus.records import Costs
from argus.scoring.resampling import Bootstrap

CDC_FORMS = {
    "population": "1 - sigma / mu of the dataset scores (population sigma), floored at 0",
    "within_task": "1 - sigma / mu of the dataset scores within each task, floored at 0, mean over tasks",
    "min_max": "lowest dataset score / highest dataset score",
    "gini": "1 - Gini coefficient of the dataset scores",
    "difficulty_adjusted": "1 - sigma of (cell score - the models' median), by dataset, / mu; floored at 0",
}
EFFICIENCY_FORMS = {
    "reference": "geometric mean of reference / (reference + cost), mean over clean cells",
    "relative": "geometric mean of lowest cost among the compared models / cost, mean over clean cells",
}
OVERALL_FORMS = {
    "arithmetic": "sum(w * A) / sum(w), RR capped at 1",
    "geometric": "exp(sum(w * ln A) / sum(w)), RR capped at 1",
}
P_FORM = "mean clean score over dataset x task cells"
RR_FORM = (
    "mean perturbed score / mean clean score over the same cells and samples; "
    "mean over severities, then perturbations, then pictures and texts"
)


@dataclass(frozen=True)
class Weights:
    """How much each part of A(M) counts in the overall score; only their proportions matter."""

    P: float
    CDC: float
    RR: float
    E: float

    def __post_init__(self) -> None:
        for name, weight in asdict(self).items():
            if not isinstance(weight, int | float) or not (math.isfinite(weight) and weight >= 0):
                raise ConfigError(f"score.weights.{name}={weight}: a weight must be a finite number of 0 or more")
        if sum(asdict(self).values()) == 0:
            raise ConfigError("score.weights are all 0: give at least one of P, CDC, RR, E a positive weight")


@dataclass(frozen=True)
class Formulas:
    """Which form of each figure; `costs` are the names (of Costs) that enter E."""

    cdc: str
    efficiency: str
    costs: Sequence[str]
    overall: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "costs", tuple(self.costs))  # configs bring lists; a frozen record holds none
        for name, forms in (("cdc", CDC_FORMS), ("efficiency", EFFICIENCY_FORMS), ("overall", OVERALL_FORMS)):
            if getattr(self, name) not in forms:
                raise ConfigError(f"score.formulas.{name}={getattr(self, name)}: choose one of {', '.join(forms)}")
        known = [field.name for field in fields(Costs)]
        unknown = [cost for cost in self.costs if cost not in known]
        if unknown or not self.costs or len(set(self.costs)) < len(self.costs):
            raise ConfigError(
                f"score.formulas.costs={list(self.costs)}: give one or more of {', '.join(known)}, each once"
            )

    def described(self) -> dict[str, str]:
        """Return what each figure is, in words and symbols, for the report."""
        return {
            "P": P_FORM,
            "CDC": f"{self.cdc}: {CDC_FORMS[self.cdc]}",
            "RR": RR_FORM,
            "E": f"{self.efficiency}: {EFFICIENCY_FORMS[self.efficiency]}; costs: {', '.join(self.costs)}",
            "overall": f"{self.overall}: {OVERALL_FORMS[self.overall]}",
        }


@dataclass(frozen=True)
class Scheme:
    """A named weighting with its formulas, and how its intervals are made."""

    name: str
    weights: Weights
    formulas: Formulas
    bootstrap: Bootstrap
    reference_model: str | None = None  # the model whose mCE is 1
