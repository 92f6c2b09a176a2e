"""Regression in a small feature space, solved exactly by a finite Newton method.

With an unregularised bias b and residuals ``r_i = y_i - phi_i . v - b``:

    min_{v, b}  1/2 v'v + sum_i C_i loss(|r_i| - epsilon)

    loss(t) = 0 (t <= 0),   t^2 (0 <= t <= delta),   2 delta t - delta^2 (beyond)

Residuals within the tube of half-width epsilon cost nothing; with ``epsilon = 0`` that is ridge regression. A finite
``delta`` makes it Huber's loss, under which a far-off row pulls no harder than one at delta. The objective is convex,
piecewise quadratic as that of the squared hinge is [K06, eq. 6]: a Newton step with an exact line search, until a full
step stays on its piece. Without tube and delta there is one piece, and one step is the solution.

Symbols: Phi (n, m) whitened kernel features, v (m,) weights, b the bias, y (n,) targets, pull (n,) ``-dloss/df`` of
each row, with C_i multiplied in. At the optimum ``v = Phi' pull`` and ``sum pull = 0``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrs

from sparsegen.arrays import Array
from sparsegen.solvers.factor import cholesky_with_ridge

MAX_NEWTON = 200
MAX_SEARCH = 100
SLOPE_LEFT = 1e-9
"""Of the slope at the start: the line search ends where no more is left."""
TINY_DESCENT = 1e-14  # the objective cannot show a descent below this share of it; the gradient still can
ZERO_DESCENT = 1e-30
BIAS_RIDGE = 1e-9  # keeps the Newton matrix regular while no row is on the curved piece

Blocks = Iterable[tuple[slice, Array]]
Pieces = NDArray[np.int8]
FLAT, CURVED, STEEP = 0, 1, 2  # the three pieces of the loss


@dataclass(frozen=True)
class Tube:
    """A loss of residuals and its weight C, which may be one for each row (n,)."""

    C: float | Array
    epsilon: float = 0.0
    """What a residual may be without a cost."""
    delta: float = np.inf
    """How far beyond that the cost is squared; further out it is linear."""

    @property
    def mean_weight(self) -> float:
        """The mean weight of a row."""
        return float(np.mean(self.C))

    @property
    def row_scale(self) -> Array | None:
        """The rows' weights as multiples of their mean; ``None`` where one weight is given for all."""
        return self.C / self.mean_weight if isinstance(self.C, np.ndarray) else None

    def value(self, residuals: Array) -> float:
        """Return the summed loss of residuals."""
        over = np.maximum(0.0, np.abs(residuals) - self.epsilon)
        near = np.minimum(over, self.delta)
        cost = near * (2.0 * over - near)
        return float(cost @ self.C if isinstance(self.C, np.ndarray) else self.C * cost.sum())

    def pull(self, residuals: Array) -> Array:
        """Return by how much the loss of each row falls as its output rises."""
        return 2.0 * self.C * self.slopes(residuals)

    def slopes(self, residuals: NDArray[Any]) -> NDArray[Any]:
        """Return half the slope of the loss in each residual, without the weight."""
        return np.asarray(np.sign(residuals) * np.clip(np.abs(residuals) - self.epsilon, 0.0, self.delta))

    def falls(self, scores: NDArray[Any], Y: NDArray[Any]) -> NDArray[Any]:
        """Return by how much the loss of each score falls as it rises, for a weight of 1; Y are targets."""
        return 2.0 * self.slopes(Y - scores)

    def pieces(self, residuals: Array) -> Pieces:
        """Return which piece of the loss each residual is on."""
        over = np.abs(residuals) - self.epsilon
        curved = (over >= 0.0) & (over < self.delta)
        return np.where(curved, CURVED, np.where(over < 0.0, FLAT, STEEP)).astype(np.int8)


@dataclass(frozen=True)
class TubeSolution:
    """Weights, bias, the pull of every row and the objective at the optimum."""

    v: Array
    b: float
    pull: Array
    objective: float
    solved: bool = True
    """False where rounding or the bound on steps stopped the search before the optimum."""


def solve_tube(
    blocks: Blocks, y: Array, n_features: int, loss: Tube, start: tuple[Array, float] | None = None
) -> TubeSolution:
    """Return the optimum for the rows that ``blocks`` yields as ``(rows, Phi)``; it is iterated several times."""
    v, b = (np.zeros(n_features), 0.0) if start is None else (start[0].copy(), float(start[1]))
    residuals = y - _outputs(blocks, v, b, len(y))
    solved, last_descent = False, np.inf
    for _ in range(MAX_NEWTON):
        step, descent = _newton_step(blocks, v, residuals, loss)
        size = loss.value(residuals) + 0.5 * float(v @ v)
        # Newton steps shrink the descent fast near the optimum; one that does not is made of rounding errors.
        if descent <= ZERO_DESCENT * size or (descent <= TINY_DESCENT * size and descent > 0.5 * last_descent):
            solved = True
            break
        last_descent = descent
        change = _outputs(blocks, step[:-1], step[-1], len(y))
        length = line_search(float(v @ step[:-1]), float(step[:-1] @ step[:-1]), residuals, change, loss)
        before = loss.pieces(residuals)
        v, b, residuals = v + length * step[:-1], b + length * float(step[-1]), residuals - length * change
        # A full step that stays on its piece of the quadratic has reached that piece's minimum.
        if length == 1.0 and np.array_equal(before, loss.pieces(residuals)):
            solved = True
            break
    objective = 0.5 * float(v @ v) + loss.value(residuals)
    return TubeSolution(v, b, loss.pull(residuals), objective, solved)


def _outputs(blocks: Blocks, v: Array, b: float, n: int) -> Array:
    out = np.empty(n)
    for rows, Phi in blocks:
        out[rows] = Phi @ v
    return out + b


def _newton_step(blocks: Blocks, v: Array, residuals: Array, loss: Tube) -> tuple[Array, float]:
    """Return the Newton step in (v, b), and how steeply the objective descends along it."""
    m, pull, curved = len(v), loss.pull(residuals), loss.pieces(residuals) == CURVED
    weights = 2.0 * np.broadcast_to(loss.C, len(residuals)) * curved
    H, gradient = np.zeros((m + 1, m + 1)), np.append(v, -pull.sum())
    for rows, Phi in blocks:
        gradient[:m] -= pull[rows] @ Phi
        on = curved[rows]
        bent, own = Phi[on], weights[rows][on]
        H[:m, :m] += (bent.T * own) @ bent
        H[m, :m] += own @ bent
    H[np.arange(m), np.arange(m)] += 1.0
    H[m, m] = weights.sum() if curved.any() else BIAS_RIDGE * 2.0 * loss.mean_weight * len(residuals)
    step = -dpotrs(cholesky_with_ridge(H), gradient, lower=1)[0]
    return step, -float(gradient @ step)


def line_search(vd: float, dd: float, residuals: Array, change: Array, loss: Tube) -> float:
    """Return the exact minimiser s > 0 of the objective along a descent; exactly 1.0 where the full step is it.

    ``vd`` and ``dd`` are ``v . d`` and ``d . d``; along the way the residuals are ``residuals - s change``.
    """

    def slope(s: float) -> tuple[float, float]:
        at = residuals - s * change
        curved = loss.pieces(at) == CURVED
        bend = 2.0 * loss.C * curved * change * change
        return vd + s * dd - float(loss.pull(at) @ change), dd + float(bend.sum())

    tolerance = SLOPE_LEFT * abs(slope(0.0)[0])
    low, high, s = 0.0, np.inf, 1.0
    for _ in range(MAX_SEARCH):
        first, second = slope(s)
        if abs(first) <= tolerance:
            return s
        low, high = (s, high) if first < 0.0 else (low, s)
        guess = s - first / second if second > 0.0 else np.inf
        s = guess if low < guess < high else 0.5 * (low + high) if high < np.inf else 2.0 * low
    return s
