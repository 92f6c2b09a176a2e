"""The relevance vector machine by its definition: the mode by SciPy, n x n determinants, Tipping's updates."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

Array = NDArray[np.float64]


def mode(Phi: Array, t: Array, A: Array, c: Array | float = 1.0) -> Array:
    """The most probable weights where row i was observed c_i times."""

    def negative(w: Array) -> tuple[float, Array]:
        f = Phi @ w
        value = np.sum(c * (np.logaddexp(0.0, f) - t * f)) + 0.5 * (A * w) @ w
        return float(value), A * w - Phi.T @ (c * (t - 1.0 / (1.0 + np.exp(-f))))

    def curvature(w: Array) -> Array:
        y = 1.0 / (1.0 + np.exp(-(Phi @ w)))
        return Phi.T @ np.diag(c * y * (1.0 - y)) @ Phi + np.diag(A)

    found = minimize(
        negative,
        np.zeros(Phi.shape[1]),
        jac=True,
        hess=curvature,
        method="trust-exact",
        options={"maxiter": 1000, "gtol": 1e-9},
    )
    return np.asarray(found.x)


def evidence(Phi: Array, t: Array, A: Array, c: Array | float = 1.0) -> float:
    """The log evidence in Laplace's approximation."""
    w = mode(Phi, t, A, c)
    f = Phi @ w
    y = 1.0 / (1.0 + np.exp(-f))
    H = Phi.T @ np.diag(c * y * (1.0 - y)) @ Phi + np.diag(A)
    likelihood = np.sum(c * (t * np.log(y) + (1.0 - t) * np.log(1.0 - y)))
    return float(likelihood - 0.5 * w @ (A * w) + 0.5 * np.log(A).sum() - 0.5 * np.linalg.slogdet(H)[1])


def gaussian_evidence(Phi: Array, A: Array, B: Array, target: Array) -> float:
    """log N(target | 0, C), C = B^-1 + Phi A^-1 Phi': the evidence with B and the linearised targets held fixed."""
    C = np.diag(1.0 / B) + Phi @ np.diag(1.0 / A) @ Phi.T
    return float(-0.5 * np.linalg.slogdet(C)[1] - 0.5 * target @ np.linalg.solve(C, target))


def train(P: Array, t: Array, bias_precision: float, steps: int) -> float:
    """The log evidence after Tipping's (2001) updates ``alpha = (1 - alpha Sigma_jj) / w_j^2`` from all columns."""
    used, alpha = np.arange(P.shape[1]), np.ones(P.shape[1])
    for _ in range(steps):
        Phi, A = np.column_stack([P[:, used], np.ones(len(P))]), np.append(alpha, bias_precision)
        w = mode(Phi, t, A)
        y = 1.0 / (1.0 + np.exp(-(Phi @ w)))
        variance = np.diag(np.linalg.inv(Phi.T @ np.diag(y * (1.0 - y)) @ Phi + np.diag(A)))
        alpha = np.maximum(1.0 - alpha * variance[:-1], 1e-12) / (w[:-1] ** 2 + 1e-300)
        used, alpha = used[alpha < 1e6], alpha[alpha < 1e6]
    return evidence(np.column_stack([P[:, used], np.ones(len(P))]), t, np.append(alpha, bias_precision))
