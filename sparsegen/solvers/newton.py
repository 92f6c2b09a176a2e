"""Large-margin linear machines in a small feature space, solved exactly by a finite Newton method.

For every output k (they share the features Phi) and with an unregularised bias b:

    min_{v, b}  1/2 v'v + sum_i loss(y_i (phi_i . v + b))                                   [W05, eq. 16]

- squared hinge, ``C_i * max(0, 1 - m)^2``: piecewise quadratic, finite Newton [K06, eq. 6];
- hinge, ``C_i * max(0, 1 - m)``: method of multipliers on the dual [W05, eq. 25-27], whose subproblems are again
  piecewise quadratic and are solved by the same Newton core. The multipliers alpha are warm-started.

Rows may have weights C_i of their own, which must be positive. Both are the minimisation of
``1/2 v'v + sum_i h_i(t_i)`` with ``t_i = a_i + 1 - y_i f_i`` and

    h_i(t) = 0 (t <= 0),   sigma_i t^2 / 2 (0 <= t <= cap_i / sigma_i),   cap_i t - cap_i^2 / (2 sigma_i) (beyond)

where the squared hinge is ``sigma_i = 2 C_i, cap = inf, a = 0`` and a step of the method of multipliers is
``cap_i = C_i, a_i = alpha_i / sigma_i``, after which ``alpha = h'(t)``. ``sigma_i = s_i sigma`` with ``s_i`` the share
of C_i in the mean of all: a row of weight 2 is then treated in every step as two equal rows of weight 1 are.

Symbols: Phi (n, m) whitened kernel features, V (n_outputs, m) weights, b (n_outputs,) biases, Y (n, n_outputs) signs,
alpha (n, n_outputs) multipliers, s (n,) ``row_scale``, or None where all C_i are equal. Inside the iteration Y, alpha
and the outputs F = V Phi' + b have one row per output.

Note: [W05] solves the dual with an SVM package; the method of multipliers reaches the same optimum with a duality gap
small enough for quasi-Newton steps on Z, and needs only rows on the margin in its Hessian.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrs

from sparsegen.arrays import Array
from sparsegen.compiled import compiled
from sparsegen.solvers.factor import cholesky_with_ridge

GAP = 1e-8  # relative duality gap of the hinge solution
MAX_NEWTON = 200
MAX_MULTIPLIER_STEPS = 60
MAX_SIGMA = 1e6  # times the mean C; beyond it the subproblems are all rounding error
TINY_DESCENT = 1e-14  # the objective cannot show a descent below this share of it; the gradient still can
ZERO_DESCENT = 1e-30
BIAS_RIDGE = 1e-9  # keeps the Newton matrix regular while no row is on the curved piece

Blocks = Iterable[tuple[slice, Array]]
Bools = NDArray[np.bool_]
Indices = NDArray[np.intp]
Pieces = NDArray[np.int8]

FLAT, CURVED, STEEP = 0, 1, 2  # the three pieces of h


@dataclass(frozen=True)
class Loss:
    """A loss of the margin and its weight C, which may be one for each row (n,)."""

    name: str
    C: float | Array

    @property
    def mean_weight(self) -> float:
        """The mean weight of a row."""
        return float(np.mean(self.C))

    @property
    def row_scale(self) -> Array | None:
        """The rows' weights as multiples of their mean; ``None`` where one weight is given for all."""
        return self.C / self.mean_weight if isinstance(self.C, np.ndarray) else None

    def value(self, margins: Array) -> float:
        """Return the summed loss of margins (n_outputs, n)."""
        slack = np.maximum(0.0, 1.0 - margins)
        cost = slack if self.name == "hinge" else slack * slack
        return float((cost @ self.C).sum() if isinstance(self.C, np.ndarray) else self.C * cost.sum())

    def falls(self, scores: NDArray[Any], Y: NDArray[Any]) -> NDArray[Any]:
        """Return by how much the loss of each score falls as it rises, for a weight of 1."""
        slack = np.maximum(0.0, 1.0 - Y * scores)
        return np.asarray((2.0 * slack if self.name == "squared_hinge" else np.sign(slack)) * Y)


@dataclass(frozen=True)
class Solution:
    """Weights, biases, multipliers ``alpha = -dloss/dmargin`` and the objective at the optimum."""

    V: Array
    b: Array
    alpha: Array
    objective: float
    solved: bool = True
    """False where rounding or an iteration bound stopped the search before the tolerance was met."""


def solve(blocks: Blocks, Y: Array, n_features: int, loss: Loss, start: Solution | None = None) -> Solution:
    """Return the optimum for the rows that ``blocks`` yields as ``(rows, Phi)``; it is iterated several times."""
    n, n_outputs = Y.shape
    if start is None:
        start = Solution(np.zeros((n_outputs, n_features)), np.zeros(n_outputs), np.zeros((n, n_outputs)), np.inf)
    state = _State(blocks, np.ascontiguousarray(Y.T), start.V.copy(), start.b.copy(), loss.row_scale)
    if loss.name == "squared_hinge":
        sigma = np.full(n_outputs, 2.0 * loss.mean_weight)
        alpha, unsolved = state.minimise(np.zeros_like(state.Y), sigma, np.full(n, np.inf), np.arange(n_outputs))
    else:
        alpha, unsolved = _multiplier_method(state, np.clip(start.alpha.T, 0.0, loss.C), loss)
    objective = 0.5 * float((state.V**2).sum()) + loss.value(state.Y * state.F)
    return Solution(state.V, state.b, np.ascontiguousarray(alpha.T), objective, len(unsolved) == 0)


def _multiplier_method(state: _State, alpha: Array, loss: Loss) -> tuple[Array, Indices]:
    """Hinge: repeat ``alpha <- h'(t)`` until each output's duality gap is closed; sigma grows where that is slow.

    Returns alpha and the outputs whose gap could not be closed.
    """
    n_outputs, n = alpha.shape
    caps = np.broadcast_to(np.asarray(loss.C, dtype=np.float64), n).copy()
    first_sigma = loss.mean_weight
    sigma = np.full(n_outputs, first_sigma)
    last_gap = np.full(n_outputs, np.inf)
    open_outputs = np.arange(n_outputs)
    stuck: list[int] = []
    for _ in range(MAX_MULTIPLIER_STEPS):
        shift = alpha / sigma[:, None]
        if state.row_scale is not None:
            shift /= state.row_scale
        updated, unsolved = state.minimise(shift, sigma, caps, open_outputs)
        alpha[open_outputs] = updated[open_outputs]
        half_norm = 0.5 * (state.V**2).sum(axis=1)
        slack = np.maximum(0.0, 1.0 - state.Y * state.F)
        primal = half_norm + (slack @ loss.C if isinstance(loss.C, np.ndarray) else loss.C * slack.sum(axis=1))
        dual = alpha.sum(axis=1) - half_norm  # V = Phi'(y alpha) and sum y alpha = 0 after each subproblem
        gap = primal - dual
        is_open = gap > GAP * primal
        # A subproblem that rounding left unsolved stays so with a larger sigma: keep what it has reached.
        stuck.extend(unsolved[is_open[unsolved]].tolist())
        is_open[unsolved] = False
        open_outputs = open_outputs[is_open[open_outputs]]
        if len(open_outputs) == 0:
            break
        slow = open_outputs[gap[open_outputs] > 0.1 * last_gap[open_outputs]]
        sigma[slow] = np.minimum(5.0 * sigma[slow], MAX_SIGMA * first_sigma)
        last_gap = gap
    return alpha, np.append(open_outputs, stuck)


class _State:
    """Weights with their outputs F (n_outputs, n) on all rows, and the Newton iteration on them."""

    def __init__(self, blocks: Blocks, Y: Array, V: Array, b: Array, row_scale: Array | None = None) -> None:
        self.blocks, self.Y, self.V, self.b, self.row_scale = blocks, Y, V, b, row_scale
        self.F = self._outputs(V, b)
        n_outputs, m = V.shape
        self.curvature = np.zeros((n_outputs, m + 1, m + 1))  # per output: sum of s (phi, 1)(phi, 1)', lower triangle
        self.counted = np.zeros(Y.shape, dtype=np.int8)  # the rows in that sum
        self.removed = np.zeros(n_outputs, dtype=np.int64)  # rows taken out of it since it was last rebuilt

    def _outputs(self, V: Array, b: Array) -> Array:
        F = np.empty((len(V), self.Y.shape[1]))
        for rows, Phi in self.blocks:
            np.matmul(V, Phi.T, out=F[:, rows])
        F += b[:, None]
        return F

    def minimise(self, shift: Array, sigma: Array, caps: Array, outputs: Indices) -> tuple[Array, Indices]:
        """Bring these outputs to the minimum of ``1/2 v'v + sum h(t)``; return ``h'(t)`` and the outputs left short."""
        Y, F, s = self.Y, self.F, self.row_scale
        pull = np.zeros_like(Y)
        piece = np.zeros(Y.shape, dtype=np.int8)
        for k in outputs:
            classify_rows(F[k], Y[k], shift[k], sigma[k], caps, s, pull[k], piece[k])
        last_descent = np.full(len(Y), np.inf)
        for _ in range(MAX_NEWTON):
            step_V, step_b, descent = self._newton_direction(pull, piece, sigma, outputs)
            # The sum of h' is the objective, up to a factor between 1 and 2, where that matters: near the optimum.
            size = pull[outputs].sum(axis=1) + (self.V[outputs] ** 2).sum(axis=1)
            # Newton steps shrink the descent fast near the optimum; one that does not is made of rounding errors.
            stalled = (descent <= TINY_DESCENT * size) & (descent > 0.5 * last_descent[outputs])
            last_descent[outputs] = descent
            moving = ~stalled & (descent > ZERO_DESCENT * size)
            outputs, step_V, step_b = outputs[moving], step_V[moving], step_b[moving]
            if len(outputs) == 0:
                break
            step_F = self._outputs(step_V, step_b)
            finished = np.zeros(len(outputs), dtype=bool)
            for j, k in enumerate(outputs):
                v, d = self.V[k], step_V[j]
                length = line_search(float(v @ d), float(d @ d), F[k], step_F[j], Y[k], shift[k], sigma[k], caps, s)
                v += length * d
                self.b[k] += length * step_b[j]
                F[k] += length * step_F[j]
                before = piece[k].copy()
                classify_rows(F[k], Y[k], shift[k], sigma[k], caps, s, pull[k], piece[k])
                # A full Newton step that stays on its piece of the quadratic has reached that piece's minimum.
                finished[j] = length == 1.0 and np.array_equal(before, piece[k])
            outputs = outputs[~finished]
            if len(outputs) == 0:
                break
        return pull, outputs

    def _newton_direction(
        self, pull: Array, piece: Pieces, sigma: Array, outputs: Indices
    ) -> tuple[Array, Array, Array]:
        """Return the Newton steps of these outputs, and how steeply their objectives descend along them."""
        n, m, s = self.Y.shape[1], self.V.shape[1], self.row_scale
        signed = pull[outputs] * self.Y[outputs]
        changed = [self._changed_rows(k, piece[k] == CURVED) for k in outputs]
        gradient = np.empty((len(outputs), m + 1))
        gradient[:, :m] = self.V[outputs]
        gradient[:, m] = -signed.sum(axis=1)
        for rows, Phi in self.blocks:
            gradient[:, :m] -= signed[:, rows] @ Phi
            for k, changes in zip(outputs, changed, strict=True):
                self._count_rows(self.curvature[k], Phi, changes[rows], None if s is None else s[rows])
        steps = np.empty_like(gradient)
        for j, k in enumerate(outputs):
            H = sigma[k] * self.curvature[k]
            H[np.arange(m), np.arange(m)] += 1.0
            if not self.counted[k].any():
                H[m, m] = BIAS_RIDGE * sigma[k] * n
            steps[j] = -dpotrs(cholesky_with_ridge(H), gradient[j], lower=1)[0]
        return steps[:, :m], steps[:, m], -np.einsum("ij,ij->i", gradient, steps)

    def _changed_rows(self, k: int, curved: Bools) -> Pieces:
        """Return +1 for rows to add to the curvature of output k and -1 for rows to take out."""
        changes: Pieces = curved.view(np.int8) - self.counted[k]
        self.removed[k] += np.count_nonzero(changes < 0)
        if self.removed[k] > np.count_nonzero(curved):  # too much rounding error from what has gone, and no cheaper
            self.curvature[k] = 0.0
            self.removed[k] = 0
            changes = curved.astype(np.int8)
        self.counted[k] = curved
        return changes

    @staticmethod
    def _count_rows(G: Array, Phi: Array, changes: Pieces, row_scale: Array | None) -> None:
        """Bring ``sum s phi phi'`` over the rows on the curved piece up to date: most rows stay where they were."""
        m = Phi.shape[1]
        for sign in (1, -1):
            moves = changes == sign
            moved = Phi[moves]
            if len(moved):
                scale = None if row_scale is None else row_scale[moves]
                scaled = moved if scale is None else moved * scale[:, None]
                G[:m, :m] += sign * (scaled.T @ moved)
                G[m, :m] += sign * scaled.sum(axis=0)
                G[m, m] += sign * (len(moved) if scale is None else scale.sum())


@compiled
def classify_rows(
    f: Array,
    y: Array,
    shift: Array,
    sigma: float,
    caps: Array,
    row_scale: Array | None,
    pull: Array,
    piece: Pieces,
) -> None:
    """Write ``h'(t)`` of one output to ``pull`` and which piece t is on to ``piece``."""
    for i in range(f.shape[0]):
        bend = sigma if row_scale is None else sigma * row_scale[i]
        p = bend * (shift[i] + 1.0 - y[i] * f[i])
        piece[i] = FLAT if p <= 0.0 else CURVED if p < caps[i] else STEEP
        pull[i] = min(max(p, 0.0), caps[i])


@compiled
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
    row_scale: Array | None,
) -> tuple[float, float]:
    """Return first and second derivative in s of ``1/2 |v + s d|^2 + sum_i h(a_i + 1 - y_i (f_i + s df_i))``."""
    first = vd + s * dd
    second = dd
    for i in range(f.shape[0]):
        bend = sigma if row_scale is None else sigma * row_scale[i]
        p = bend * (shift[i] + 1.0 - y[i] * (f[i] + s * df[i]))
        if p > 0.0:
            if p < caps[i]:
                second += bend * df[i] * df[i]
                first -= p * y[i] * df[i]
            else:
                first -= caps[i] * y[i] * df[i]
    return first, second


@compiled
def line_search(
    vd: float,
    dd: float,
    f: Array,
    df: Array,
    y: Array,
    shift: Array,
    sigma: float,
    caps: Array,
    row_scale: Array | None,
) -> float:
    """Return the exact minimiser s > 0 along a descent direction; exactly 1.0 where the full Newton step is it."""
    at_zero, _ = line_slope(0.0, vd, dd, f, df, y, shift, sigma, caps, row_scale)
    tolerance = 1e-9 * abs(at_zero)
    low, high, s = 0.0, np.inf, 1.0
    for _ in range(100):
        first, second = line_slope(s, vd, dd, f, df, y, shift, sigma, caps, row_scale)
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
