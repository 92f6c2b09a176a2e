"""Sparse least squares SVM in the reduced empirical feature space, ancestor of the sparse Cholesky SVM [I08, ref. 10].

    min_{v, b}  1/2 v'v + C/2 sum_i xi_i^2,   y_i (v . h(x_i) + b) = 1 - xi_i

Since ``y_i^2 = 1`` this is ridge regression of the signs on h(x) [I08, eq. 8] with a free bias, in closed form:

    (I / C + H_c' H_c) v = H_c' y,   b = mean(y) - v . mean(h)

where ``H_c`` is H less its column means. Rows with weights s_i, whose mean is 1, count as ``sqrt(s_i)`` times
themselves, and in both means by their weights. It is solved as the least squares problem
``[H_c; I / sqrt(C)] v = [y; 0]`` by QR, which loses half as many digits as the normal equations; one factorisation
serves all outputs.

Symbols: Z (m, p) chosen rows, H = K(X, Z) (n, m), v (m,) weights in the reduced space = coefficients of the model.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr, solve_triangular

from sparsegen.arrays import Array
from sparsegen.kernels import BoundKernel
from sparsegen.methods import METHODS
from sparsegen.methods.shared.estimator import Expansion
from sparsegen.methods.shared.reduce import ReducedSpaceClassifier
from sparsegen.methods.shared.row_weights import RowWeights, loss_weight


@METHODS.register("lssvm-cholesky")
class CholeskyLSSVM(ReducedSpaceClassifier):
    """Least squares SVM on kernel values of linearly independent training rows."""

    method = "lssvm-cholesky"
    summary = "least squares SVM on linearly independent rows, in closed form [I08, ref. 10]"

    def _train(
        self, X: Array, Y: Array, kernel: BoundKernel, rng: np.random.RandomState, weights: RowWeights | None
    ) -> Expansion:
        Z = self._vectors(X, kernel)
        V, b, objective = least_squares(kernel.gram(X, Z), Y, loss_weight(self.C, weights))
        return Expansion(Z, V, b, facts={"iterations": len(Z), "objective": objective})


def least_squares(H: Array, Y: Array, C: float | Array) -> tuple[Array, Array, float]:
    """Return weights (n_outputs, m), biases (n_outputs,) and the objective of the least squares SVMs on H (n, m)."""
    m = H.shape[1]
    mean, mean_Y, root, scaled_Y = H.mean(axis=0), Y.mean(axis=0), np.sqrt(C), Y
    centred = H - mean
    if isinstance(C, np.ndarray):
        mean, mean_Y = C @ H / C.sum(), C @ Y / C.sum()
        root = np.sqrt(C.mean())
        scale = (np.sqrt(C) / root)[:, None]
        centred, scaled_Y = scale * (H - mean), scale * Y
    stacked = np.vstack([centred, np.eye(m) / root])
    Q, R = qr(stacked, mode="economic", overwrite_a=True, check_finite=False)
    V = solve_triangular(R, Q[: len(H)].T @ scaled_Y).T
    b = mean_Y - V @ mean
    squares = (Y - H @ V.T - b) ** 2
    loss = C * squares.sum() if not isinstance(C, np.ndarray) else (C @ squares).sum()
    return V, b, float(0.5 * (V**2).sum() + 0.5 * loss)
