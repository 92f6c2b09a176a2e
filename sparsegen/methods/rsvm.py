"""RSVM, the reduced support vector machine (Lee and Mangasarian 2001; [W05, section 6.2]): random rows as vectors.

    min_{beta, b}  1/2 beta'beta + sum_i loss(y_i (beta . psi_z(x_i) + b))

with m training rows drawn at random for Z. It is [W05, eq. 16] with ``beta'beta`` in the place of ``beta' Kz beta``,
hence a linear machine on the kernel features ``psi_z(x) = K(Z, x)`` [W05, eq. 19].

Note: all classes share the rows.
Note: the problem is convex and solved exactly by a Newton method whose steps are bounded; there is no ``max_iter``.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions

from sparsegen import progress
from sparsegen.arrays import Array
from sparsegen.kernels import BoundKernel
from sparsegen.methods import METHODS
from sparsegen.methods.shared.count import count_vectors
from sparsegen.methods.shared.estimator import Expansion, SparseClassifier
from sparsegen.methods.shared.start import start_vectors
from sparsegen.methods.svm import full_svm
from sparsegen.solvers.newton import Loss, solve

BLOCK_BYTES = 1 << 30
ARRAYS_PER_BLOCK = 4  # n x m arrays alive while a block is in use: base, kernel, rows picked out of it, a temporary


@METHODS.register("rsvm")
class RSVM(SparseClassifier):
    """Reduced SVM: random rows for vectors, a linear machine on their kernel features.

    Args:
        n_vectors: number of expansion vectors; ``None`` means ``max(16, 3 * n_classes)``, at most one per row.
        ratio: instead of ``n_vectors``, a share of the reference SVM's support vectors (0.1 = a tenth).
        C: weight of the loss.
        kernel: name of a kernel.
        gamma: kernel parameter, or ``"scale"`` for ``1 / (n_features * X.var())``.
        coef0: constant term of the polynomial kernel.
        degree: power of the polynomial kernel.
        loss: ``"hinge"`` or ``"squared_hinge"``.
        block_rows: rows per block; ``None`` takes as many as fit in about 1 GiB.
        random_state: seed.
    """

    method = "rsvm"
    summary = "reduced SVM: random rows, a linear machine on their kernel features [W05, 6.2]"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SparseClassifier._parameter_constraints,
        "n_vectors": [Interval(Integral, 1, None, closed="left"), None],
        "ratio": [Interval(Real, 0.0, 1.0, closed="right"), None],
        "loss": [StrOptions({"hinge", "squared_hinge"})],
        "block_rows": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(
        self,
        n_vectors: int | None = None,
        *,
        ratio: float | None = None,
        C: float = 1.0,
        kernel: str = "rbf",
        gamma: float | str = "scale",
        coef0: float = 1.0,
        degree: int = 3,
        loss: str = "hinge",
        block_rows: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_vectors = n_vectors
        self.ratio = ratio
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.loss = loss
        self.block_rows = block_rows
        self.random_state = random_state

    def _train(self, X: Array, Y: Array, kernel: BoundKernel, rng: np.random.RandomState) -> Expansion:
        m = count_vectors(self.n_vectors, self.ratio, Y, lambda: full_svm(X, Y, kernel, self.C)[0])
        Z = start_vectors(X, Y, m, "random", rng)
        with progress.task(f"training {self.method}", 1) as advance:
            expansion = self._weigh(X, Y, kernel, Z)
            advance(f"objective {expansion.facts['objective']:.5g}")
        return expansion

    def _weigh(self, X: Array, Y: Array, kernel: BoundKernel, Z: Array) -> Expansion:
        """Return the machine on the vectors Z."""
        psi = _KernelFeatures(X, kernel, Z, self.block_rows)
        solution = solve(psi, Y, len(Z), Loss(self.loss, float(self.C)))
        if not solution.solved:
            warnings.warn(
                "the coefficients could not be solved to full accuracy; scale the features or lower C",
                ConvergenceWarning,
                stacklevel=2,
            )
        return Expansion(Z, solution.V, solution.b, facts={"iterations": 0, "objective": solution.objective})


class _KernelFeatures:
    """``K(X, Z)`` of all rows, block by block; a single block is computed once and kept."""

    def __init__(self, X: Array, kernel: BoundKernel, Z: Array, block_rows: int | None) -> None:
        self.X, self.kernel, self.Z = X, kernel, Z
        self.step = block_rows or max(1, BLOCK_BYTES // (8 * ARRAYS_PER_BLOCK * len(Z)))
        self._kept: Array | None = None

    def __iter__(self) -> Iterator[tuple[slice, Array]]:
        n = len(self.X)
        if n <= self.step:
            if self._kept is None:
                self._kept = self.kernel.gram(self.X, self.Z)
            yield slice(0, n), self._kept
            return
        for first in range(0, n, self.step):
            rows = slice(first, min(n, first + self.step))
            yield rows, self.kernel.gram(self.X[rows], self.Z)
