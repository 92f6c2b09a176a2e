"""Tube regression by brute force: loops for the objective, SciPy for its optimum, and W(Z, P) of SLMR by them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from reference import kernels

Array = NDArray[np.float64]


def loss(residual: float, epsilon: float, delta: float) -> float:
    """The loss of one residual, for a weight of 1."""
    over = max(0.0, abs(residual) - epsilon)
    return over * over if over <= delta else 2.0 * delta * over - delta * delta


def objective(v: Array, b: float, Phi: Array, y: Array, C: float | Array, epsilon: float, delta: float) -> float:
    """The objective, row by row."""
    weights = np.broadcast_to(C, len(y))
    total = 0.5 * sum(w * w for w in v)
    for phi, target, weight in zip(Phi, y, weights, strict=True):
        total += weight * loss(target - float(phi @ v) - b, epsilon, delta)
    return float(total)


def optimum(Phi: Array, y: Array, C: float | Array, epsilon: float = 0.0, delta: float = np.inf) -> float:
    """The least objective that a general minimiser finds."""

    def at(theta: Array) -> float:
        return objective(theta[:-1], theta[-1], Phi, y, C, epsilon, delta)

    def slope(theta: Array) -> Array:
        r = y - Phi @ theta[:-1] - theta[-1]
        pull = 2.0 * C * np.sign(r) * np.clip(np.abs(r) - epsilon, 0.0, delta)
        return np.append(theta[:-1] - Phi.T @ pull, -pull.sum())

    start: Array = np.zeros(Phi.shape[1] + 1)
    options = {"maxiter": 5000, "ftol": 0.0, "gtol": 1e-12}
    return float(minimize(at, start, jac=slope, method="L-BFGS-B", options=options).fun)  # type: ignore[call-overload]


def objective_of_vectors(
    name: str, params: dict[str, float], X: Array, y: Array, Z: Array, C: float | Array, ridge: float,
    epsilon: float = 0.0, delta: float = np.inf,
) -> float:  # fmt: skip
    """W(Z): the inner optimum, with ``ridge`` times the mean diagonal added to Kz."""
    Kz = kernels.gram(name, params, Z, Z)
    Kz += ridge * np.mean(np.diag(Kz)) * np.eye(len(Z))
    Phi = np.linalg.solve(np.linalg.cholesky(Kz), kernels.gram(name, params, Z, X)).T  # [W05, eq. 29]
    return optimum(Phi, y, C, epsilon, delta)
