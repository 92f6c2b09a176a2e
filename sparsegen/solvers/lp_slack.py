"""Large-margin machines with an L_p norm on the slack, by gradient descent with momentum on a smoothed objective.

    min_{w, b}  1/2 w'w + C sum_i (1 - y_i f_i)_+^p,   f_i = w . x_i + b,   0 < p <= 1                  [Z18, eq. 22]

``(u)_+`` is smoothed to ``n(u) = log(1 + exp(s u)) / s`` [Z18, eq. 23, 26], so that the gradient in w is

    w - sum_i y_i g_i x_i,   g_i = p C m_i n_i^(p-1) / (1 + m_i),   m_i = exp(s (1 - y_i f_i))         [Z18, eq. 24, 25]

and v <- epsilon v - eta grad J, w <- w + v [Z18, eq. 27, 28].

With a kernel, w = sum_i a_i phi(x_i) by the representer theorem, and the same descent in w reads ``grad = a - y g`` in
the coefficients a: rows well outside the margin have g = 0, and their coefficients vanish at a rate eta. That takes
far longer than the objective does to settle, so :func:`shorten` ends it by a projection.

The smoothed machine is not that of eq. 22: a row that holds the margin with multiplier alpha comes to rest at
``1 + k/s``, ``k = log(p C s^(1-p) / alpha) / p``, and on separable rows with a large C all of w is longer by that share
(s = 100, C = 100: an eighth, and the objective a quarter too high). A large s leaves no such gap, but a descent that
begins with it is slow and ends at the nearest of many stationary points. :func:`graduated` therefore goes from a blunt
loss to a sharp one [Z18, eq. 23: the limit of large s].

Symbols: A (n, q) takes coefficients to outputs (X, or the Gram matrix K), y (n,) signs, s sharpness, epsilon momentum,
eta rate.

Note: m overflows for s = 100 and rows far inside the margin; logarithms are used throughout.
Note: where no rate is given, one is found on the way: a step that does not descend is taken back, the velocity dropped
and the rate halved; it grows slowly otherwise.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve

from sparsegen.arrays import Array
from sparsegen.solvers.cholesky import IncrementalCholesky

WINDOW = 10  # iterations that together must gain more than a share tol
RATE_GROWTH = 1.1
RUNGS = (1 / 16, 1 / 4, 1.0, 4.0, 16.0, 64.0)  # sharpness of a graduated descent, as multiples of the given one
SMALLEST_STEP = 1e-12  # a rate below this share of the first is no descent at all
ACTIVE_SHARE = 1e-3  # rows with g above this share of the largest are at or inside the margin
DEPENDENT_SHARE = 1e-4  # share of K(x, x) below which a row is a combination of others
ALLOWED_RISE = 1e-2  # share by which shortening may raise the objective
FAR_OUTSIDE = -30.0  # below it, log(1 + exp(t)) is exp(t) to the last digit


@dataclass(frozen=True)
class LpSlack:
    """The loss ``C xi^p``, with one C or one for each row (n,), and how sharply its kink is smoothed."""

    C: float | Array
    p: float
    s: float

    def sharpened(self) -> list[LpSlack]:
        """Return the losses that a graduated descent goes through, from blunt to sharp."""
        return [replace(self, s=rung * self.s) for rung in RUNGS]

    def value(self, margins: Array) -> float:
        """Return the summed loss, not smoothed [Z18, eq. 22]."""
        return self.weighed(np.maximum(0.0, 1.0 - margins) ** self.p)

    def smooth_value(self, margins: Array) -> float:
        """Return the summed loss of the smoothed slack."""
        return self.weighed(np.exp(self.p * self._log_slack(1.0 - margins)))

    def weighed(self, losses: Array) -> float:
        """Return the sum of the rows' losses (n,), weighed by C."""
        return float(losses @ self.C if isinstance(self.C, np.ndarray) else self.C * losses.sum())

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


Start = tuple[Array, float]  # coefficients and bias


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
    start: Start | None = None,
    go_on: Callable[[], bool] = lambda: True,
) -> Descent:
    """Return the end of Algorithm 1 of [Z18]; ``A`` is X, or with ``is_gram`` the Gram matrix of the rows.

    It starts from zero where no ``start`` is given.
    """
    fixed = eta is not None
    first_rate = rate = eta if eta is not None else _first_rate(A, loss, is_gram=is_gram)
    a, b = (np.zeros(A.shape[1]), 0.0) if start is None else start
    velocity_a, velocity_b = np.zeros_like(a), 0.0
    f = A @ a + b
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


def graduated(
    A: Array,
    y: Array,
    loss: LpSlack,
    *,
    is_gram: bool,
    epsilon: float,
    max_iter: int,
    tol: float,
    start: Start | None = None,
    go_on: Callable[[], bool] = lambda: True,
) -> Descent:
    """Return the best of descents at growing sharpness, each from the end of the last.

    The loss that is not smoothed decides, and the start is compared as well. Each descent may use an equal share of
    the iterations that are left.
    """
    a, b = (np.zeros(A.shape[1]), 0.0) if start is None else start
    best = (exact_objective(A, a, b, y, loss, is_gram=is_gram), a, b)
    objectives: list[float] = []
    converged = True
    for done, sharpened in enumerate(loss.sharpened()):
        found = momentum(
            A,
            y,
            sharpened,
            is_gram=is_gram,
            epsilon=epsilon,
            eta=None,
            max_iter=(max_iter - len(objectives)) // (len(RUNGS) - done),
            tol=tol,
            start=(a, b),
            go_on=go_on,
        )
        a, b = found.a, found.b
        objectives += found.objectives
        converged = converged and found.converged
        value = exact_objective(A, a, b, y, loss, is_gram=is_gram)
        if value < best[0]:
            best = (value, a, b)
    return Descent(best[1], best[2], objectives, converged)


def exact_objective(A: Array, a: Array, b: float, y: Array, loss: LpSlack, *, is_gram: bool) -> float:
    """Return the objective with the slack itself [Z18, eq. 22]."""
    outputs = A @ a
    return 0.5 * float(a @ (outputs if is_gram else a)) + loss.value(y * (outputs + b))


def _objective(a: Array, b: float, f: Array, y: Array, loss: LpSlack, *, is_gram: bool) -> float:
    squared = float(a @ (f - b)) if is_gram else float(a @ a)
    return 0.5 * squared + loss.smooth_value(y * f)


def _first_rate(A: Array, loss: LpSlack, *, is_gram: bool) -> float:
    """Return the inverse of a curvature: the regulariser's, and that of a hinge with all rows on the slope."""
    if isinstance(loss.C, np.ndarray):
        own = A.diagonal() if is_gram else np.einsum("ij,ij->i", A, A)
        return 1.0 / (1.0 + loss.p * loss.weighed(own + 1.0))
    squares = float(np.trace(A) if is_gram else np.einsum("ij,ij->", A, A)) + len(A)
    return 1.0 / (1.0 + loss.p * loss.C * squares)


def shorten(K: Array, y: Array, a: Array, b: float, *losses: LpSlack) -> Array:
    """Return coefficients of the projection of ``w = sum_i a_i phi(x_i)`` onto rows at or inside the margin.

    Which rows these are is for the loss to say: the first loss whose objective the projection does not raise decides.
    Where there is none, because the descent was cut too short, the projection is onto all linearly independent rows;
    where even that raises the objective, ``a`` is returned unchanged.
    """
    f = K @ a + b
    pulls = [loss.smooth_pull(y * f) / loss.C for loss in losses]
    choices = [(np.flatnonzero(g > ACTIVE_SHARE * g.max()), loss) for g, loss in zip(pulls, losses, strict=True)]
    seen = [(rows, loss) for rows, loss in choices if len(rows)]  # a sharp loss may see no row at the margin
    for rows, loss in (*seen, (np.arange(len(y)), losses[-1])):
        short = _project(K, a, rows)
        bound = (1.0 + ALLOWED_RISE) * _objective(a, b, f, y, loss, is_gram=True)
        if _objective(short, b, K @ short + b, y, loss, is_gram=True) <= bound:
            return short
    return a


def _project(K: Array, a: Array, rows: NDArray[np.intp]) -> Array:
    """Return coefficients of the projection onto those of the rows that are linearly independent."""
    diagonal = K[rows, rows]
    independent = IncrementalCholesky(diagonal, DEPENDENT_SHARE * float(diagonal.max()), pivoted=True)
    while (row := independent.next_row()) is not None:
        independent.add(row, K[rows, rows[row]])
    kept = rows[independent.rows]
    projected = np.zeros_like(a)
    if len(kept):
        projected[kept] = cho_solve((independent.factor[independent.rows], True), K[kept] @ a)
    return projected
