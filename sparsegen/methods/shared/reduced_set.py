"""The reduced set of a trained machine: few vectors whose expansion lies near a given one in feature space.

    min_{Z, beta}  E = sum_k | sum_i a_ki phi(s_i) - sum_j beta_kj phi(z_j) |^2                             [W05, eq. 4]

For given Z the best coefficients are ``beta = Kz^-1 Kzs a`` [W05, eq. 35]; E is then a function of Z alone, and by the
envelope theorem its gradient needs only K(Z, Z) and K(S, Z) with beta held fixed. L-BFGS-B descends on all of Z, from
support vectors drawn at random or, with the Gaussian kernel, alternately from these and from the fixed-point iteration
of Schoelkopf and Smola (2002, section 18.3). That moves one vector at a time to a maximum of
``sum_k <Psi_k, phi(z)>^2``, where Psi_k is what the vectors before it leave over:

    z <- sum_i w_i K(u_i, z) u_i / sum_i w_i K(u_i, z),    w_i = sum_k c_ki Psi_k(z)

with Psi_k = sum_i c_ki phi(u_i) expanded on the support vectors and the vectors found so far.

Symbols: S (n_s, d) support vectors, a (n_outputs, n_s) their coefficients ``alpha y``, Z (m, d), beta (n_outputs, m).

Note: with several outputs the vectors are shared and E is summed; the weights ``w`` are then ours (for one output they
give the iteration of the book, and their sum, ``sum_k Psi_k(z)^2``, is never negative). Steps are damped.
Note: Kz has a ridge, see ``shared.ridge``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from sparsegen import progress
from sparsegen.arrays import Array
from sparsegen.kernels import BoundKernel, GramBlock
from sparsegen.methods.shared.ridge import weights_with_ridge, with_ridge
from sparsegen.solvers.blocks import RowBlocks, rows_per_block
from sparsegen.solvers.descent import lbfgs

BLOCK_BYTES = 1 << 28
ARRAYS_PER_BLOCK = 4
FIXED_POINT_STARTS = 10
FIXED_POINT_STEPS = 100
SETTLED_STEP = 1e-6  # share of the vectors' spread; a shorter step ends the fixed-point iteration
CANCELLED_SHARE = 1e-12  # of the support vectors' own squared norms; below it Psi has cancelled to nothing


@dataclass(frozen=True)
class ReducedSet:
    """Vectors and coefficients, and which share of ``|Psi|^2`` they leave over."""

    Z: Array
    beta: Array
    residual: float
    iterations: int


class ReducedSetObjective:
    """E(Z) as a share of ``sum_k |Psi_k|^2``, with the best beta for Z, and its gradient; by blocks of S."""

    def __init__(self, S: Array, a: Array, kernel: BoundKernel) -> None:
        self.S, self.a, self.kernel = S, a, kernel
        norm, largest = 0.0, 0.0
        for rows, block in self._blocks(S):
            norm += float(np.sum((a[:, rows] @ block.value) * a))
            largest = max(largest, float(np.abs(block.value).max()))
        self.norm = norm
        """sum_k |Psi_k|^2"""
        self.is_nothing = norm <= CANCELLED_SHARE * largest * float(np.sum(np.abs(a)) ** 2)
        """Whether Psi is zero up to rounding: equal rows of both classes."""

    def __call__(self, Z: Array) -> tuple[float, Array]:
        """Return the share left over and its gradient."""
        block_z, blocks = self.kernel.block(Z, Z), self._blocks(Z)
        beta, projections = self._coefficients(block_z, blocks)
        gradient = block_z.gradient(weights_with_ridge(beta, 2.0))
        for rows, block in blocks:
            gradient -= block.gradient(2.0 * self.a[:, rows].T @ beta)
        return 1.0 - float(np.sum(beta * projections)) / self.norm, gradient / self.norm

    def coefficients(self, Z: Array) -> Array:
        """Return ``beta = Kz^-1 Kzs a`` [W05, eq. 35]."""
        return self._coefficients(self.kernel.block(Z, Z), self._blocks(Z))[0]

    def _coefficients(self, block_z: GramBlock, blocks: RowBlocks[GramBlock]) -> tuple[Array, Array]:
        """Return beta and ``Psi_k(z_j)``."""
        projections = np.zeros((len(self.a), len(block_z.value)))
        for rows, block in blocks:
            projections += self.a[:, rows] @ block.value
        return cho_solve(cho_factor(with_ridge(block_z.value), lower=True), projections.T).T, projections

    def _blocks(self, Z: Array) -> RowBlocks[GramBlock]:
        step = rows_per_block(len(Z), ARRAYS_PER_BLOCK, BLOCK_BYTES)
        return RowBlocks(len(self.S), step, lambda rows: self.kernel.block(self.S[rows], Z))


def reduce_set(
    S: Array, a: Array, kernel: BoundKernel, m: int, n_init: int, max_iter: int, tol: float, rng: np.random.RandomState
) -> ReducedSet:
    """Return at most m vectors for the expansion of ``a`` on ``S``: the best of ``n_init`` starts.

    Equal rows of S count as one, with their coefficients added up: with a large C they nearly cancel. Where
    there are no more different rows than vectors, these rows are the vectors: nothing is nearer.
    """
    S, owner = np.unique(S, axis=0, return_inverse=True)
    merged = np.zeros((len(a), len(S)))
    np.add.at(merged.T, owner.ravel(), a.T)
    a = merged
    if m >= len(S):
        return ReducedSet(S.copy(), a.copy(), 0.0, 0)
    objective = ReducedSetObjective(S, a, kernel)
    if objective.is_nothing:
        Z = S[_draw(a, m, rng)]
        return ReducedSet(Z, np.zeros((len(a), m)), 0.0, 0)
    found = []
    for start in range(n_init):
        title = "reducing the SVM" + (f", start {start + 1} of {n_init}" if n_init > 1 else "")
        by_iteration = kernel.is_gaussian and start % 2 == 0
        Z = fixed_point(objective, m, rng) if by_iteration else S[_draw(a, m, rng)]
        found.append(_descend(objective, Z, max_iter, tol, title))
    return min(found, key=lambda result: result.residual)


def fixed_point(objective: ReducedSetObjective, m: int, rng: np.random.RandomState) -> Array:
    """Return m vectors, each the best of several fixed-point iterations on what those before it left over."""
    S, a = objective.S, objective.a
    U, c = S, a
    for _ in range(m):
        starts = S[_draw(c[:, : len(S)], min(FIXED_POINT_STARTS, len(S)), rng)]
        U = np.vstack([U, _climb(U, c, objective.kernel, starts)])
        c = np.hstack([a, -objective.coefficients(U[len(S) :])])
    return U[len(S) :]


def _climb(U: Array, c: Array, kernel: BoundKernel, z: Array) -> Array:
    """Return the best end of the iterations that start at the rows of z, as a matrix of one row.

    The gain ``sum_k Psi_k(z)^2`` is also the sum of the weights in the iteration, whose steps point uphill; a step that
    goes too far, as it does where the gain is small, is halved until it gains.
    """
    settled = SETTLED_STEP * (float(U.std()) or 1.0)
    K = kernel.gram(U, z)
    Psi = c @ K
    gain = np.sum(Psi**2, axis=0)
    damping = np.ones(len(z))
    for _ in range(FIXED_POINT_STEPS):
        target = (((c.T @ Psi) * K).T @ U) / np.where(gain > 0.0, gain, np.inf)[:, None]
        step = np.where(gain > 0.0, damping, 0.0)[:, None] * (target - z)
        if np.abs(step).max() <= settled:
            break
        trial_K = kernel.gram(U, z + step)
        trial_Psi = c @ trial_K
        trial_gain = np.sum(trial_Psi**2, axis=0)
        better = trial_gain >= gain
        z = np.where(better[:, None], z + step, z)
        K, Psi, gain = np.where(better, trial_K, K), np.where(better, trial_Psi, Psi), np.maximum(gain, trial_gain)
        damping = np.where(better, np.minimum(1.0, 2.0 * damping), 0.5 * damping)
    return z[[int(np.argmax(gain))]]


def _draw(a: Array, m: int, rng: np.random.RandomState) -> NDArray[np.intp]:
    """Return m different columns of ``a``, those with large coefficients more often."""
    weight = np.abs(a).sum(axis=0)
    weight = weight + 1e-9 * (float(weight.max()) or 1.0)  # choice() wants enough entries that are not zero
    return np.asarray(rng.choice(len(weight), m, replace=False, p=weight / weight.sum()), dtype=np.intp)


def _descend(objective: ReducedSetObjective, Z: Array, max_iter: int, tol: float, title: str) -> ReducedSet:
    """Return the end of a descent from Z."""
    unit = float(objective.S.std()) * np.sqrt(len(Z)) or 1.0  # the first step moves each vector by about one deviation
    with progress.task(title, max_iter) as advance:
        found = lbfgs(objective, Z, unit, max_iter=max_iter, tol=tol, advance=advance)
    return ReducedSet(found.x, objective.coefficients(found.x), found.value, found.iterations)
