"""Large-margin machines with an L_p norm on the slack, by gradient descent with momentum on a smoothed objective.

    min_{w, b}  1/2 w'w + C sum_i (1 - y_i f_i)_+^p,   f_i = w . x_i + b,   0 < p <= 1                  [Z18, eq. 22]

``(u)_+`` is smoothed to ``n(u) = log(1 + exp(s u)) / s`` [Z18, eq. 23, 26], so that the gradient in w is

    w - sum_i y_i g_i x_i,   g_i = p C m_i n_i^(p-1) / (1 + m_i),   m_i = exp(s (1 - y_i f_i))         [Z18, eq. 24, 25]

and v <- epsilon v - eta grad J, w <- w + v [Z18, eq. 27, 28].

With a kernel, w = sum_i a_i phi(x_i) by the representer theorem, and the same descent in w reads ``grad = a - y g`` in
the coefficients a: rows well outside the margin have g = 0, and their coefficients vanish at a rate eta. That takes
far longer than the objective does to settle, so :func:`shorten` ends it by a projection.

Symbols: A (n, q) takes coefficients to outputs (X, or the Gram matrix K), y (n,) signs, s sharpness, epsilon momentum,
eta rate.

Note: m overflows for s = 100 and rows far inside the margin; logarithms are used throughout.
Note: where no rate is given, one is found on the way: a step that does not descend is taken back and the velocity
dropped, and where even a plain gradient step does not descend, the rate is halved; it grows slowly otherwise.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve

from sparsegen.arrays import Array
from sparsegen.solvers.cholesky import IncrementalCholesky

WINDOW = 10  # iterations that together must gain more than a share tol
RATE_GROWTH = 1.1
SMALLEST_STEP = 1e-12  # a rate below this share of the first is no descent at all
ACTIVE_SHARE = 1e-3  # rows with g above this share of the largest are at or inside the margin
DEPENDENT_SHARE = 1e-4  # share of K(x, x) below which a row is a combination of others
ALLOWED_RISE = 1e-2  # share by which shortening may raise the objective
FAR_OUTSIDE = -30.0  # below it, log(1 + exp(t)) is exp(t) to the last digit


@dataclass(frozen=True)
class LpSlack:
    """The loss ``C xi^p`` and how sharply its kink is smoothed."""

    C: float
    p: float
    s: float

    def value(self, margins: Array) -> float:
        """Return the summed loss, not smoothed [Z18, eq. 22]."""
        return float(self.C * (np.maximum(0.0, 1.0 - margins) ** self.p).sum())

    def smooth_value(self, margins: Array) -> float:
        """Return the summed loss of the smoothed slack."""
        return float(self.C * np.exp(self.p * self._log_slack(1.0 - margins)).sum())

    def smooth_pull(self, margins: Array) -> Array:
        """Return g, minus the derivative of the smoothed loss in each margin [Z18, eq. 24]."""
        u = 1.0 - margins
        log_share = -np.logaddexp(0.0, -self.s * u)  # m / (1 + m)
        pull: Array = self.p * self.C * np.exp(log_share + (self.p - 1.0) * self._log_slack(u))
        return pull

    def _log_slack(self, u: Array) -> Array:
        t = self.s * u
        near = np.log(np.logaddexp(0.0, np.maximum(t, FAR_OUTSIDE)))
        log_slack: Array = np.where(t < FAR_OUTSIDE, t, near) - np.log(self.s)
        return log_slack


@dataclass(frozen=True)
class Descent:
    """Where a descent ended: coefficients, bias, smoothed objective after each iteration, and whether it converged."""

    a: Array
    b: float
    objectives: list[float]
    converged: bool


def momentum(
    A: Array,
    y: Array,
    loss: LpSlack,
    *,
    is_gram: bool,
    epsilon: float,
    eta: float | None,
    max_iter: int,
    tol: float,
    go_on: Callable[[], bool] = lambda: True,
) -> Descent:
    """Return the end of Algorithm 1 of [Z18] from zero; ``A`` is X, or with ``is_gram`` the Gram matrix of the rows."""
    fixed = eta is not None
    first_rate = rate = eta if eta is not None else _first_rate(A, loss, is_gram=is_gram)
    a, b = np.zeros(A.shape[1]), 0.0
    velocity_a, velocity_b = np.zeros_like(a), 0.0
    f = np.zeros(len(y))
    value = _objective(a, b, f, y, loss, is_gram=is_gram)
    objectives: list[float] = []
    recent: deque[float] = deque([value], maxlen=WINDOW + 1)
    best = (value, a, b)
    while len(objectives) < max_iter and go_on():
        signed = y * loss.smooth_pull(y * f)
        gradient_a = a - (signed if is_gram else A.T @ signed)
        moved_a = epsilon * velocity_a - rate * gradient_a  # [Z18, eq. 27]
        moved_b = epsilon * velocity_b + rate * float(signed.sum())
        new_a, new_b = a + moved_a, b + moved_b  # [Z18, eq. 28]
        with np.errstate(over="ignore", invalid="ignore"):  # a given rate may be too large
            new_f = A @ new_a + new_b
            new_value = _objective(new_a, new_b, new_f, y, loss, is_gram=is_gram)
        if not np.isfinite(new_value) and fixed:
            return Descent(best[1], best[2], objectives, converged=False)
        if fixed or new_value <= value:
            a, b, f, value = new_a, new_b, new_f, new_value
            velocity_a, velocity_b = moved_a, moved_b
            rate = rate if fixed else RATE_GROWTH * rate
        else:
            if not velocity_a.any() and velocity_b == 0.0:
                rate *= 0.5
            velocity_a, velocity_b = np.zeros_like(a), 0.0
        if value < best[0]:
            best = (value, a, b)
        objectives.append(value)
        recent.append(value)
        settled = len(recent) > WINDOW and abs(recent[0] - value) <= tol * value
        if settled or rate < SMALLEST_STEP * first_rate:
            return Descent(best[1], best[2], objectives, converged=True)
    return Descent(best[1], best[2], objectives, converged=False)


def _objective(a: Array, b: float, f: Array, y: Array, loss: LpSlack, *, is_gram: bool) -> float:
    squared = float(a @ (f - b)) if is_gram else float(a @ a)
    return 0.5 * squared + loss.smooth_value(y * f)


def _first_rate(A: Array, loss: LpSlack, *, is_gram: bool) -> float:
    """Return the inverse of a curvature: the regulariser's, and that of a hinge with all rows on the slope."""
    squares = float(np.trace(A) if is_gram else np.einsum("ij,ij->", A, A)) + len(A)
    return 1.0 / (1.0 + loss.p * loss.C * squares)


def shorten(K: Array, y: Array, a: Array, b: float, loss: LpSlack) -> Array:
    """Return coefficients of the projection of ``w = sum_i a_i phi(x_i)`` onto rows at or inside the margin.

    Where the descent was cut too short for that, the projection is onto all linearly independent rows; where even that
    raises the objective, ``a`` is returned unchanged.
    """
    f = K @ a + b
    g = loss.smooth_pull(y * f)
    bound = (1.0 + ALLOWED_RISE) * _objective(a, b, f, y, loss, is_gram=True)
    for active in (np.flatnonzero(g > ACTIVE_SHARE * g.max()), np.arange(len(y))):
        diagonal = K[active, active]
        independent = IncrementalCholesky(diagonal, DEPENDENT_SHARE * float(diagonal.max()), pivoted=True)
        while (row := independent.next_row()) is not None:
            independent.add(row, K[active, active[row]])
        rows = active[independent.rows]
        short = np.zeros_like(a)
        if len(rows):
            short[rows] = cho_solve((independent.factor[independent.rows], True), K[rows] @ a)
        if _objective(short, b, K @ short + b, y, loss, is_gram=True) <= bound:
            return short
    return a
