"""GSVC, the growing support vector classifier [K06, eq. 8] (Parrado-Hernandez et al., 2003).

The active row joins that the chosen ones resemble least, whatever it gains:

    j* = argmin_{j in I, j not in J} max_{l in J} |K_jl|

Symbols, and what is done about C, the bias and several classes: see ``shared.greedy``.

Note: the first row is a random active one. The machine is SpSVM's, with the squared hinge, as [K06] compares it.
"""

from __future__ import annotations

import numpy as np

from sparsegen.methods import METHODS
from sparsegen.methods.shared.greedy import ActiveRowClassifier
from sparsegen.methods.shared.growth import Growth


@METHODS.register("gsvc")
class GSVC(ActiveRowClassifier):
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

    def _choose(self, growth: Growth, rng: np.random.RandomState) -> tuple[int, float | None] | None:
        rows, at = growth.active()
        if len(rows) == 0:
            return None
        if not growth.chosen:
            return int(rng.choice(rows)), None
        likeness = np.abs(growth.machine.A[growth.machine.first :, at]).max(axis=0)  # [K06, eq. 8]
        return int(rows[np.argmin(likeness)]), None
