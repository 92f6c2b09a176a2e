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
from sparsegen.data.labelled_parts import CodedRows, LabelledParts
from sparsegen.kernels import BoundKernel
from sparsegen.methods import METHODS
from sparsegen.methods.shared.estimator import Expansion, sign_matrix
from sparsegen.methods.shared.kernel_features import gram_of_part
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

    def _train_in_parts(
        self, rows: LabelledParts, kernel: BoundKernel, rng: np.random.RandomState, by_class: Array
    ) -> Expansion:
        Z, C = self._vectors_in_parts(rows, kernel), float(self.C) * by_class
        mean, mean_Y, total = (one / rows.n_rows for one in rows.rows.sums(weighted_sums, kernel, Z, C))
        mean, mean_Y = mean / total, mean_Y / total
        m = len(Z)
        start = np.hstack([np.eye(m), np.zeros((m, len(mean_Y)))])
        R = rows.rows.in_turn(stacked_factor, start, kernel, Z, C, mean, mean_Y)
        V = solve_triangular(R[:m, :m], R[:m, m:]).T
        objective = 0.5 * float((R[m:, m:] ** 2).sum())
        return Expansion(Z, V, mean_Y - V @ mean, facts={"iterations": m, "objective": objective})


def weighted_sums(part: CodedRows, kernel: BoundKernel, Z: Array, C: Array) -> tuple[Array, Array, Array]:
    """Return a part's sums of kernel values, of signs and of weights, each row counted by the weight of its class."""
    weights = C[part.index]
    Y = sign_matrix(part.index, len(C))
    return weights @ gram_of_part(part, kernel, Z), weights @ Y, np.array(weights.sum())


def stacked_factor(
    part: CodedRows, R: Array, kernel: BoundKernel, Z: Array, C: Array, mean: Array, mean_Y: Array
) -> Array:
    """Return the triangular factor of what R is that of, with ``sqrt(C) (h - mean, y - mean_Y)`` of a part below it.

    Of ``[I; sqrt(C) H_c]`` beside ``[0; sqrt(C) Y_c]`` it holds all that the least squares need, part after part.
    """
    root = np.sqrt(C[part.index])[:, None]
    rows = np.hstack([root * (gram_of_part(part, kernel, Z) - mean), root * (sign_matrix(part.index, len(C)) - mean_Y)])
    return np.asarray(qr(np.vstack([R, rows]), mode="r", overwrite_a=True, check_finite=False)[0][: R.shape[1]])


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
