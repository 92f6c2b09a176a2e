"""The machines of :mod:`.newton` for rows in parts: what is kept of a row is computed anew from small things.

Nothing that has a number per row leaves a part or outlives a pass over it. A pass sends the point (V, b) to the parts;
each returns its share of

    sum_i h_i(t_i),   its gradient in (v, b),   and   sum over the rows on the curved piece of sigma_i (phi, 1)(phi, 1)'

for every output, and these are added in the order of the parts. A Newton step tries its full length first, which is a
pass that the next step needs anyway; only where that is too long does a line search take passes of its own.

For the hinge, alpha is needed as well [method of multipliers in :mod:`.newton`]. It follows from the few points at
which it was updated, so the parts are told these, and each works out its own.

Symbols: as in :mod:`.newton`. ``loss.mean_weight`` is the mean of C over the rows of all parts.

Note: the curvature is summed from scratch at every point, in memory only the rows that changed sides are. The optimum
is the same one; the way there differs in rounding.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrs

from sparsegen.arrays import Array
from sparsegen.data.parts import Parts
from sparsegen.solvers.blocks import row_slices
from sparsegen.solvers.factor import cholesky_with_ridge
from sparsegen.solvers.newton import (
    BIAS_RIDGE,
    CURVED,
    GAP,
    MAX_MULTIPLIER_STEPS,
    MAX_NEWTON,
    MAX_SIGMA,
    STEEP,
    TINY_DESCENT,
    ZERO_DESCENT,
    classify_rows,
    line_slope,
)

SLICE = 16384  # rows whose copies are in memory at a time, while a part is summed
MAX_LINE_STEPS = 100
FLATTER = 0.9  # share of the slope that a full step may leave, on either side, without a line search

Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class MarginRows:
    """The rows of a part as the machine sees them."""

    Phi: Array
    Y: Array
    """(n, n_outputs) signs"""
    C: float | Array
    """The weight of a row's loss, or one for each row."""


@dataclass(frozen=True)
class PartsLoss:
    """A loss of the margin; the weights C are with the rows."""

    name: str
    mean_weight: float
    """Mean of C over all rows"""
    n_rows: int


@dataclass(frozen=True, eq=False)
class Update:
    """A point at which the multipliers of some outputs were updated."""

    V: Array
    b: Array
    sigma: Array
    outputs: Indices


@dataclass(frozen=True, eq=False)
class PartsSolution:
    """Weights, biases and the objective at the optimum; the multipliers follow from ``updates``."""

    V: Array
    b: Array
    objective: float
    updates: tuple[Update, ...] = ()
    """Of the hinge's multipliers, from zero; none for the squared hinge, whose multipliers follow from (V, b)."""
    solved: bool = True


@dataclass
class _Search:
    """What the outputs have come to."""

    V: Array
    b: Array
    sigma: Array
    updates: list[Update] = field(default_factory=list)


def solve_in_parts(
    rows: Parts[MarginRows], n_outputs: int, n_features: int, loss: PartsLoss, start: PartsSolution | None = None
) -> PartsSolution:
    """Return the optimum for all rows of the parts; a start saves steps."""
    V = np.zeros((n_outputs, n_features)) if start is None else start.V.copy()
    b = np.zeros(n_outputs) if start is None else start.b.copy()
    every = np.arange(n_outputs)
    if loss.name == "squared_hinge":
        at = _Search(V, b, np.full(n_outputs, 2.0 * loss.mean_weight))
        unsolved, values = _minimise(rows, loss, at, every)
        return PartsSolution(V, b, 0.5 * float((V**2).sum()) + float(values.sum()), (), len(unsolved) == 0)
    at = _Search(V, b, np.full(n_outputs, loss.mean_weight))
    is_solved = not _multiplier_method(rows, loss, at, every)
    hinge, _ = rows.sums(dual_part, loss, tuple(at.updates), V, b)
    return PartsSolution(V, b, 0.5 * float((V**2).sum()) + float(hinge.sum()), tuple(at.updates), is_solved)


def multipliers(rows: MarginRows, loss: PartsLoss, found: PartsSolution) -> Array:
    """Return ``alpha = -dloss/dmargin`` (n, n_outputs) of a part's rows at the optimum."""
    if loss.name == "hinge":
        return np.ascontiguousarray(_alpha(rows, loss, found.updates).T)
    slack = np.maximum(0.0, 1.0 - rows.Y * (rows.Phi @ found.V.T + found.b))
    return np.asarray(2.0 * (rows.C[:, None] if isinstance(rows.C, np.ndarray) else rows.C) * slack)


# ---- Sent to the parts -----------------------------------------------------------------------------------------------


def point_part(
    rows: MarginRows, loss: PartsLoss, updates: tuple[Update, ...], V: Array, b: Array, sigma: Array, outputs: Indices
) -> tuple[Array, Array, Array, Array]:
    """Return a part's share of: sum h, sum h', the gradient (k, m + 1) and the curvature (k, m + 1, m + 1)."""
    m = V.shape[1]
    value, total = np.zeros(len(outputs)), np.zeros(len(outputs))
    gradient, curvature = np.zeros((len(outputs), m + 1)), np.zeros((len(outputs), m + 1, m + 1))
    for few in _slices(rows):
        state = _Piecewise(few, loss, updates, V, b, sigma, outputs)
        signed = state.pull * state.Y
        gradient[:, :m] -= signed @ few.Phi
        gradient[:, m] -= signed.sum(axis=1)
        total += state.pull.sum(axis=1)
        value += state.values()
        for j in range(len(outputs)):
            curved = state.piece[j] == CURVED
            moved = few.Phi[curved]
            bend = np.broadcast_to(state.bend[j], len(few.Phi))[curved]
            scaled = moved * bend[:, None]
            curvature[j, :m, :m] += scaled.T @ moved
            curvature[j, m, :m] += scaled.sum(axis=0)
            curvature[j, m, m] += bend.sum()
    return value, total, gradient, curvature


def slope_part(
    rows: MarginRows,
    loss: PartsLoss,
    updates: tuple[Update, ...],
    V: Array,
    b: Array,
    sigma: Array,
    outputs: Indices,
    step_V: Array,
    step_b: Array,
    lengths: Array,
) -> tuple[Array, Array]:
    """Return a part's share of the first and second derivative of sum h along the steps, at these lengths."""
    first, second = np.zeros(len(outputs)), np.zeros(len(outputs))
    for few in _slices(rows):
        state = _Piecewise(few, loss, updates, V, b, sigma, outputs)
        step_F = step_V @ few.Phi.T + step_b[:, None]
        for j, k in enumerate(outputs):
            one, two = line_slope(
                lengths[j],
                0.0,
                0.0,
                state.F[j],
                step_F[j],
                state.Y[j],
                state.shift[j],
                sigma[k],
                state.caps,
                state.row_scale,
            )
            first[j] += one
            second[j] += two
    return first, second


def dual_part(
    rows: MarginRows, loss: PartsLoss, updates: tuple[Update, ...], V: Array, b: Array
) -> tuple[Array, Array]:
    """Return a part's share of the hinge loss and of the sum of alpha, per output."""
    hinge, total = np.zeros(len(b)), np.zeros(len(b))
    for few in _slices(rows):
        slack = np.maximum(0.0, 1.0 - few.Y * (few.Phi @ V.T + b))
        hinge += few.C @ slack if isinstance(few.C, np.ndarray) else few.C * slack.sum(axis=0)
        total += _alpha(few, loss, updates).sum(axis=1)
    return hinge, total


class _Piecewise:
    """The piecewise quadratic h of some rows at a point: pieces, slopes and outputs."""

    def __init__(
        self,
        rows: MarginRows,
        loss: PartsLoss,
        updates: tuple[Update, ...],
        V: Array,
        b: Array,
        sigma: Array,
        outputs: Indices,
    ) -> None:
        n = len(rows.Phi)
        self.row_scale = row_scale(rows, loss)
        self.Y = np.ascontiguousarray(rows.Y.T[outputs])
        self.F = V[outputs] @ rows.Phi.T + b[outputs, None]
        self.bend = sigma[outputs, None] * (1.0 if self.row_scale is None else self.row_scale)
        if loss.name == "hinge":
            self.caps = np.broadcast_to(np.asarray(rows.C, np.float64), n).copy()
            self.shift = _alpha(rows, loss, updates)[outputs] / self.bend
        else:
            self.caps = np.full(n, np.inf)
            self.shift = np.zeros_like(self.F)
        self.pull, self.piece = np.zeros_like(self.F), np.zeros(self.F.shape, dtype=np.int8)
        for j, k in enumerate(outputs):
            classify_rows(
                self.F[j],
                self.Y[j],
                self.shift[j],
                sigma[k],
                self.caps,
                self.row_scale,
                self.pull[j],
                self.piece[j],
            )

    def values(self) -> Array:
        """Return sum h per output."""
        half_square = 0.5 * self.pull * self.pull / self.bend  # sigma t^2 / 2, and with cap for pull what is taken off
        t = self.shift + 1.0 - self.Y * self.F
        return np.asarray(np.where(self.piece == STEEP, self.pull * t - half_square, half_square).sum(axis=1))


def row_scale(rows: MarginRows, loss: PartsLoss) -> Array | None:
    """Return the rows' weights as multiples of the mean over all parts; ``None`` where all are one."""
    return rows.C / loss.mean_weight if isinstance(rows.C, np.ndarray) else None


def _alpha(rows: MarginRows, loss: PartsLoss, updates: tuple[Update, ...]) -> Array:
    """Return the hinge's multipliers (n_outputs, n) after these updates, from zero."""
    alpha = np.zeros(rows.Y.T.shape)
    scale = row_scale(rows, loss)
    for one in updates:
        k = one.outputs
        bend = one.sigma[k, None] * (1.0 if scale is None else scale)
        margins = rows.Y.T[k] * (one.V[k] @ rows.Phi.T + one.b[k, None])
        alpha[k] = np.clip(alpha[k] + bend * (1.0 - margins), 0.0, rows.C)
    return alpha


def _slices(rows: MarginRows) -> list[MarginRows]:
    return [
        MarginRows(rows.Phi[few], rows.Y[few], rows.C[few] if isinstance(rows.C, np.ndarray) else rows.C)
        for few in row_slices(len(rows.Phi), SLICE)
    ]


# ---- Where the sums arrive -------------------------------------------------------------------------------------------


def _multiplier_method(rows: Parts[MarginRows], loss: PartsLoss, at: _Search, outputs: Indices) -> list[int]:
    """Close the duality gap of every output; return those whose gap could not be closed."""
    last_gap = np.full(len(at.b), np.inf)
    stuck: list[int] = []
    for _ in range(MAX_MULTIPLIER_STEPS):
        unsolved, _ = _minimise(rows, loss, at, outputs)
        at.updates.append(Update(at.V.copy(), at.b.copy(), at.sigma.copy(), outputs))
        hinge, total = rows.sums(dual_part, loss, tuple(at.updates), at.V, at.b)
        half_norm = 0.5 * (at.V**2).sum(axis=1)
        primal, dual = half_norm + hinge, total - half_norm
        gap = primal - dual
        is_open = gap > GAP * primal
        stuck += unsolved[is_open[unsolved]].tolist()
        is_open[unsolved] = False
        outputs = outputs[is_open[outputs]]
        if len(outputs) == 0:
            break
        slow = outputs[gap[outputs] > 0.1 * last_gap[outputs]]
        at.sigma[slow] = np.minimum(5.0 * at.sigma[slow], MAX_SIGMA * loss.mean_weight)
        last_gap = gap
    return [*outputs.tolist(), *stuck]


def _minimise(rows: Parts[MarginRows], loss: PartsLoss, at: _Search, outputs: Indices) -> tuple[Indices, Array]:
    """Bring these outputs to the minimum of ``1/2 v'v + sum h(t)``; return those left short, and sum h of each."""
    updates = tuple(at.updates)
    values = np.zeros(len(at.b))
    last_descent = np.full(len(at.b), np.inf)
    value, pull, gradient, curvature = rows.sums(point_part, loss, updates, at.V, at.b, at.sigma, outputs)
    values[outputs] = value
    for _ in range(MAX_NEWTON):
        steps, slopes = _directions(at, outputs, gradient, curvature, loss.n_rows)
        size = pull + (at.V[outputs] ** 2).sum(axis=1)
        stalled = (-slopes <= TINY_DESCENT * size) & (-slopes > 0.5 * last_descent[outputs])
        last_descent[outputs] = -slopes
        moving = ~stalled & (-slopes > ZERO_DESCENT * size)
        outputs, steps, slopes = outputs[moving], steps[moving], slopes[moving]
        if len(outputs) == 0:
            break
        V, b = at.V.copy(), at.b.copy()
        V[outputs] += steps[:, :-1]
        b[outputs] += steps[:, -1]
        value, pull, gradient, curvature = rows.sums(point_part, loss, updates, V, b, at.sigma, outputs)
        before = values[outputs] + 0.5 * (at.V[outputs] ** 2).sum(axis=1)
        after = value + 0.5 * (V[outputs] ** 2).sum(axis=1)
        left = np.einsum("ij,ij->i", gradient[:, :-1] + V[outputs], steps[:, :-1]) + gradient[:, -1] * steps[:, -1]
        worse = after > before * (1.0 + TINY_DESCENT)
        far = worse | (np.abs(left) > FLATTER * -slopes)
        if far.any():
            lengths = np.ones(len(outputs))
            lengths[far] = _line_search(rows, loss, updates, at, outputs[far], steps[far], slopes[far])
            V[outputs] = at.V[outputs] + lengths[:, None] * steps[:, :-1]
            b[outputs] = at.b[outputs] + lengths * steps[:, -1]
            value, pull, gradient, curvature = rows.sums(point_part, loss, updates, V, b, at.sigma, outputs)
        at.V[:], at.b[:] = V, b
        values[outputs] = value
    return outputs, values


def _directions(at: _Search, outputs: Indices, gradient: Array, curvature: Array, n: int) -> tuple[Array, Array]:
    """Return the Newton steps (k, m + 1) of these outputs, and the slopes along them."""
    m = at.V.shape[1]
    full = gradient.copy()
    full[:, :m] += at.V[outputs]
    steps = np.empty_like(full)
    for j, k in enumerate(outputs):
        H = curvature[j].copy()
        H[np.arange(m), np.arange(m)] += 1.0
        if curvature[j, m, m] == 0.0:
            H[m, m] = BIAS_RIDGE * at.sigma[k] * n
        steps[j] = -dpotrs(cholesky_with_ridge(H), full[j], lower=1)[0]
    return steps, np.einsum("ij,ij->i", full, steps)


def _line_search(
    rows: Parts[MarginRows],
    loss: PartsLoss,
    updates: tuple[Update, ...],
    at: _Search,
    outputs: Indices,
    steps: Array,
    slopes: Array,
) -> Array:
    """Return the minimisers s > 0 along the steps; every pass tries one length for each output."""
    vd = np.einsum("ij,ij->i", at.V[outputs], steps[:, :-1])
    dd = (steps[:, :-1] ** 2).sum(axis=1)
    low, high, lengths = np.zeros(len(outputs)), np.full(len(outputs), np.inf), np.ones(len(outputs))
    for _ in range(MAX_LINE_STEPS):
        first, second = rows.sums(
            slope_part,
            loss,
            updates,
            at.V,
            at.b,
            at.sigma,
            outputs,
            np.ascontiguousarray(steps[:, :-1]),
            np.ascontiguousarray(steps[:, -1]),
            lengths,
        )
        first, second = first + vd + lengths * dd, second + dd
        open_ = np.abs(first) > 1e-9 * np.abs(slopes)
        if not open_.any():
            break
        low = np.where(open_ & (first < 0.0), lengths, low)
        high = np.where(open_ & (first > 0.0), lengths, high)
        guess = np.where(second > 0.0, lengths - first / np.where(second > 0.0, second, 1.0), np.inf)
        middle = np.where(high < np.inf, 0.5 * (low + np.minimum(high, 1e300)), 2.0 * low)
        lengths = np.where(open_, np.where((low < guess) & (guess < high), guess, middle), lengths)
    return lengths
