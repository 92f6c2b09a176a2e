"""GSVC, the growing support vector classifier [K06, eq. 8] (Parrado-Hernandez et al., 2003).

The active row joins that the chosen ones resemble least, whatever it gains:

    j* = argmin_{j in I, j not in J} max_{l in J} |K_jl|

Symbols, and what is done about C, the bias and several classes: see ``_greedy``.

Note: the first row is a random active one. The machine is SpSVM's, with the squared hinge, as [K06] compares it.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from sparsegen.methods._greedy import GreedyClassifier
from sparsegen.methods._growth import Growth
from sparsegen.registry import METHODS


@METHODS.register("gsvc")
class GSVC(GreedyClassifier):
    """Greedy SVM that adds the active training row least like those it has.

    Args:
        n_vectors: most expansion vectors, over all classes; ``None`` means ``max(16, 3 * n_classes)``.
        C: weight of the loss, ``1 / (2 lam)`` in the paper's symbols.
        kernel: name of a kernel.
        gamma: kernel parameter, or ``"scale"`` for ``1 / (n_features * X.var())``.
        coef0: constant term of the polynomial kernel.
        degree: power of the polynomial kernel.
        fit_intercept: ``False`` leaves the bias out, as the paper does.
        retrain: when to solve all coefficients: ``"always"``, or ``"geometric"`` at sizes that grow by 2^(1/4).
        shrinking: leave rows out, until the last solution, that have not been active for long.
        max_iter: bound on the Newton steps of one solution.
        max_seconds: stop adding vectors after this time.
        tol: stop when a vector lowers the objective by less than this share.
        random_state: seed of the first row.
    """

    method = "gsvc"
    summary = "growing SVC: active rows least like the chosen ones [K06]"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **GreedyClassifier._parameter_constraints,
        "shrinking": ["boolean"],
    }

    def __init__(
        self,
        n_vectors: int | None = None,
        *,
        C: float = 1.0,
        kernel: str = "rbf",
        gamma: float | str = "scale",
        coef0: float = 1.0,
        degree: int = 3,
        fit_intercept: bool = True,
        retrain: str = "always",
        shrinking: bool = True,
        max_iter: int = 100,
        max_seconds: float | None = None,
        tol: float = 0.0,
        random_state: Any = None,
    ) -> None:
        self.n_vectors = n_vectors
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.fit_intercept = fit_intercept
        self.retrain = retrain
        self.shrinking = shrinking
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.tol = tol
        self.random_state = random_state

    def _choose(self, growth: Growth, rng: np.random.RandomState) -> tuple[int, float | None] | None:
        rows, at = growth.active()
        if len(rows) == 0:
            return None
        if not growth.chosen:
            return int(rng.choice(rows)), None
        likeness = np.abs(growth.machine.A[growth.machine.first :, at]).max(axis=0)  # [K06, eq. 8]
        return int(rows[np.argmin(likeness)]), None
