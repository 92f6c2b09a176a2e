"""RVM, the relevance vector machine (Tipping 2001; [W05, section 6.3]): a Bayesian choice among the training rows.

    f(x) = sum_j w_j K(x_j, x) + b,   p(y = 1 | x) = 1 / (1 + exp(-f(x))),   w_j ~ N(0, 1 / alpha_j)

The precisions alpha maximise the evidence of the labels; most become infinite, and the rows of the others are the
expansion vectors. Their number comes out of training: there is no C and no ``n_vectors``. See ``solvers.rvm``.

Note: one machine per class; a row that several machines use is stored once.
Note: the kernel matrix of all rows with all candidates is held in memory, hence ``n_candidates``.
Note: the solver is that of Tipping and Faul (2003), which starts with no row and adds; Tipping (2001) starts with all.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval

from sparsegen import progress
from sparsegen.arrays import Array
from sparsegen.kernels import BoundKernel
from sparsegen.methods import METHODS
from sparsegen.methods.shared.estimator import Expansion, SparseClassifier
from sparsegen.methods.shared.expand import expand
from sparsegen.solvers.rvm import RvmSolution, solve

START_ROWS = 10


@METHODS.register("rvm")
class RVM(SparseClassifier):
    """Relevance vector machine: few training rows, chosen by their evidence; only the kernel is to be set.

    Args:
        kernel: name of a kernel.
        gamma: kernel parameter, or ``"scale"`` for ``1 / (n_features * X.var())``.
        coef0: constant term of the polynomial kernel.
        degree: power of the polynomial kernel.
        n_candidates: at most this many different rows, drawn at random, may become vectors.
        n_init: number of starts, the first with no row and others with ten random ones; the largest evidence wins.
        max_iter: bound on the changes (a row added, deleted or weighed anew) per machine and start.
        tol: training stops when no single change would gain this much log evidence.
        random_state: seed.
    """

    method = "rvm"
    summary = "relevance vector machine: few rows chosen by their evidence; no C"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SparseClassifier._parameter_constraints,
        "n_candidates": [Interval(Integral, 1, None, closed="left")],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
    }

    def __init__(
        self,
        *,
        kernel: str = "rbf",
        gamma: float | str = "scale",
        coef0: float = 1.0,
        degree: int = 3,
        n_candidates: int = 2000,
        n_init: int = 2,
        max_iter: int = 1000,
        tol: float = 1e-3,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.n_candidates = n_candidates
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _train(self, X: Array, Y: Array, kernel: BoundKernel, rng: np.random.RandomState) -> Expansion:
        rows = self._candidates(X, rng)
        P = kernel.gram(X, X[rows])
        size = np.sqrt(np.mean(P**2, axis=0))
        size[size == 0.0] = 1.0
        P /= size  # weights and precisions of columns that are all of size 1
        n_outputs = Y.shape[1]
        coef, intercept = np.zeros((n_outputs, len(X))), np.zeros(n_outputs)
        iterations, evidence, unsolved = 0, 0.0, 0
        for k in range(n_outputs):
            title = "training rvm" + (f", machine {k + 1} of {n_outputs}" if n_outputs > 1 else "")
            found = self._best_start(P, (Y[:, k] + 1.0) / 2.0, rng, title)
            coef[k, rows[found.used]] = found.weights / size[found.used]
            intercept[k] = found.bias
            iterations, evidence = max(iterations, found.iterations), evidence + found.evidence
            unsolved += not found.solved
        if unsolved:
            warnings.warn(
                f"{unsolved} of {n_outputs} machines reached max_iter={self.max_iter} changes; raise it, or tol",
                ConvergenceWarning,
                stacklevel=2,
            )
        return expand(X, coef, intercept, {"iterations": iterations, "evidence": evidence})

    def _best_start(self, P: Array, t: Array, rng: np.random.RandomState, title: str) -> RvmSolution:
        """Return the solution of largest evidence."""
        found = []
        for start in range(self.n_init):
            columns = None if start == 0 else rng.permutation(P.shape[1])[:START_ROWS]
            name = title + (f", start {start + 1} of {self.n_init}" if self.n_init > 1 else "")
            with progress.task(name, self.max_iter) as advance:
                found.append(solve(P, t, self.max_iter, self.tol, columns, _remark(advance)))
        return max(found, key=lambda solution: solution.evidence)

    def _candidates(self, X: Array, rng: np.random.RandomState) -> NDArray[np.intp]:
        """Return the first of each group of equal rows, in order; at most ``n_candidates`` of them."""
        _, first = np.unique(X, axis=0, return_index=True)
        if len(first) > self.n_candidates:
            first = rng.choice(first, self.n_candidates, replace=False)
        return np.sort(first).astype(np.intp)


def _remark(advance: progress.Advance) -> Callable[[float], None]:
    return lambda evidence: advance(f"log evidence {evidence:.5g}")
