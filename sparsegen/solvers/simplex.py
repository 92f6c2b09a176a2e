"""Minimisation over the simplex ``mu >= 0, sum mu = 1``: by projected gradients, or by linear programs for a convex W.

Both see W(mu) as a function that returns its value and gradient; one evaluation is a whole training of the machine
inside, so they spend few. Symbols: mu (M,) weights, W the value, g its gradient.

* :func:`descend`: spectral projected gradient. Every step goes from mu towards the projection of ``mu - s g``, with s
  from the change of the last two gradients (Barzilai-Borwein), and is halved until W falls (Armijo).
* :func:`cut`: where W is convex, ``W(mu) >= W(mu_t) + g_t (mu - mu_t)`` for every mu_t seen; the next mu minimises the
  largest of these cuts, which is a linear program.

Note: [H09, IV-A] projects the gradient on the active constraints; the projection onto the simplex itself needs no list
of active constraints and has the same stationary points.
Note: [H09, IV-B] minimises the last cut only, whose minimum is always a single kernel; with all cuts kept, as in the
semi-infinite linear program of [H09, 26], the weights converge to the optimum.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import linprog

from sparsegen.arrays import Array

ValueAndGradient = Callable[[Array], tuple[float, Array]]

SUFFICIENT_DECREASE = 1e-4  # share of the promised decrease that a step must reach
SHORTEST_STEP = 1e-6  # step at which halving ends


def project(v: Array) -> Array:
    """Return the point of the simplex nearest to ``v``."""
    v = v - v.max()  # a common shift changes nothing, and so the 1 is never lost to rounding
    falling = np.sort(v)[::-1]
    excess = (np.cumsum(falling) - 1.0) / np.arange(1, len(v) + 1)
    mu = np.maximum(v - excess[np.flatnonzero(falling > excess)[-1]], 0.0)
    return np.asarray(mu / mu.sum())


def gap(mu: Array, g: Array) -> float:
    """Return how far the linear model of W could fall within the simplex: 0 exactly at a stationary point.

    For a convex W this bounds how far W(mu) is above the minimum.
    """
    return float(g @ mu - g.min())


def descend(function: ValueAndGradient, mu: Array, tol: float, max_evaluations: int) -> Array:
    """Return a stationary point reached from ``mu`` by projected gradients, or the last within ``max_evaluations``.

    It is stationary where :func:`gap` is at most ``tol`` times W.
    """
    value, g = function(mu)
    step = 1.0 / (float(np.ptp(g)) or 1.0)
    direction, length = project(mu - step * g) - mu, 1.0
    for _ in range(max_evaluations - 1):
        slope = float(g @ direction)
        # A slope that is not negative, or a length that no longer moves mu, is all that rounding leaves.
        if gap(mu, g) <= tol * abs(value) or slope >= 0.0 or length < SHORTEST_STEP:
            break
        moved = project(mu + length * direction)
        new_value, new_g = function(moved)
        if new_value > value + SUFFICIENT_DECREASE * length * slope:
            length *= 0.5
            continue
        change, bend = moved - mu, new_g - g
        curvature = float(change @ bend)
        step = float(change @ change) / curvature if curvature > 0.0 else 10.0 * step
        mu, value, g = moved, new_value, new_g
        direction, length = project(mu - step * g) - mu, 1.0
    return mu


def cut(function: ValueAndGradient, mu: Array, tol: float, max_evaluations: int) -> Array:
    """Return the minimum of a convex W to within ``tol`` times it, or the best of ``max_evaluations`` evaluations."""
    best, least = mu, np.inf
    slopes: list[Array] = []
    heights: list[float] = []
    for _ in range(max_evaluations):
        value, g = function(mu)
        if value < least:
            best, least = mu, value
        slopes.append(g)
        heights.append(value - float(g @ mu))
        mu, bound = lowest_point(np.array(slopes), np.array(heights))
        if least - bound <= tol * abs(least):
            break
    return best


def lowest_point(slopes: Array, heights: Array) -> tuple[Array, float]:
    """Return where on the simplex ``max_t (heights_t + slopes_t . mu)`` is smallest, and its value there."""
    n_cuts, n = slopes.shape
    unit = float(np.abs(slopes).max()) or 1.0  # HiGHS has absolute tolerances
    middle = float(heights.max())
    result = linprog(
        np.append(np.zeros(n), 1.0),
        A_ub=np.hstack([slopes / unit, -np.ones((n_cuts, 1))]),
        b_ub=(middle - heights) / unit,
        A_eq=np.append(np.ones(n), 0.0)[None, :],
        b_eq=[1.0],
        bounds=[(0.0, None)] * n + [(None, None)],
        method="highs",
    )
    if result.x is None:  # the problem is always feasible and bounded, so this is numerical failure
        return np.full(n, 1.0 / n), -np.inf
    mu = np.maximum(result.x[:n], 0.0)
    return mu / mu.sum(), float(result.x[n]) * unit + middle
