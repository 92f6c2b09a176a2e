"""KMP, kernel matching pursuit [K06, 4] (Vincent and Bengio, 2002): SpSVM's greedy choice with the squared loss.

    min_beta  lam/2 beta' K_JJ beta + 1/2 sum_i (y_i - K_iJ beta - b)^2

for a growing set J. KMP-R has the regulariser, KMP-NR (``regularize=False``), the original, has none.

Symbols, and what is done about C, the bias and several classes: see ``shared.greedy``.

Note: without regulariser lam is 1e-5, not 0, as [K06, 4] has it for SpSVM-NR: nearly equal rows cannot blow up.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from sparsegen.methods import METHODS
from sparsegen.methods.shared.greedy import GreedyClassifier
from sparsegen.methods.shared.growth import Growth, full_gain, gain


@METHODS.register("kmp")
class KMP(GreedyClassifier):
    """Kernel matching pursuit: greedy kernel least squares; vectors are training rows.

    Args:
        n_vectors: most expansion vectors, over all classes; ``None`` means ``max(16, 3 * n_classes)``.
        C: weight of the loss, ``1 / (2 lam)`` in the paper's symbols.
        kernel: name of a kernel.
        gamma: kernel parameter, or ``"scale"`` for ``1 / (n_features * X.var())``.
        coef0: constant term of the polynomial kernel.
        degree: power of the polynomial kernel.
        selection: 1 solves the machine anew for every candidate (prefitting), 2 only its own coefficient (backfitting).
        n_candidates: random rows tried for each vector (kappa); ``None`` tries every row.
        regularize: ``False`` is KMP-NR, the original: lam = 1e-5 whatever C is.
        fit_intercept: ``False`` leaves the bias out, as the paper does.
        retrain: when to solve all coefficients: ``"always"``, or ``"geometric"`` at sizes that grow by 2^(1/4).
        cache_bytes: most bytes of kernel columns kept for candidates that are drawn again.
        max_iter: bound on the Newton steps of one solution.
        max_seconds: stop adding vectors after this time.
        tol: stop when a vector lowers the objective by less than this share.
        random_state: seed.
    """

    method = "kmp"
    summary = "kernel matching pursuit: training rows chosen for the squared loss [K06]"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **GreedyClassifier._parameter_constraints,
        "selection": [Interval(Integral, 1, 2, closed="both")],
        "cache_bytes": [Interval(Integral, 0, None, closed="left")],
        "n_candidates": [Interval(Integral, 1, None, closed="left"), None],
        "regularize": ["boolean"],
    }
    loss = "squared"

    def __init__(
        self,
        n_vectors: int | None = None,
        *,
        C: float = 1.0,
        kernel: str = "rbf",
        gamma: float | str = "scale",
        coef0: float = 1.0,
        degree: int = 3,
        selection: int = 2,
        n_candidates: int | None = 59,
        regularize: bool = True,
        fit_intercept: bool = True,
        retrain: str = "always",
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
        self.selection = selection
        self.n_candidates = n_candidates
        self.regularize = regularize
        self.fit_intercept = fit_intercept
        self.retrain = retrain
        self.cache_bytes = cache_bytes
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.tol = tol
        self.random_state = random_state

    def _choose(self, growth: Growth, rng: np.random.RandomState) -> tuple[int, float | None] | None:
        score = gain if self.selection == 2 else full_gain(self.max_iter)
        return growth.best(growth.draw(self.n_candidates, rng), score)
