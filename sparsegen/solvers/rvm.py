"""The relevance vector machine for two classes, by the fast marginal likelihood method (Tipping and Faul 2003).

    p(t | w) = prod_i (y_i^t_i (1 - y_i)^(1 - t_i))^c_i,   y = sigma(Phi w),
    p(w | alpha) = prod_j N(w_j | 0, 1 / alpha_j)

and alpha maximises the evidence, in which the posterior of w is taken as Gaussian around its mode (Laplace):

    log p(t | alpha) ~ log p(t | w) - 1/2 w'Aw + 1/2 log|A| - 1/2 log|H|,   H = Phi'B Phi + A,   B = diag(c y (1 - y))

Most alpha are infinite at the optimum and their columns leave the model. With B held fixed the evidence depends on one
alpha_j through two numbers of its column only, the sparsity and quality factors

    S_j = phi_j'B phi_j - phi_j'B Phi H^-1 Phi'B phi_j,   Q_j = phi_j'C (t - y),
    outside the model   s_j = S_j,   q_j = Q_j
    in the model        s_j = alpha_j S_j / (alpha_j - S_j),   q_j = alpha_j Q_j / (alpha_j - S_j)

and is largest at ``alpha_j = s_j^2 / (q_j^2 - s_j)`` where ``q_j^2 > s_j``, at infinity otherwise. Each iteration takes
the one addition, re-estimation or deletion that gains most, then finds the new mode.

Symbols: P (n, M) candidate columns, Phi the columns in the model and last a column of ones for the bias, t (n,)
targets 0 or 1, sigma(f) = 1 / (1 + exp(-f)), alpha precisions of the columns in the model, A = diag(alpha), c (n,)
how often each row was observed, None for once, C = diag(c).

Note: the bias is always in the model and has a flat prior (``BIAS_PRECISION``): it is never pruned.
Note: the gains are exact for fixed B only, so that a column might come and go for ever, or its alpha swing between two
values; the fourth time a column comes it stays, and each time an alpha turns back its moves from then on are half as
long (half the way each time was not enough: it swung between two values half a move apart).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve, solve_triangular
from scipy.special import expit

from sparsegen.arrays import Array
from sparsegen.solvers.factor import cholesky_with_ridge

BIAS_PRECISION = 1e-9
START_ALPHA = 1e-3
MAX_NEWTON = 50
MODE_DECREMENT = 1e-10  # Newton decrement at which the mode is found
ALIGNED_SHARE = 1e-9  # a column of which the model leaves less than this share adds nothing new
SHORTEST_STEP = 1e-15  # step, as a share of Newton's: far out H is nearly flat, and Newton's step endless
MAX_DELETIONS = 3  # of one column
LARGEST_ALPHA = 1e12

Indices = NDArray[np.intp]


@dataclass(frozen=True)
class RvmSolution:
    """Columns in the model with their weights and precisions, the bias, and the log evidence."""

    used: Indices
    weights: Array
    bias: float
    alpha: Array
    evidence: float
    iterations: int
    solved: bool
    """False where the iteration bound came first."""


@dataclass(frozen=True)
class Mode:
    """The most probable weights (the bias last), the Cholesky factor of H there, y, B, and the log evidence."""

    w: Array
    L: Array
    y: Array
    B: Array
    evidence: float


def solve(
    P: Array,
    t: Array,
    max_iter: int,
    tol: float,
    start: Indices | None = None,
    advance: Callable[[float], None] = lambda evidence: None,
    c: Array | None = None,
) -> RvmSolution:
    """Return the machine for candidate columns ``P`` and targets ``t`` in {0, 1}; columns should be of order 1.

    The columns ``start`` are in the model at first. There are local optima: columns that help together only.
    It ends when, with B held fixed, no single change would gain more than ``tol`` in log evidence; a deletion after
    the third of the same column does not count as a change.
    """
    used: Indices = np.empty(0, dtype=np.intp) if start is None else start
    alpha = np.full(len(used), START_ALPHA)
    share = np.clip(t.mean() if c is None else c @ t / c.sum(), 1e-12, 1.0 - 1e-12)
    w = np.append(np.zeros(len(used)), np.log(share / (1.0 - share)))
    mode = find_mode(_columns(P, used), t, alpha, w, c)
    deletions = np.zeros(P.shape[1], dtype=np.intp)
    moves = np.zeros(P.shape[1])  # of log alpha, the last of each column, as it was wanted
    lengths = np.ones(P.shape[1])  # of a move, as a share of what is wanted
    iteration, solved = 0, False
    while iteration < max_iter and not solved:
        gains, best_alpha = gains_of_changes(P, used, alpha, t, mode, c)
        gains[np.isinf(best_alpha) & (deletions >= MAX_DELETIONS)] = -np.inf
        j = int(np.argmax(gains))
        solved = not gains[j] > tol
        if not solved:
            new_alpha = float(best_alpha[j])
            if np.isinf(new_alpha):
                deletions[j] += 1
            elif j in used:
                old_alpha = float(alpha[used == j][0])
                move = np.log(new_alpha / old_alpha)
                if move * moves[j] < 0.0:  # back and forth
                    lengths[j] *= 0.5
                new_alpha = old_alpha * float(np.exp(lengths[j] * move))
                moves[j] = move
            used, alpha, w = _change(used, alpha, mode.w, j, new_alpha)
            mode = find_mode(_columns(P, used), t, alpha, w, c)
            iteration += 1
            advance(mode.evidence)
    return RvmSolution(used, mode.w[:-1], float(mode.w[-1]), alpha, mode.evidence, iteration, solved)


def find_mode(Phi: Array, t: Array, alpha: Array, w: Array, c: Array | None = None) -> Mode:
    """Return the maximum of ``log p(t | w) - 1/2 w'Aw`` by Newton's method with halved steps, from w."""
    A = np.append(alpha, BIAS_PRECISION)
    ct = _counted(t, c)

    def log_posterior(w: Array, f: Array) -> float:
        return float(ct @ f - _counted(np.logaddexp(0.0, f), c).sum() - 0.5 * (A * w) @ w)

    f = Phi @ w
    value = log_posterior(w, f)
    for _ in range(MAX_NEWTON):
        y = expit(f)
        gradient = Phi.T @ _counted(t - y, c) - A * w
        step = cho_solve((_factor(Phi, _counted(y * (1.0 - y), c), A), True), gradient)
        descent = float(gradient @ step)
        if descent <= MODE_DECREMENT:
            break
        step_f, length = Phi @ step, 1.0
        while length > SHORTEST_STEP:
            trial = log_posterior(w + length * step, f + length * step_f)
            if trial >= value + 1e-4 * length * descent:
                break
            length *= 0.5
        else:  # rounding is all that is left
            break
        w, f, value = w + length * step, f + length * step_f, trial
    y = expit(f)
    B = _counted(y * (1.0 - y), c)
    L = _factor(Phi, B, A)
    evidence = value + 0.5 * float(np.log(A).sum()) - float(np.log(np.diag(L)).sum())
    return Mode(w, L, y, B, evidence)


def _counted(values: Array, c: Array | None) -> Array:
    """Return values of the rows, each as often as its row was observed."""
    return values if c is None else c * values


def gains_of_changes(
    P: Array, used: Indices, alpha: Array, t: Array, mode: Mode, c: Array | None = None
) -> tuple[Array, Array]:
    """Return for every column what its best change gains in log evidence with B fixed, and its best alpha.

    An infinite alpha deletes the column; a column outside the model that should stay there gains nothing.
    """
    S, Q, own = factors(P, used, t, mode, c)
    gains = np.full(P.shape[1], -np.inf)
    best = np.full(P.shape[1], np.inf)
    inside = np.zeros(P.shape[1], dtype=bool)
    inside[used] = True

    worth = ~inside & (Q**2 > S) & (ALIGNED_SHARE * own < S) & (own > 0.0)
    S_out, Q_out = S[worth], Q[worth] ** 2
    best[worth] = np.minimum(S_out**2 / (Q_out - S_out), LARGEST_ALPHA)
    gains[worth] = 0.5 * ((Q_out - S_out) / S_out + np.log(S_out / Q_out))

    S_in, Q_in = np.clip(S[used], 0.0, alpha * (1.0 - 1e-12)), Q[used]
    s, q = alpha * S_in / (alpha - S_in), alpha * Q_in / (alpha - S_in)
    keep = q**2 > s
    new = np.full(len(used), np.inf)
    new[keep] = np.clip(s[keep] ** 2 / (q[keep] ** 2 - s[keep]), 1.0 / LARGEST_ALPHA, LARGEST_ALPHA)
    wider = 1.0 / new - 1.0 / alpha  # of the prior's variance; all of it goes in a deletion
    best[used] = new
    gains[used] = 0.5 * (Q_in**2 * wider / (1.0 + S_in * wider) - np.log1p(S_in * wider))
    return gains, best


def factors(P: Array, used: Indices, t: Array, mode: Mode, c: Array | None = None) -> tuple[Array, Array, Array]:
    """Return S, Q and ``phi'B phi`` of every column."""
    BPhi = mode.B[:, None] * _columns(P, used)
    own = np.einsum("ij,ij,i->j", P, P, mode.B)
    seen = solve_triangular(mode.L, BPhi.T @ P, lower=True)
    return own - np.einsum("ij,ij->j", seen, seen), P.T @ _counted(t - mode.y, c), own


def _change(used: Indices, alpha: Array, w: Array, j: int, new_alpha: float) -> tuple[Indices, Array, Array]:
    """Return columns, precisions and weights to start from after column j takes its new precision."""
    at = np.flatnonzero(used == j)
    if len(at) == 0:
        return np.append(used, j), np.append(alpha, new_alpha), np.insert(w, len(used), 0.0)
    if np.isinf(new_alpha):
        return np.delete(used, at), np.delete(alpha, at), np.delete(w, at)
    changed = alpha.copy()
    changed[at] = new_alpha
    return used, changed, w


def _columns(P: Array, used: Indices) -> Array:
    """Return Phi: the columns in the model, and ones."""
    Phi = np.ones((len(P), len(used) + 1))
    Phi[:, :-1] = P[:, used]
    return Phi


def _factor(Phi: Array, B: Array, A: Array) -> Array:
    """Return the lower Cholesky factor of ``H = Phi'B Phi + A``."""
    H = Phi.T @ (B[:, None] * Phi)
    np.fill_diagonal(H, H.diagonal() + A)
    return cholesky_with_ridge(H)
