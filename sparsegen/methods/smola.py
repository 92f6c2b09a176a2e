"""Smola's criterion [K06, eq. 9]: the next row is active, badly classified and far from the span of the others.

    j* = argmax_{j in I, j not in J} (1 - y_j o_j)^2 d_j^2

with d_j the distance in feature space of row j from the span of the rows in J, kept up to date by a partial Cholesky
factorisation: O(n d) a row.

For the symbols, C, the bias and several classes see ``shared.greedy``.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from sparsegen.methods import METHODS
from sparsegen.methods.shared.greedy import ActiveRowClassifier
from sparsegen.methods.shared.growth import Growth


@METHODS.register("smola")
class Smola(ActiveRowClassifier):
    """Greedy SVM that adds the active training row with the largest slack times distance from those it has."""

    method = "smola"
    summary = "greedy SVM: active rows by slack times distance, Smola's criterion [K06]"
    _follows_distances: ClassVar[bool] = True

    def _choose(self, growth: Growth, rng: np.random.RandomState) -> tuple[int, float | None] | None:
        rows, at = growth.active()
        if len(rows) == 0:
            return None
        score = growth.machine.residual[at] ** 2 * growth.distance[at]  # [K06, eq. 9]
        return int(rows[np.argmax(score)]), None
