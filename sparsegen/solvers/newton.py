"""Large-margin linear machines in a small feature space, solved exactly by a finite Newton method.

For every output k (they share the features Phi) and with an unregularised bias b:

    min_{v, b}  1/2 v'v + sum_i loss(y_i (phi_i . v + b))                                   [W05, eq. 16]

- squared hinge, ``C * max(0, 1 - m)^2``: piecewise quadratic, finite Newton [K06, eq. 6];
- hinge, ``C * max(0, 1 - m)``: method of multipliers on the dual [W05, eq. 25-27], whose subproblems are again
  piecewise quadratic and are solved by the same Newton core. The multipliers alpha are warm-started.

Both are the minimisation of ``1/2 v'v + sum_i h(t_i)`` with ``t_i = a_i + 1 - y_i f_i`` and

    h(t) = 0 (t <= 0),   sigma t^2 / 2 (0 <= t <= cap / sigma),   cap t - cap^2 / (2 sigma) (beyond)

where the squared hinge is ``sigma = 2 C, cap = inf, a = 0`` and a step of the method of multipliers is
``cap = C, a = alpha / sigma``, after which ``alpha = h'(t)``.

Symbols: Phi (n, m) whitened kernel features, V (n_outputs, m) weights, b (n_outputs,) biases, Y (n, n_outputs) signs,
F (n, n_outputs) = Phi V' + b, alpha (n, n_outputs) multipliers.

Note: [W05] solves the dual with an SVM package; the method of multipliers reaches the same optimum with a duality gap
small enough for quasi-Newton steps on Z, and needs only rows on the margin in its Hessian.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numba
import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dposv

from sparsegen.expression import Array

GAP = 1e-6  # relative duality gap of the hinge solution
MAX_NEWTON = 200
MAX_MULTIPLIER_STEPS = 60
BIAS_RIDGE = 1e-9  # on the Newton matrix only, so that it is regular when no row is on the curved piece

Blocks = Iterable[tuple[slice, Array]]
Bools = NDArray[np.bool_]
Pieces = NDArray[np.int8]

FLAT, CURVED, STEEP = 0, 1, 2  # the three pieces of h


@dataclass(frozen=True)
class Loss:
    """A loss of the margin and its weight C."""

    name: str
    C: float

    def value(self, margins: Array) -> float:
        """Return the summed loss."""
        slack = np.maximum(0.0, 1.0 - margins)
        return float(self.C * (slack.sum() if self.name == "hinge" else (slack * slack).sum()))


@dataclass(frozen=True)
class Solution:
    """Weights, biases, multipliers ``alpha = -dloss/dmargin`` and the objective at the optimum."""

    V: Array
    b: Array
    alpha: Array
    objective: float


def solve(blocks: Blocks, Y: Array, n_features: int, loss: Loss, start: Solution | None = None) -> Solution:
    """Return the optimum for the rows that ``blocks`` yields as ``(rows, Phi)``; it is iterated several times."""
    n, n_outputs = Y.shape
    if start is None:
        start = Solution(np.zeros((n_outputs, n_features)), np.zeros(n_outputs), np.zeros((n, n_outputs)), np.inf)
    state = _State(blocks, Y, start.V.copy(), start.b.copy())
    everyone = np.ones(n_outputs, dtype=bool)
    if loss.name == "squared_hinge":
        alpha = state.minimise(np.zeros_like(Y), np.full(n_outputs, 2.0 * loss.C), np.inf, everyone)
    else:
        alpha = _multiplier_method(state, np.clip(start.alpha, 0.0, loss.C), loss)
    objective = 0.5 * float((state.V**2).sum()) + loss.value(Y * state.F)
    return Solution(state.V, state.b, alpha, objective)


def _multiplier_method(state: _State, alpha: Array, loss: Loss) -> Array:
    """Hinge: repeat ``alpha <- h'(t)`` until each output's duality gap is closed; sigma grows where that is slow."""
    Y = state.Y
    sigma = np.full(Y.shape[1], loss.C)
    last_gap = np.full(Y.shape[1], np.inf)
    open_outputs = np.ones(Y.shape[1], dtype=bool)
    for _ in range(MAX_MULTIPLIER_STEPS):
        shift = alpha / sigma
        updated = state.minimise(shift, sigma, loss.C, open_outputs)
        alpha[:, open_outputs] = updated[:, open_outputs]
        half_norm = 0.5 * (state.V**2).sum(axis=1)
        primal = half_norm + loss.C * np.maximum(0.0, 1.0 - Y * state.F).sum(axis=0)
        dual = alpha.sum(axis=0) - half_norm  # V = Phi'(y alpha) and sum y alpha = 0 after each subproblem
        gap = primal - dual
        open_outputs &= gap > GAP * np.maximum(primal, 1e-12)
        if not open_outputs.any():
            break
        sigma = np.where(open_outputs & (gap > 0.1 * last_gap), sigma * 5.0, sigma)
        last_gap = gap
    return alpha


class _State:
    """Weights with their outputs F on all rows, and the Newton iteration on them."""

    def __init__(self, blocks: Blocks, Y: Array, V: Array, b: Array) -> None:
        self.blocks, self.Y, self.V, self.b = blocks, Y, V, b
        self.F = self._outputs(V, b)
        n_outputs, m = V.shape
        self.curvature = np.zeros((n_outputs, m + 1, m + 1))  # per output: sum of (phi, 1)(phi, 1)', lower triangle
        self.counted = np.zeros(Y.shape, dtype=np.int8)  # the rows in that sum

    def _outputs(self, V: Array, b: Array) -> Array:
        F = np.empty(self.Y.shape)
        for rows, Phi in self.blocks:
            np.matmul(Phi, V.T, out=F[rows])
        F += b
        return F

    def minimise(self, shift: Array, sigma: Array, cap: float, wanted: Bools) -> Array:
        """Bring the wanted outputs to the minimum of ``1/2 v'v + sum h(t)``; return ``h'(t)`` for every row."""
        Y, n_outputs, m = self.Y, *self.V.shape
        open_outputs = wanted.copy()
        pull = np.zeros_like(Y)
        piece = np.zeros(Y.shape, dtype=np.int8)
        last_piece = np.zeros(Y.shape, dtype=np.int8)
        full_step = np.zeros(n_outputs, dtype=bool)
        for _ in range(MAX_NEWTON):
            classify_rows(self.F, Y, shift, sigma, cap, pull, piece)
            for k in np.flatnonzero(open_outputs & full_step):
                # A full Newton step that stays on its piece of the quadratic has reached that piece's minimum.
                if np.array_equal(piece[:, k], last_piece[:, k]):
                    open_outputs[k] = False
            if not open_outputs.any():
                break
            last_piece[:] = piece
            step_V, step_b, slopes = self._newton_direction(pull, piece, sigma, open_outputs)
            step_F = self._outputs(step_V, step_b)
            for k in np.flatnonzero(open_outputs):
                if -slopes[k] <= 1e-14 * (1.0 + abs(float(self.V[k] @ self.V[k]))):
                    open_outputs[k] = False
                    continue
                length = line_search(
                    float(self.V[k] @ step_V[k]), float(step_V[k] @ step_V[k]),
                    self.F[:, k], step_F[:, k], Y[:, k], shift[:, k], float(sigma[k]), cap,
                )  # fmt: skip
                full_step[k] = length == 1.0
                self.V[k] += length * step_V[k]
                self.b[k] += length * step_b[k]
                self.F[:, k] += length * step_F[:, k]
        classify_rows(self.F, Y, shift, sigma, cap, pull, piece)
        return pull

    def _newton_direction(
        self, pull: Array, piece: Pieces, sigma: Array, wanted: Bools
    ) -> tuple[Array, Array, Array]:
        """Return the Newton step of every wanted output, and the slope of its objective along it."""
        Y, n_outputs, m = self.Y, *self.V.shape
        outputs = np.flatnonzero(wanted)
        gradient = np.zeros((n_outputs, m + 1))
        gradient[:, :m] = self.V
        changed = (piece == CURVED).view(np.int8) - self.counted
        for rows, Phi in self.blocks:
            signed = pull[rows] * Y[rows]
            gradient[:, :m] -= signed.T @ Phi
            gradient[:, m] -= signed.sum(axis=0)
            for k in outputs:
                self._count_rows(k, Phi, changed[rows, k])
        self.counted[:, outputs] += changed[:, outputs]
        steps = np.zeros((n_outputs, m + 1))
        slopes = np.zeros(n_outputs)
        for k in outputs:
            H = sigma[k] * self.curvature[k]
            H[np.arange(m), np.arange(m)] += 1.0
            H[m, m] += BIAS_RIDGE * sigma[k] * len(Y)
            _, steps[k], failed = dposv(H, -gradient[k], lower=1, overwrite_a=True)
            if failed:
                raise ArithmeticError("the Newton matrix is not positive definite")
            slopes[k] = gradient[k] @ steps[k]
        return steps[:, :m], steps[:, m], slopes

    def _count_rows(self, k: int, Phi: Array, changed: Pieces) -> None:
        """Bring ``sum phi phi'`` over the rows on the curved piece up to date: most rows stay where they were."""
        m = Phi.shape[1]
        G = self.curvature[k]
        for sign in (1, -1):
            moved = Phi[changed == sign]
            if len(moved):
                G[:m, :m] += sign * (moved.T @ moved)
                G[m, :m] += sign * moved.sum(axis=0)
                G[m, m] += sign * len(moved)


@numba.njit(cache=True)
def classify_rows(
    F: Array, Y: Array, shift: Array, sigma: Array, cap: float, pull: Array, piece: Pieces
) -> None:
    """Write ``h'(t)`` to ``pull`` and which piece t is on to ``piece``."""
    for i in range(F.shape[0]):
        for k in range(F.shape[1]):
            p = sigma[k] * (shift[i, k] + 1.0 - Y[i, k] * F[i, k])
            piece[i, k] = FLAT if p <= 0.0 else CURVED if p < cap else STEEP
            pull[i, k] = min(max(p, 0.0), cap)


@numba.njit(cache=True)
def line_slope(
    s: float, vd: float, dd: float, f: Array, df: Array, y: Array, shift: Array, sigma: float, cap: float
) -> tuple[float, float]:
    """Return first and second derivative in s of ``1/2 |v + s d|^2 + sum_i h(a_i + 1 - y_i (f_i + s df_i))``."""
    first = vd + s * dd
    second = dd
    for i in range(f.shape[0]):
        p = sigma * (shift[i] + 1.0 - y[i] * (f[i] + s * df[i]))
        if p > 0.0:
            if p < cap:
                second += sigma * df[i] * df[i]
                first -= p * y[i] * df[i]
            else:
                first -= cap * y[i] * df[i]
    return first, second


@numba.njit(cache=True)
def line_search(
    vd: float, dd: float, f: Array, df: Array, y: Array, shift: Array, sigma: float, cap: float
) -> float:
    """Return the exact minimiser s > 0 along a descent direction; exactly 1.0 where the full Newton step is it."""
    at_zero, _ = line_slope(0.0, vd, dd, f, df, y, shift, sigma, cap)
    tolerance = 1e-9 * abs(at_zero)
    low, high, s = 0.0, np.inf, 1.0
    for _ in range(100):
        first, second = line_slope(s, vd, dd, f, df, y, shift, sigma, cap)
        if abs(first) <= tolerance:
            return s
        if first < 0.0:
            low = s
        else:
            high = s
        guess = s - first / second if second > 0.0 else np.inf
        if low < guess < high:
            s = guess
        elif high < np.inf:
            s = 0.5 * (low + high)
        else:
            s = 2.0 * low
    return s
