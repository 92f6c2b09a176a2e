"""A cost model that compiles nothing: a formula that grows with whatever makes a real program grow."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from sparsegen.budget.budget import Budget
from sparsegen.budget.cost_model import Predicted
from sparsegen.budget.plan import Plan
from sparsegen.lowering.formats import FORMATS, IntegerFormat

CODE, CYCLES = 700, 400
MOST = 10_000


@dataclass(frozen=True)
class MadeUpCosts:
    """Bytes of code, of a projection and of vectors; a few cycles for each byte."""

    device: str = ""
    rows: Any = None
    profile: Any = None

    def predict(self, plan: Plan) -> Predicted:
        """Return the cost of a plan."""
        numbers = FORMATS[plan.dtype]
        index, coef = (
            (4, 4)
            if not isinstance(numbers, IntegerFormat)
            else (
                numbers.index_dtype.itemsize,
                numbers.coef_dtype.itemsize,
            )
        )
        seen = plan.n_features if plan.n_projected is None else plan.n_projected
        vectors = plan.n_outputs if plan.kernels[0].is_linear else plan.n_vectors
        tables = vectors * (seen * index + 4 + plan.n_outputs * coef)
        tables += 0 if plan.n_projected is None else plan.n_projected * plan.n_features * index
        cycles = CYCLES + 6 * tables // index
        return Predicted(
            CODE + tables, 64 + 4 * plan.n_features, float(cycles), float(cycles), cycles / 48_000, cycles / 48_000
        )

    def most_vectors(self, plan: Plan, budget: Budget) -> int:
        """Return how many vectors fit, found by bisection."""

        def fits(n_vectors: int) -> bool:
            cost = self.predict(replace(plan, n_vectors=n_vectors))
            return budget.shortage(cost.flash, cost.ram, cost.milliseconds) is None

        low, high = 0, MOST
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if fits(middle) else (low, middle - 1)
        return low
