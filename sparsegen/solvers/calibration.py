"""Probabilities from scores: Platt's sigmoid for two classes, one temperature for more; both are convex.

    Platt          p(1 | s) = 1 / (1 + exp(-(a s + b)))      min_{a, b}  sum_i w_i [log(1 + exp(t_i)) - y_i t_i]
    temperature    p(k | s) = exp(a s_k) / sum_j exp(a s_j)  min_a  sum_i w_i [log sum_j exp(a s_ij) - a y_i . s_i]

with ``t_i = a s_i + b``. The targets y are not 0 and 1 but what a class of N rows supports: ``(N + 1) / (N + 2)`` for a
row's own class, the rest shared by the others (Platt 1999). So no slope is infinite, however well the classes part.

Symbols: s scores, w weights of the rows, a slope, b offset, y targets.

Note: solved by Newton's method with step halving (Lin, Lin and Weng 2007), on scores divided by their largest.
Note: a slope that is not clearly positive means that the scores say nothing about the classes; ``None`` is returned.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logsumexp, softmax

from sparsegen.arrays import Array

MAX_NEWTON = 100
HALVINGS = 40
DECREMENT = 1e-13  # of Newton's method, per unit of weight, at which it ends
RIDGE = 1e-12  # of the Hessian, per unit of weight
LEAST_SLOPE = 1e-3  # times the largest score: less moves no probability by more than 1 in 4000

Objective = Callable[[Array], tuple[float, Array, Array]]


def fit_platt(scores: Array, positive: NDArray[np.bool_], weights: Array | None = None) -> tuple[float, float] | None:
    """Return slope and offset of the sigmoid for (n,) scores, or ``None`` where higher scores do not mean class 1."""
    w = np.ones(len(scores)) if weights is None else weights
    size = float(np.abs(scores).max(initial=0.0))
    if size == 0.0:
        return None
    s = scores / size
    y = smoothed_targets(positive.astype(np.intp), 2, w)[:, 1]
    share = float(w @ y) / float(w.sum())
    start = np.array([0.0, np.log(share / (1.0 - share))])
    slope, offset = _newton(lambda parameters: platt_objective(parameters, s, y, w), start, float(w.sum()))
    return (slope / size, offset) if slope > LEAST_SLOPE else None


def fit_temperature(scores: Array, index: NDArray[np.intp], weights: Array | None = None) -> float | None:
    """Return the slope of the softmax for (n, n_classes) scores, or ``None`` where they say nothing of the class."""
    w = np.ones(len(scores)) if weights is None else weights
    centred = scores - scores.mean(axis=1, keepdims=True)  # the softmax does not see it
    size = float(np.abs(centred).max(initial=0.0))
    if size == 0.0:
        return None
    s = centred / size
    y = smoothed_targets(index, scores.shape[1], w)
    (slope,) = _newton(lambda parameters: temperature_objective(parameters, s, y, w), np.zeros(1), float(w.sum()))
    return slope / size if slope > LEAST_SLOPE else None


def smoothed_targets(index: NDArray[np.intp], n_classes: int, weights: Array) -> Array:
    """Return (n, n_classes) targets: ``(N + 1) / (N + 2)`` for the class of each row, which N rows have."""
    counts = np.bincount(index, weights=weights, minlength=n_classes)
    own = ((counts + 1.0) / (counts + 2.0))[index]
    targets = np.repeat(((1.0 - own) / (n_classes - 1))[:, None], n_classes, axis=1)
    targets[np.arange(len(index)), index] = own
    return np.asarray(targets)


def platt_objective(parameters: Array, s: Array, y: Array, w: Array) -> tuple[float, Array, Array]:
    """Return the objective at (a, b), its gradient and its Hessian."""
    t = parameters[0] * s + parameters[1]
    p = expit(t)
    columns = np.column_stack([s, np.ones_like(s)])
    value = float(w @ (np.logaddexp(0.0, t) - y * t))
    return value, columns.T @ (w * (p - y)), columns.T @ (columns * (w * p * (1.0 - p))[:, None])


def temperature_objective(parameters: Array, s: Array, y: Array, w: Array) -> tuple[float, Array, Array]:
    """Return the objective at (a,), its gradient and its Hessian."""
    t = parameters[0] * s
    p = softmax(t, axis=1)
    mean = (p * s).sum(axis=1)
    value = float(w @ (logsumexp(t, axis=1) - (y * t).sum(axis=1)))
    gradient = float(w @ (mean - (y * s).sum(axis=1)))
    return value, np.array([gradient]), np.array([[float(w @ ((p * s * s).sum(axis=1) - mean * mean))]])


def _newton(objective: Objective, start: Array, weight: float) -> list[float]:
    """Return the minimum of a convex function."""
    at = start
    value, gradient, H = objective(at)
    for _ in range(MAX_NEWTON):
        step = -np.linalg.solve(H + RIDGE * weight * np.eye(len(at)), gradient)
        decrement = -float(gradient @ step)
        if decrement <= DECREMENT * weight:
            break
        length = 1.0
        for _ in range(HALVINGS):
            new_value, new_gradient, new_H = objective(at + length * step)
            if new_value <= value - 1e-4 * length * decrement:
                break
            length /= 2.0
        else:
            break  # rounding hides what is left to gain
        at, value, gradient, H = at + length * step, new_value, new_gradient, new_H
    return [float(one) for one in at]
