"""A linear machine whose hinge has a weight per row, solved exactly: the method of multipliers with Newton steps.

    min_{v, b}  1/2 v'v + sum_i c_i max(0, 1 - y_i (phi_i . v + b))

As in solvers/newton.py: with ``t_i = alpha_i / sigma + 1 - y_i f_i`` each subproblem minimises
``1/2 v'v + sum_i h_i(t_i)``, ``h_i'(t) = clip(sigma t, 0, c_i)``, and then ``alpha = h'(t)``. At its end
``v = Phi' (y alpha)`` and ``sum y alpha = 0``: alpha is feasible in the dual, and the duality gap says how far it is.

Symbols: Phi (n, q) features with a column of ones appended, u = (v, b), c (n,) weights, alpha (n,) multipliers.

Note: solvers/newton.py has one weight for all rows; it is the faster one where that is enough.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lstsq

from sparsegen.arrays import Array

GAP = 1e-6
MAX_NEWTON = 100
MAX_MULTIPLIER_STEPS = 60
MAX_SIGMA = 1e6  # times the mean weight
TINY = 1e-13  # a descent below this share of the objective is rounding error
BIAS_RIDGE = 1e-9  # keeps the Newton matrix regular while no row is on the curved piece


@dataclass(frozen=True)
class WeightedSolution:
    """Weight vector, bias, multipliers, and the duality gap as a share of the objective."""

    v: Array
    b: float
    alpha: Array
    gap: float


def solve_weighted(X: Array, y: Array, c: Array, start: WeightedSolution | None = None) -> WeightedSolution:
    """Return the optimum for rows ``X`` (n, q), signs and weights; the gap tells where rounding stopped it early."""
    Phi = np.hstack([X, np.ones((len(X), 1))])
    u = np.zeros(Phi.shape[1]) if start is None else np.append(start.v, start.b)
    alpha = np.zeros(len(y)) if start is None else np.clip(start.alpha, 0.0, c)
    sigma = first_sigma = float(c.mean())
    best = WeightedSolution(u[:-1], float(u[-1]), alpha, np.inf)
    last_gap = np.inf
    for _ in range(MAX_MULTIPLIER_STEPS):
        u = _minimise(Phi, y, c, u, alpha / sigma, sigma)
        alpha = np.clip(alpha + sigma * (1.0 - y * (Phi @ u)), 0.0, c)
        half_norm = 0.5 * float(u[:-1] @ u[:-1])
        primal = half_norm + float(c @ np.maximum(0.0, 1.0 - y * (Phi @ u)))
        gap = (primal - float(alpha.sum()) + half_norm) / primal if primal > 0.0 else 0.0
        if gap < best.gap:
            best = WeightedSolution(u[:-1].copy(), float(u[-1]), alpha.copy(), gap)
        if gap <= GAP or (sigma >= MAX_SIGMA * first_sigma and gap > 0.5 * last_gap):
            break
        if gap > 0.1 * last_gap:
            sigma = min(5.0 * sigma, MAX_SIGMA * first_sigma)
        last_gap = gap
    return best


def _minimise(Phi: Array, y: Array, c: Array, u: Array, shift: Array, sigma: float) -> Array:
    """Return u at the minimum of ``1/2 v'v + sum_i h_i(t_i)``."""
    f = Phi @ u
    regular = np.append(np.ones(len(u) - 1), 0.0)
    for _ in range(MAX_NEWTON):
        p = sigma * (shift + 1.0 - y * f)
        curved = (p > 0.0) & (p < c)
        pull = np.clip(p, 0.0, c)
        gradient = regular * u - Phi.T @ (y * pull)
        H = sigma * Phi[curved].T @ Phi[curved] + np.diag(regular)
        H[-1, -1] += BIAS_RIDGE * sigma * len(y)
        step = -np.asarray(lstsq(H, gradient, check_finite=False)[0])
        descent = -float(gradient @ step)
        if descent <= TINY * (float(pull.sum()) + float(u[:-1] @ u[:-1])):
            break
        df = Phi @ step
        v, d = u[:-1], step[:-1]
        length = _line_search(float(v @ d), float(d @ d), p, sigma * y * df, y * df, c)
        u = u + length * step
        f = f + length * df
    return u


def _line_search(vd: float, dd: float, p: Array, dp: Array, dm: Array, c: Array) -> float:
    """Return the minimiser s along a descent direction; p falls by ``s dp`` and the margins rise by ``s dm``."""

    def slope(s: float) -> tuple[float, float]:
        moved = p - s * dp
        curved = (moved > 0.0) & (moved < c)
        return vd + s * dd - float(np.clip(moved, 0.0, c) @ dm), dd + float(dp[curved] @ dm[curved])

    tolerance = 1e-9 * abs(slope(0.0)[0])
    low, high, s = 0.0, np.inf, 1.0
    for _ in range(100):
        first, second = slope(s)
        if abs(first) <= tolerance:
            break
        low, high = (s, high) if first < 0.0 else (low, s)
        guess = s - first / second if second > 0.0 else np.inf
        s = guess if low < guess < high else 0.5 * (low + high) if high < np.inf else 2.0 * low
    return s
