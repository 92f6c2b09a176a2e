"""Rounding with feedback by its definition: after each coefficient, the best values of all that are still real.

A coefficient, once rounded, is held; the objective (w - W)' H (w - W) is minimised over the others by solving for them.
"""

from __future__ import annotations

import math

import numpy as np


def round_with_feedback(W, H, step: float, largest: int, shifts: bool):
    """Return integers (outputs, columns), the shift of each column, and the intercepts."""
    n = len(H) - 1
    first_to_last = sorted(range(n), key=lambda u: (H[u, u], u), reverse=True)
    w = np.array(W, dtype=np.float64)
    coef, shift = np.zeros((len(W), n), dtype=int), [0] * n
    still_real = [*range(n), n]
    for u in first_to_last:
        still_real.remove(u)
        sizes = [abs(value) / step for value in w[:, u]]
        while shifts and math.floor(max(sizes) / 2 ** shift[u] + 0.5) > largest:
            shift[u] += 1
        for o in range(len(W)):
            q = round(w[o, u] / (step * 2 ** shift[u]))
            coef[o, u] = min(max(q, -largest), largest)
            w[o, u] = coef[o, u] * step * 2 ** shift[u]
            held = [v for v in range(n + 1) if v not in still_real]
            pull = H[np.ix_(still_real, held)] @ (w[o, held] - W[o, held])
            w[o, still_real] = W[o, still_real] - np.linalg.solve(H[np.ix_(still_real, still_real)], pull)
    return coef, shift, w[:, -1]
