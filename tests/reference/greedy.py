"""The greedy machines by their definitions [K06]: objective, optimum by SciPy, scores, and a slow greedy loop."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize, minimize_scalar

Array = NDArray[np.float64]


def loss(y: Array, o: Array, hinge: bool, w: Array | None = None) -> float:
    slack = np.maximum(0.0, 1.0 - y * o) if hinge else y - o
    return float(0.5 * np.sum(slack**2 if w is None else w * slack**2))


def objective(
    beta: Array, b: float, K: Array, J: list[int], y: Array, lam: float, hinge: bool, w: Array | None = None
) -> float:
    """[K06, eq. 4]"""
    return float(0.5 * lam * beta @ K[np.ix_(J, J)] @ beta) + loss(y, K[:, J] @ beta + b, hinge, w)


def optimum(
    K: Array, J: list[int], y: Array, lam: float, hinge: bool, intercept: bool, w: Array | None = None
) -> tuple[float, Array]:
    """The optimal objective and the outputs there, in whitened coordinates, which L-BFGS likes better."""
    values, vectors = np.linalg.eigh(K[np.ix_(J, J)])
    keep = values > 1e-12 * values.max(initial=1e-300)
    whiten = vectors[:, keep] / np.sqrt(values[keep])
    Phi = K[:, J] @ whiten
    m = Phi.shape[1]

    def value(v: Array) -> tuple[float, Array]:
        o = Phi @ v[:m] + (v[m] if intercept else 0.0)
        r = np.where(1.0 - y * o > 0.0, y - o, 0.0) if hinge else y - o
        r = r if w is None else w * r
        gradient = np.append(lam * v[:m] - Phi.T @ r, -r.sum() if intercept else 0.0)
        return 0.5 * lam * float(v[:m] @ v[:m]) + loss(y, o, hinge, w), gradient

    found = minimize(
        value,
        np.zeros(m + 1),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 20_000, "maxfun": 50_000, "ftol": 0.0, "gtol": 1e-11, "maxls": 100},
    )
    return float(found.fun), Phi @ found.x[:m] + (found.x[m] if intercept else 0.0)


def update_factor(L: Array, U: Array, signs: Array) -> Array:
    return np.asarray(np.linalg.cholesky(L @ L.T + (U.T * signs) @ U), dtype=np.float64)


def score_column(
    k: Array, linear: float, diagonal: float, o: Array, y: Array, lam: float, hinge: bool, w: Array | None = None
) -> tuple[float, float]:
    """The gain and the coefficient of [K06, eq. 7], by a scalar search."""

    def value(t: float) -> float:
        return lam * (t * linear + 0.5 * t * t * diagonal) + loss(y, o + t * k, hinge, w)

    found = minimize_scalar(value, bracket=(0.0, 1e-3), method="brent", options={"xtol": 1e-12})
    return value(0.0) - float(found.fun), float(found.x)


Score = Callable[[int, list[int], float, Array], float]


def greedy(K: Array, y: Array, lam: float, hinge: bool, intercept: bool, m: int, score: Score) -> list[int]:
    """Choose m rows, each with the highest score (row, J, value, o) of all."""
    J: list[int] = []
    for _ in range(m):
        value, o = optimum(K, J, y, lam, hinge, intercept)
        rest = [j for j in range(len(y)) if j not in J]
        J.append(max(rest, key=lambda j, J=list(J), value=value, o=o: score(j, J, value, o)))  # type: ignore[misc]
    return J
