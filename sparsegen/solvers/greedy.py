"""A machine on a growing set of basis functions, kept at its optimum by Newton steps on a growing Cholesky factor.

    min_{beta, b}  lam/2 beta' K_JJ beta + 1/2 sum_i w_i max(0, 1 - y_i o_i)^2,   o_i = K_iJ beta + b  [K06, eq. 4]

and, for kernel matching pursuit [K06, 4], the same with ``(y_i - o_i)^2``, where every row is always active. The papers
have no weights w_i of rows; they are ours, positive, and 1 where none are given.

Symbols: I the active rows (1 - y_i o_i > 0); A (d, n) one row per basis function, A = K_JI (a row of ones for b);
R (d, d) = K_JJ (zero for b); P = lam R + A_I W_I A_I' and its factor L, P = L L' [K06, eq. 6]; o (n,) outputs;
w (n,) weights of the rows, W their diagonal matrix.

A basis function appends one row to P and to L: O(n d + d^2). A row that enters or leaves I is a rank-one change of P;
few of them update L in O(d^2) each, many are refactorised from P, which is itself only ever corrected.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve, solve_triangular

from sparsegen.arrays import Array
from sparsegen.compiled import compiled
from sparsegen.solvers.cholesky import IncrementalCholesky
from sparsegen.solvers.factor import cholesky_with_ridge
from sparsegen.solvers.newton import line_search

SMALLEST_PIVOT = 1e-8  # a basis function whose pivot is below this share of its diagonal is a copy, to float32 at least
TINY_DESCENT = 1e-14  # descents below this share of the objective are rounding errors
ROWS_PER_UPDATE = 8  # rank-one updates of L pay for up to d / 8 changed rows
SCORE_STEPS = 30
SCORE_TOLERANCE = 1e-6

Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Snapshot:
    """What a trial changes and :meth:`GrowingMachine.restore` brings back."""

    d: int
    beta: Array
    o: Array
    active: Bools
    P: Array
    L: Array
    removed: int


class GrowingMachine:
    """The minimiser of [K06, eq. 4] over the basis functions appended so far."""

    def __init__(
        self, y: Array, lam: float, *, hinge: bool = True, intercept: bool = True, weights: Array | None = None
    ) -> None:
        self.y, self.lam, self.hinge, self.weights = y, lam, hinge, weights
        n = len(y)
        self._A = np.empty((2, n))
        self._square = np.zeros((3, 2, 2))  # R, P and L
        self._resize(0)
        self.beta = np.zeros(0)
        self.o = np.zeros(n)
        self.active = np.ones(n, dtype=bool)
        self.removed = 0
        self.first = int(intercept)
        """Where the basis functions start: after the row of ones, if there is one."""
        self.solved = True
        if intercept:
            self.append(np.ones(n), np.empty(0), 0.0)

    @property
    def intercept(self) -> float:
        """The bias b; 0 where there is none."""
        return float(self.beta[0]) if self.first else 0.0

    @property
    def residual(self) -> Array:
        """What each output lacks: ``y_i max(0, 1 - y_i o_i)`` or ``y_i - o_i``."""
        return np.where(1.0 - self.y * self.o > 0.0, self.y - self.o, 0.0) if self.hinge else self.y - self.o

    @property
    def pull(self) -> Array:
        """Minus the derivative of the loss in each output: ``w_i residual_i``."""
        return self.weighed(self.residual)

    def weighed(self, values: Array) -> Array:
        """Return values (..., n) of the rows times the rows' weights."""
        return values if self.weights is None else values * self.weights

    def objective(self) -> float:
        """Return f(beta) [K06, eq. 4]."""
        losses = self.weighed(self.residual**2)
        return 0.5 * self.lam * float(self.beta @ self.R @ self.beta) + 0.5 * float(losses.sum())

    def append(self, column: Array, cross: Array, diagonal: float, weight: float = 0.0) -> bool:
        """Add a basis function: its values on the rows, ``K_Jj`` and ``K_jj``; say whether it is independent.

        ``weight`` is the coefficient it starts with. A copy of the functions there are is left out.
        """
        d = self.d
        self._reserve(d + 1)
        self._A[d] = column
        r = np.zeros(d + 1)
        r[self.first : d] = cross
        r[d] = diagonal
        p = self.lam * r + self._A[: d + 1] @ self.weighed(np.where(self.active, column, 0.0))
        factor = solve_triangular(self.L, p[:d], lower=True, check_finite=False) if d else np.empty(0)
        pivot = float(p[d] - factor @ factor)
        if not pivot > SMALLEST_PIVOT * p[d]:
            return False
        R, P, L = self._square
        R[d, : d + 1] = R[: d + 1, d] = r
        P[d, : d + 1] = P[: d + 1, d] = p
        L[d, :d], L[:d, d], L[d, d] = factor, 0.0, np.sqrt(pivot)
        self._resize(d + 1)
        self.beta = np.append(self.beta, weight)
        if weight:
            self.o = self.o + weight * column
        return True

    def solve(self, max_iter: int) -> int:
        """Bring beta to the optimum for these basis functions [K06, 3.3]; return the number of Newton steps."""
        self.o = self.beta @ self.A
        zeros, no_caps = np.zeros_like(self.o), np.full_like(self.o, np.inf)
        last = np.inf
        self.solved = False
        for step in range(1, max_iter + 1):
            self._activate(1.0 - self.y * self.o > 0.0 if self.hinge else np.ones_like(self.active))
            residual = np.where(self.active, self.y - self.o, 0.0)
            pull = self.weighed(residual)
            g = self.lam * (self.R @ self.beta) - self.A @ pull
            direction = -cho_solve((self.L, True), g, check_finite=False)  # [K06, eq. 6]
            descent = -float(g @ direction)
            size = float(residual @ pull) + self.lam * float(self.beta @ self.R @ self.beta)
            if descent <= TINY_DESCENT * size and descent > 0.5 * last:
                self.solved = True
                return step
            last = descent
            change = direction @ self.A
            curve = self.lam * (self.R @ direction)
            length = 1.0
            if self.hinge:
                slope, bend = float(self.beta @ curve), float(direction @ curve)
                length = line_search(slope, bend, self.o, change, self.y, zeros, 1.0, no_caps, self.weights)
            self.beta = self.beta + length * direction
            self.o = self.o + length * change
            stays = not self.hinge or np.array_equal(1.0 - self.y * self.o > 0.0, self.active)
            if descent <= 1e-30 * size or (length == 1.0 and stays and descent <= 1e-6 * size):
                self.solved = True
                return step
        return max_iter

    def load(self, columns: Array, K: Array, beta: Array) -> None:
        """Replace the basis functions by these rows of values, with Gram matrix ``K`` and coefficients to start from.

        One matrix product instead of one append per function. ``beta`` starts with the bias, if there is one.
        """
        first = self.first
        self._resize(0)
        self._reserve(first + len(K))
        self._resize(first + len(K))
        self.A[:first], self.A[first:] = 1.0, columns
        self._square[:] = 0.0
        self.R[first:, first:] = K
        self.beta = beta.copy()
        self.o = self.beta @ self.A
        self.active = 1.0 - self.y * self.o > 0.0 if self.hinge else np.ones_like(self.active)
        self._rebuild()

    def keep(self, rows: Bools) -> None:
        """Leave the other rows, all inactive, out of every later calculation (shrinking)."""
        self.y, self.o, self.active = self.y[rows], self.o[rows], self.active[rows]
        if self.weights is not None:
            self.weights = self.weights[rows]
        self._A = self.A[:, rows]
        self._resize(self.d)

    def snapshot(self) -> Snapshot:
        """Return what is needed to undo what follows."""
        return Snapshot(self.d, self.beta, self.o, self.active, self.P.copy(), self.L.copy(), self.removed)

    def restore(self, before: Snapshot) -> None:
        """Undo everything since the snapshot."""
        self._resize(before.d)
        self.beta, self.o = before.beta, before.o
        self.active, self.removed = before.active, before.removed
        self.P[:] = before.P
        self.L[:] = before.L

    def _reserve(self, size: int) -> None:
        if size <= min(len(self._A), len(self._square[0])):
            return
        room = max(size, 2 + len(self._A) + len(self._A) // 2)
        A = np.empty((room, self._A.shape[1]))
        A[: self.d] = self.A
        square = np.zeros((3, room, room))
        square[:, : self.d, : self.d] = self._square[:, : self.d, : self.d]
        self._A, self._square = A, square
        self._resize(self.d)

    def _resize(self, d: int) -> None:
        """Look at the first d basis functions."""
        self.d = d
        self.A = self._A[:d]
        self.R, self.P, self.L = self._square[:, :d, :d]

    def _activate(self, active: Bools) -> None:
        """Bring P and L to these active rows."""
        changed = np.flatnonzero(active != self.active)
        if len(changed) == 0:
            return
        enters = active[changed]
        self.active = active
        self.removed += int(np.count_nonzero(~enters))
        if self.removed > np.count_nonzero(active):  # too much rounding error from what has gone, and no cheaper
            self._rebuild()
            return
        U = np.ascontiguousarray(self.A[:, changed].T)
        if self.weights is not None:
            U *= np.sqrt(self.weights[changed])[:, None]
        self.P[:] += U[enters].T @ U[enters] - U[~enters].T @ U[~enters]
        few = ROWS_PER_UPDATE * len(changed) <= self.d
        order = np.argsort(~enters, kind="stable")  # rows that enter first: P stays as positive as it can
        if not few or not update_factor(self._square[2], U[order], np.where(enters[order], 1.0, -1.0)):
            self._refactorise()

    def _rebuild(self) -> None:
        self.removed = 0
        U = self.A if self.active.all() else self.A[:, self.active]
        W = None if self.weights is None else self.weights[self.active]
        self.P[:] = self.lam * self.R + (U if W is None else U * W) @ U.T
        self._refactorise()

    def _refactorise(self) -> None:
        self.L[:] = cholesky_with_ridge(self.P)


def independent(P: Array) -> list[int]:
    """Return which of the basis functions with these inner products are no copy of those before them."""
    chosen = IncrementalCholesky(P.diagonal(), 0.0, pivoted=False, rounding=SMALLEST_PIVOT)
    while (j := chosen.next_row()) is not None:
        chosen.add(j, P[j])
    return [int(j) for j in chosen.rows]


@compiled
def update_factor(L: Array, U: Array, signs: Array) -> bool:
    """Turn the factor of P into that of ``P + sum_k signs_k u_k u_k'`` in place; False where that is not positive.

    L may be larger than the d x d factor in its corner: a view of the corner would be compiled once more.
    """
    d = U.shape[1]
    for k in range(U.shape[0]):
        u = U[k].copy()
        for j in range(d):
            old = L[j, j]
            square = old * old + signs[k] * u[j] * u[j]
            if not square > 1e-12 * old * old:
                return False
            new = np.sqrt(square)
            c, s = new / old, u[j] / old
            L[j, j] = new
            for i in range(j + 1, d):
                L[i, j] = (L[i, j] + signs[k] * s * u[i]) / c
                u[i] = c * u[i] - s * L[i, j]
    return True


@compiled
def score_columns(
    columns: Array,
    linear: Array,
    diagonal: Array,
    o: Array,
    y: Array,
    lam: float,
    hinge: bool,
    weights: Array | None,
    gain: Array,
    coefficient: Array,
) -> None:
    """Write what each column would lower the objective by on its own, and the coefficient it would have.

    For column k, with ``linear = K_jJ beta`` and ``diagonal = K_jj``, the minimum over t of [K06, eq. 7]

        lam (t linear + t^2/2 diagonal) + 1/2 sum_i w_i max(0, 1 - y_i (o_i + t k_i))^2

    by Newton steps within a bracket, O(n) each.
    """
    n = o.shape[0]
    for c in range(columns.shape[0]):
        k = columns[c]
        low, high, t = -np.inf, np.inf, 0.0
        at_zero = 0.0
        for step in range(SCORE_STEPS):
            first = lam * (linear[c] + t * diagonal[c])
            second = lam * diagonal[c]
            for i in range(n):
                r = y[i] - o[i] - t * k[i]
                if not hinge or r * y[i] > 0.0:
                    wk = k[i] if weights is None else weights[i] * k[i]
                    first -= r * wk
                    second += k[i] * wk
            if step == 0:
                at_zero = abs(first)
            if abs(first) <= SCORE_TOLERANCE * at_zero or second <= 0.0:
                break
            if first < 0.0:
                low = t
            else:
                high = t
            guess = t - first / second
            t = guess if low < guess < high else 0.5 * (low + high)
        total = -lam * (t * linear[c] + 0.5 * t * t * diagonal[c])
        for i in range(n):
            half = 0.5 if weights is None else 0.5 * weights[i]
            r = y[i] - o[i]
            if not hinge or r * y[i] > 0.0:
                total += half * r * r
            r -= t * k[i]
            if not hinge or r * y[i] > 0.0:
                total -= half * r * r
        gain[c] = total
        coefficient[c] = t
