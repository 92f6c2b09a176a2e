"""Sparse least squares SVM in the reduced empirical feature space, ancestor of the sparse Cholesky SVM [I08, ref. 10].

    min_{v, b}  1/2 v'v + C/2 sum_i xi_i^2,   y_i (v . h(x_i) + b) = 1 - xi_i

Since ``y_i^2 = 1`` this is ridge regression of the signs on h(x) [I08, eq. 8] with a free bias, in closed form:

    (I / C + H_c' H_c) v = H_c' y,   b = mean(y) - v . mean(h)

where ``H_c`` is H less its column means. It is solved as the least squares problem ``[H_c; I / sqrt(C)] v = [y; 0]`` by
QR, which loses half the digits that the normal equations would, and one factorisation serves all outputs.

Symbols: Z (m, p) chosen rows, H = K(X, Z) (n, m), v (m,) weights in the reduced space = coefficients of the model.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy.linalg import qr, solve_triangular

from sparsegen.arrays import Array
from sparsegen.kernels import BoundKernel
from sparsegen.methods import METHODS
from sparsegen.methods.shared.estimator import Expansion, SparseClassifier
from sparsegen.methods.shared.reduce import CONSTRAINTS, Reduction


@METHODS.register("lssvm-cholesky")
class CholeskyLSSVM(SparseClassifier):
    """Least squares SVM on kernel values of linearly independent training rows.

    Args:
        n_vectors: at most this many rows are chosen; ``None`` leaves it to ``eta``.
        eta: a row is chosen if its squared distance, in the feature space, to the span of the rows chosen so far is
            larger than this. Larger is sparser; a Gaussian kernel has K(x, x) = 1, so 0 <= eta < 1 there.
        order: ``"rows"`` looks at rows in the order given; ``"pivoted"`` takes the most distant row each time.
        basis: ``"rows"`` chooses training rows; ``"axes"``, for the linear kernel only, takes the unit vectors.
        C: weight of the squared errors, ``C/2 xi^2``.
        kernel: name of a kernel.
        gamma: kernel parameter, or ``"scale"`` for ``1 / (n_features * X.var())``.
        coef0: constant term of the polynomial kernel.
        degree: power of the polynomial kernel.
        max_seconds: no further rows are chosen after this time; a result that it cut short depends on the machine.
        random_state: unused, accepted so that methods can be exchanged.
    """

    method = "lssvm-cholesky"
    summary = "least squares SVM on linearly independent rows, in closed form [I08, ref. 10]"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SparseClassifier._parameter_constraints,
        **CONSTRAINTS,
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
        self.max_seconds = max_seconds
        self.random_state = random_state

    def _train(self, X: Array, Y: Array, kernel: BoundKernel, rng: np.random.RandomState) -> Expansion:
        reduction = Reduction(self.n_vectors, self.eta, self.order, self.basis, self.max_seconds)
        Z = reduction.vectors(X, kernel)
        V, b, objective = least_squares(kernel.gram(X, Z), Y, float(self.C))
        return Expansion(Z, V, b, facts={"iterations": len(Z), "objective": objective})


def least_squares(H: Array, Y: Array, C: float) -> tuple[Array, Array, float]:
    """Return weights (n_outputs, m), biases (n_outputs,) and the objective of the least squares SVMs on H (n, m)."""
    m = H.shape[1]
    mean = H.mean(axis=0)
    stacked = np.vstack([H - mean, np.eye(m) / np.sqrt(C)])
    Q, R = qr(stacked, mode="economic", overwrite_a=True, check_finite=False)
    V = solve_triangular(R, Q[: len(H)].T @ Y).T
    b = Y.mean(axis=0) - V @ mean
    errors = Y - H @ V.T - b
    return V, b, float(0.5 * (V**2).sum() + 0.5 * C * (errors**2).sum())
