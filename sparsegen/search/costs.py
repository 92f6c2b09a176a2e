"""What candidates cost before they are trained, and how many vectors of them fit the budget."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Protocol

from sparsegen.budget.budget import Budget
from sparsegen.budget.cost_model import Predicted
from sparsegen.budget.plan import Plan
from sparsegen.errors import FitError, ModelError, OptionError
from sparsegen.search.candidate import Candidate

FEWEST_VECTORS = 2


class Predicts(Protocol):
    """A cost model."""

    def predict(self, plan: Plan) -> Predicted:
        """Return what a plan will cost."""

    def most_vectors(self, plan: Plan, budget: Budget) -> int:
        """Return how many vectors a plan may have within a budget; 0 if none fits."""


@dataclass(frozen=True)
class Sketch:
    """A candidate before it is known how many vectors fit."""

    candidate: Candidate
    limit: int
    """Vectors that are worth having, whatever the budget."""
    share: float
    """Of the most that fit."""


class Costs:
    """The cost model of a device, a budget, and the shape of the data.

    A cost model measures for each structure what it is asked first, and derives the rest from that. So that a search
    that goes on computes what it would have computed had it never stopped, it asks first what it had asked before.
    """

    def __init__(self, model: Predicts, n_features: int, n_outputs: int, budget: Budget) -> None:
        self.budget = budget
        self._model, self._n_features, self._n_outputs = model, n_features, n_outputs
        self._least: tuple[int, str] | None = None
        self._asked_before: dict[Plan, list[Sketch]] = {}

    def ask_first(self, sketches: Iterable[Sketch]) -> None:
        """Note what an earlier run has asked, in this order; it is asked again once its structure is needed."""
        for sketch in sketches:
            self._asked_before.setdefault(self._structure(sketch), []).append(sketch)

    def of(self, candidate: Candidate) -> Predicted:
        """Return the estimated cost of a candidate."""
        return self._model.predict(candidate.plan(self._n_features, self._n_outputs))

    def shortage(self, cost: Predicted) -> str | None:
        """Return in words what a cost is beyond the budget."""
        return cost.shortage(self.budget)

    def filled(self, sketch: Sketch) -> Candidate | None:
        """Return the candidate with a share of the most vectors that fit, and no more than the limit.

        ``None`` where hardly a vector fits.
        """
        for earlier in self._asked_before.pop(self._structure(sketch), ()):
            if (candidate := self._fill(earlier)) is not None:
                self.of(candidate)
        return self._fill(sketch)

    def _structure(self, sketch: Sketch) -> Plan:
        plan = sketch.candidate.plan(self._n_features, self._n_outputs)
        return replace(plan, n_vectors=1, gamma=None, C=1.0)

    def _fill(self, sketch: Sketch) -> Candidate | None:
        plan = sketch.candidate.plan(self._n_features, self._n_outputs)
        try:
            most = min(sketch.limit, self._model.most_vectors(plan, self.budget))
            if most < min(sketch.limit, FEWEST_VECTORS):
                cost = self._model.predict(replace(plan, n_vectors=1))
                self._least = min(self._least or (cost.flash, ""), (cost.flash, self.shortage(cost) or ""))
                return None
        except (FitError, ModelError, OptionError):  # too large to measure, or nothing that can be exported
            return None
        return replace(sketch.candidate, n_vectors=max(1, math.floor(sketch.share * most + 1e-9)))

    @property
    def misfit(self) -> str:
        """Why nothing fits, in words: what the smallest model that was thought of would need."""
        return "" if self._least is None else f"; the smallest that was thought of {self._least[1]}"
