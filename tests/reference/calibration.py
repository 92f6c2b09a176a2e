"""The loss of calibrated probabilities as it is written down, one row at a time, and a minimum found by looking."""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import minimize


def slow_targets(index, n_classes, weights):
    """Return the targets of every row."""
    totals = [sum(w for i, w in zip(index, weights, strict=True) if i == k) for k in range(n_classes)]
    rows = []
    for i in index:
        own = (totals[i] + 1.0) / (totals[i] + 2.0)
        rows.append([own if k == i else (1.0 - own) / (n_classes - 1) for k in range(n_classes)])
    return np.array(rows)


def slow_loss(slope, offset, scores, index, weights, n_classes):
    """Return minus the weighted sum of target times log probability; (n,) scores are those of the second class."""
    total = 0.0
    targets = slow_targets(index, n_classes, weights)
    for s, y, w in zip(scores, targets, weights, strict=True):
        t = [0.0, slope * s + offset] if n_classes == 2 else [slope * one + offset for one in s]
        log_sum = max(t) + math.log(sum(math.exp(one - max(t)) for one in t))
        total += w * sum(target * (log_sum - one) for target, one in zip(y, t, strict=True))
    return total


def slow_platt(scores, positive, weights):
    """Return (slope, offset) of the smallest loss."""
    index = [int(one) for one in positive]

    def loss(at, *_, **__) -> float:
        return slow_loss(at[0], at[1], scores, index, weights, 2)

    found = minimize(
        loss,
        np.array([1.0, 0.0]),
        method="Nelder-Mead",
        tol=1e-12,
    )
    return found.x


def slow_temperature(scores, index, weights):
    """Return the slope of the smallest loss, by golden section."""
    low, high = 0.0, 1e4 / np.abs(scores).max()
    ratio = (math.sqrt(5.0) - 1.0) / 2.0
    n_classes = scores.shape[1]

    def loss(slope):
        return slow_loss(slope, 0.0, scores, index, weights, n_classes)

    while high - low > 1e-9 * high:
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        low, high = (low, right) if loss(left) < loss(right) else (left, high)
    return (low + high) / 2.0
