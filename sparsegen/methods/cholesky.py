"""Sparse Cholesky SVM [I08]: an SVM trained in the reduced empirical feature space.

Rows that are linearly independent in the feature space, up to a threshold eta, are found by an incremental Cholesky
factorisation [I08, eq. 9-12]; an L1 or L2 SVM is then trained on their kernel values h(x) [I08, eq. 8]:

    min_{v, b}  1/2 v'v + C/r sum_i xi_i^r,   y_i (v . h(x_i) + b) >= 1 - xi_i,   r = 1 or 2        [I08, eq. 16, 17]
    D(x) = v . h(x) + b                                                                             [I08, eq. 28]

The chosen rows are the vectors of the model, whatever C is. With the linear kernel, ``basis="rows"`` is the paper's
NOSV (non-orthogonal support vectors, chosen rows) and ``basis="axes"`` its OSV (the unit vectors, h(x) = x [eq. 13]).

Symbols: Z (m, p) chosen rows, H = K(X, Z) (n, m), v (m,) weights in the reduced space = coefficients of the model.

Note: [I08] solves the dual (eq. 19-22); the finite Newton method of solvers/newton.py reaches the same optimum, since
the reduced space is small.
Note: [I08] scales features to [0, 1], and its numbers of vectors agree with ours where its gamma is divided by the
number of features: ``exp(-gamma |x - x'|^2 / p)``.
Note: ``order="pivoted"`` (ours) takes the most independent row first, instead of the first one that is independent.
"""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import StrOptions

from sparsegen.arrays import Array
from sparsegen.kernels import BoundKernel
from sparsegen.methods import METHODS
from sparsegen.methods.shared.estimator import Expansion, SparseClassifier
from sparsegen.methods.shared.reduce import CONSTRAINTS, Reduction
from sparsegen.solvers.newton import Loss, solve


@METHODS.register("cholesky")
class CholeskySVM(SparseClassifier):
    """SVM on kernel values of linearly independent training rows.

    Args:
        n_vectors: at most this many rows are chosen; ``None`` leaves it to ``eta``. Memory and time grow as O(n m) and
            O(n m^2) with the number m chosen: bound it where rows are many and lie far apart.
        eta: a row is chosen if its squared distance, in the feature space, to the span of the rows chosen so far is
            larger than this. Larger is sparser; a Gaussian kernel has K(x, x) = 1, so 0 <= eta < 1 there.
        order: ``"rows"`` looks at rows in the order given [I08]; ``"pivoted"`` takes the most distant row each time.
        basis: ``"rows"`` chooses training rows; ``"axes"``, for the linear kernel only, takes the unit vectors (OSV).
        C: weight of the loss: ``C xi`` for the hinge, ``C/2 xi^2`` for the squared hinge.
        kernel: name of a kernel.
        gamma: kernel parameter, or ``"scale"`` for ``1 / (n_features * X.var())``.
        coef0: constant term of the polynomial kernel.
        degree: power of the polynomial kernel.
        loss: ``"hinge"`` (L1 SVM) or ``"squared_hinge"`` (L2 SVM).
        max_seconds: no further rows are chosen after this time; a result that it cut short depends on the machine.
        random_state: unused, accepted so that methods can be exchanged.
    """

    method = "cholesky"
    summary = "SVM on linearly independent rows found by incremental Cholesky factorisation [I08]"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SparseClassifier._parameter_constraints,
        **CONSTRAINTS,
        "loss": [StrOptions({"hinge", "squared_hinge"})],
    }

    def __init__(
        self,
        n_vectors: int | None = None,
        *,
        eta: float = 0.1,
        order: str = "rows",
        basis: str = "rows",
        C: float = 1.0,
        kernel: str = "rbf",
        gamma: float | str = "scale",
        coef0: float = 1.0,
        degree: int = 3,
        loss: str = "hinge",
        max_seconds: float | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_vectors = n_vectors
        self.eta = eta
        self.order = order
        self.basis = basis
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.loss = loss
        self.max_seconds = max_seconds
        self.random_state = random_state

    def _train(self, X: Array, Y: Array, kernel: BoundKernel, rng: np.random.RandomState) -> Expansion:
        reduction = Reduction(self.n_vectors, self.eta, self.order, self.basis, self.max_seconds)
        Z = reduction.vectors(X, kernel)
        H = kernel.gram(X, Z)
        C = float(self.C) if self.loss == "hinge" else 0.5 * float(self.C)  # C/r [I08, eq. 16]
        solution = solve([(slice(0, len(X)), H)], Y, len(Z), Loss(self.loss, C))
        if not solution.solved:
            warnings.warn(
                "the coefficients could not be solved to full accuracy; scale the features or lower C",
                ConvergenceWarning,
                stacklevel=2,
            )
        return Expansion(Z, solution.V, solution.b, facts={"iterations": len(Z), "objective": solution.objective})
