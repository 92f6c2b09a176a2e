"""MARK [K06, 4] (Bennett et al., 2002): the next row is the one whose coefficient has the steepest gradient.

    j* = argmax_j |df / dbeta_j| = |lam K_jJ beta - sum_i K_ij r_i|,   r_i = y_i max(0, 1 - y_i o_i)

of kappa random rows; with ``loss="squared"``, the original, r_i = y_i - o_i. The Newton solver is SpSVM's.

For the symbols, C, the bias and several classes see ``shared.greedy``.

Note: [K06, 4] writes the gradient without the regulariser, since MARK has none; here the regulariser is included.
"""

from __future__ import annotations

import numpy as np

from sparsegen.methods import METHODS
from sparsegen.methods.shared.greedy import CACHE_BYTES, N_CANDIDATES, SHRINKING, GreedyClassifier
from sparsegen.methods.shared.growth import Growth, steepness
from sparsegen.methods.shared.parameters import one_of, parameter


@METHODS.register("mark")
class MARK(GreedyClassifier):
    """Greedy machine that adds the training row with the largest gradient."""

    method = "mark"
    summary = "greedy SVM: training rows chosen by the gradient, MARK [K06]"

    n_candidates: int | None = N_CANDIDATES
    loss: str = parameter(
        "squared_hinge",
        '``"squared_hinge"``, or ``"squared"`` as in the original MARK',
        one_of("squared", "squared_hinge"),
    )
    shrinking: bool = SHRINKING
    cache_bytes: int = CACHE_BYTES

    def _choose(self, growth: Growth, rng: np.random.RandomState) -> tuple[int, float | None] | None:
        return growth.best(growth.draw(self.n_candidates, rng), steepness)
