"""The large-margin problem by its definition: the pieces of h in NumPy, and the optimum by SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize, minimize_scalar

Array = NDArray[np.float64]


def h(t: Array, sigma: Array, caps: Array) -> Array:
    """The piecewise quadratic of the module docstring."""
    finite = np.where(np.isfinite(caps), caps, 0.0)
    quadratic, line = 0.5 * sigma * t**2, finite * t - finite**2 / (2.0 * sigma)
    return np.where(t <= 0.0, 0.0, np.where(t <= caps / sigma, quadratic, line))


def slopes(sigma: float, row_scale: Array | None, n: int) -> Array:
    """sigma_i of every row."""
    return np.full(n, sigma) if row_scale is None else sigma * row_scale


def classify_rows(
    f: Array, y: Array, shift: Array, sigma: float, caps: Array, row_scale: Array | None = None
) -> tuple[Array, NDArray[np.int8]]:
    p = slopes(sigma, row_scale, len(f)) * (shift + 1.0 - y * f)
    return np.clip(p, 0.0, caps), np.where(p <= 0.0, 0, np.where(p < caps, 1, 2)).astype(np.int8)


def line_value(
    s: float,
    vd: float,
    dd: float,
    f: Array,
    df: Array,
    y: Array,
    shift: Array,
    sigma: float,
    caps: Array,
    row_scale: Array | None = None,
) -> float:
    """The objective along a line, up to the constant ``1/2 v'v``."""
    t = shift + 1.0 - y * (f + s * df)
    return s * vd + 0.5 * s**2 * dd + float(h(t, slopes(sigma, row_scale, len(f)), caps).sum())


def line_slope(
    s: float,
    vd: float,
    dd: float,
    f: Array,
    df: Array,
    y: Array,
    shift: Array,
    sigma: float,
    caps: Array,
    row_scale: Array | None = None,
) -> tuple[float, float]:
    pull, piece = classify_rows(f + s * df, y, shift, sigma, caps, row_scale)
    first = vd + s * dd - float(pull @ (y * df))
    return first, dd + float((slopes(sigma, row_scale, len(f)) * df**2)[piece == 1].sum())


def line_search(
    vd: float,
    dd: float,
    f: Array,
    df: Array,
    y: Array,
    shift: Array,
    sigma: float,
    caps: Array,
    row_scale: Array | None = None,
) -> float:
    """The minimum along a line by golden section."""
    args = (vd, dd, f, df, y, shift, sigma, caps, row_scale)
    far = 1.0
    while line_slope(far, *args)[0] < 0.0:
        far *= 2.0
    found = minimize_scalar(line_value, bounds=(0.0, far), args=args, method="bounded", options={"xatol": 1e-10})
    return float(found.x)


def primal(V: Array, b: float, Phi: Array, y: Array, C: float | Array, loss: str) -> float:
    slack = np.maximum(0.0, 1.0 - y * (Phi @ V + b))
    return float(0.5 * V @ V + np.sum(C * (slack if loss == "hinge" else slack**2)))


def optimum(Phi: Array, y: Array, C: float | Array, loss: str) -> float:
    """The optimum of one output, C for all or each: a smooth problem or a quadratic program in (v, b, slack)."""
    n, m = Phi.shape
    if loss == "squared_hinge":

        def value(w: Array) -> tuple[float, Array]:
            slack = np.maximum(0.0, 1.0 - y * (Phi @ w[:m] + w[m]))
            pull = 2.0 * C * slack * y
            return primal(w[:m], float(w[m]), Phi, y, C, loss), np.append(w[:m] - Phi.T @ pull, -pull.sum())

        smooth = minimize(
            value,
            np.zeros(m + 1),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": 10_000, "ftol": 0.0, "gtol": 1e-10, "maxls": 100},
        )
        return float(smooth.fun)
    rows = np.hstack([y[:, None] * Phi, y[:, None], np.eye(n)])
    start = np.concatenate([np.zeros(m + 1), np.ones(n)])
    margins: Any = {"type": "ineq", "fun": lambda w: rows @ w - 1.0, "jac": lambda w: rows}
    bounds: list[tuple[float | None, float | None]] = [(None, None)] * (m + 1) + [(0.0, None)] * n

    def cost(w: Array) -> tuple[float, Array]:
        return float(0.5 * w[:m] @ w[:m] + np.sum(C * w[m + 1 :])), np.concatenate([w[:m], [0.0], np.full(n, C)])

    found = minimize(
        cost,
        start,
        jac=True,
        method="SLSQP",
        bounds=bounds,
        constraints=margins,
        options={"maxiter": 1000, "ftol": 1e-12},
    )
    return float(found.fun)
