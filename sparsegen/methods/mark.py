"""MARK [K06, 4] (Bennett et al., 2002): the row joins whose coefficient the objective falls most steeply in.

    j* = argmax_j |df / dbeta_j| = |lam K_jJ beta - sum_i K_ij r_i|,   r_i = y_i max(0, 1 - y_i o_i)

of kappa random rows; with ``loss="squared"``, the original, r_i = y_i - o_i. The Newton solver is SpSVM's.

Symbols, and what is done about C, the bias and several classes: see ``shared.greedy``.

Note: [K06, 4] names the gradient of the objective and writes it without the regulariser, MARK having none; here the
regulariser is counted.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from sparsegen.methods import METHODS
from sparsegen.methods.shared.greedy import GreedyClassifier
from sparsegen.methods.shared.growth import Growth, steepness


@METHODS.register("mark")
class MARK(GreedyClassifier):
    """Greedy machine that adds the training row with the largest gradient.

    Args:
        n_vectors: most expansion vectors, over all classes; ``None`` means ``max(16, 3 * n_classes)``.
        C: weight of the loss, ``1 / (2 lam)`` in the paper's symbols.
        kernel: name of a kernel.
        gamma: kernel parameter, or ``"scale"`` for ``1 / (n_features * X.var())``.
        coef0: constant term of the polynomial kernel.
        degree: power of the polynomial kernel.
        n_candidates: random rows tried for each vector (kappa); ``None`` tries every row.
        loss: ``"squared_hinge"``, or ``"squared"`` as in the original MARK.
        fit_intercept: ``False`` leaves the bias out, as the paper does.
        retrain: when to solve all coefficients: ``"always"``, or ``"geometric"`` at sizes that grow by 2^(1/4).
        shrinking: leave rows out, until the last solution, that have not been active for long.
        cache_bytes: most bytes of kernel columns kept for candidates that are drawn again.
        max_iter: bound on the Newton steps of one solution.
        max_seconds: stop adding vectors after this time.
        tol: stop when a vector lowers the objective by less than this share.
        random_state: seed.
    """

    method = "mark"
    summary = "greedy SVM: training rows chosen by the gradient, MARK [K06]"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **GreedyClassifier._parameter_constraints,
        "cache_bytes": [Interval(Integral, 0, None, closed="left")],
        "n_candidates": [Interval(Integral, 1, None, closed="left"), None],
        "loss": [StrOptions({"squared", "squared_hinge"})],
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
        n_candidates: int | None = 59,
        loss: str = "squared_hinge",
        fit_intercept: bool = True,
        retrain: str = "always",
        shrinking: bool = True,
        cache_bytes: int = 1 << 27,
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
        self.n_candidates = n_candidates
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.retrain = retrain
        self.shrinking = shrinking
        self.cache_bytes = cache_bytes
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.tol = tol
        self.random_state = random_state

    def _choose(self, growth: Growth, rng: np.random.RandomState) -> tuple[int, float | None] | None:
        return growth.best(growth.draw(self.n_candidates, rng), steepness)
