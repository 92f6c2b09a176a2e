"""What candidates cost before they are trained, and how many vectors of them fit the budget."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Protocol

from sparsegen.budget.budget import Budget
from sparsegen.budget.cost_model import Predicted
from sparsegen.budget.plan import Plan
from sparsegen.errors import FitError
from sparsegen.search.candidate import Candidate

FEWEST_VECTORS = 2


class Predicts(Protocol):
    """A cost model."""

    def predict(self, plan: Plan) -> Predicted:
        """Return what a plan will cost."""

    def most_vectors(self, plan: Plan, budget: Budget) -> int:
        """Return how many vectors a plan may have within a budget; 0 if none fits."""


class Costs:
    """The cost model of a device, a budget, and the shape of the data."""

    def __init__(self, model: Predicts, n_features: int, n_outputs: int, budget: Budget) -> None:
        self.budget = budget
        self._model, self._n_features, self._n_outputs = model, n_features, n_outputs
        self._least: tuple[int, str] | None = None

    def of(self, candidate: Candidate) -> Predicted:
        """Return the estimated cost of a candidate."""
        return self._model.predict(candidate.plan(self._n_features, self._n_outputs))

    def shortage(self, cost: Predicted) -> str | None:
        """Return in words what a cost is beyond the budget."""
        return cost.shortage(self.budget)

    def filled(self, candidate: Candidate, limit: int, share: float) -> Candidate | None:
        """Return the candidate with a share of the most vectors that fit, and no more than the limit.

        ``None`` where hardly a vector fits.
        """
        plan = candidate.plan(self._n_features, self._n_outputs)
        try:
            most = min(limit, self._model.most_vectors(plan, self.budget))
            if most < min(limit, FEWEST_VECTORS):
                cost = self._model.predict(replace(plan, n_vectors=1))
                self._least = min(self._least or (cost.flash, ""), (cost.flash, self.shortage(cost) or ""))
                return None
        except FitError:
            return None
        return replace(candidate, n_vectors=max(1, math.floor(share * most + 1e-9)))

    @property
    def misfit(self) -> str:
        """Why nothing fits, in words: what the smallest model that was thought of would need."""
        return "" if self._least is None else f"; the smallest that was thought of {self._least[1]}"
