"""The reduced set of a trained machine: few vectors whose expansion lies near a given one in feature space.

    min_{Z, beta}  E = sum_k | sum_i a_ki phi(s_i) - sum_j beta_kj phi(z_j) |^2                             [W05, eq. 4]

For given Z the best coefficients are ``beta = Kz^-1 Kzs a`` [W05, eq. 35]; E is then a function of Z alone, and by the
envelope theorem its gradient needs only K(Z, Z) and K(S, Z) with beta held fixed. L-BFGS-B descends on all of Z, from
support vectors drawn at random or, with the Gaussian kernel, by turns from these and from the fixed-point iteration of
Schoelkopf and Smola (2002, section 18.3): one vector at a time is brought to a maximum of
``sum_k <Psi_k, phi(z)>^2``, Psi_k being what the vectors before it leave over,

    z <- sum_i w_i K(u_i, z) u_i / sum_i w_i K(u_i, z),    w_i = sum_k c_ki Psi_k(z)

where Psi_k = sum_i c_ki phi(u_i) is expanded on the support vectors and the vectors found so far.

Symbols: S (n_s, d) support vectors, a (n_outputs, n_s) their coefficients ``alpha y``, Z (m, d), beta (n_outputs, m).

Note: with several outputs the vectors are shared and E is summed; the weights ``w`` are then ours (for one output they
give the iteration of the book, and their sum, ``sum_k Psi_k(z)^2``, is never negative). Steps are damped.
Note: Kz is given a ridge of ``RIDGE`` times its mean diagonal, so that vectors may meet without dividing by zero.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize

from sparsegen import progress
from sparsegen.arrays import Array
from sparsegen.kernels import BoundKernel, GramBlock
from sparsegen.methods.shared.stop import FLAT, StopBelow
from sparsegen.methods.slmc import RIDGE

BLOCK_BYTES = 1 << 28
FIXED_POINT_STARTS = 10
FIXED_POINT_STEPS = 100
SETTLED = 1e-6  # of the spread of the vectors: a step of the fixed-point iteration that ends it
NOTHING = 1e-12  # of the support vectors' own squared norms: a Psi below it has cancelled to nothing


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
        self.is_nothing = norm <= NOTHING * largest * float(np.sum(np.abs(a)) ** 2)
        """Whether Psi is zero up to rounding: equal rows of both classes."""

    def __call__(self, Z: Array) -> tuple[float, Array]:
        """Return the share left over and its gradient."""
        block_z = self.kernel.block(Z, Z)
        beta, projections = self._coefficients(Z, block_z)
        weights = 2.0 * (beta.T @ beta)  # of K(Z, Z): once for each argument
        weights[np.diag_indices_from(weights)] += 2.0 * RIDGE * np.mean(np.sum(beta**2, axis=0))  # the ridge's share
        gradient = block_z.gradient(weights)
        for rows, block in self._blocks(Z):
            gradient -= block.gradient(2.0 * self.a[:, rows].T @ beta)
        return 1.0 - float(np.sum(beta * projections)) / self.norm, gradient / self.norm

    def coefficients(self, Z: Array) -> Array:
        """Return ``beta = Kz^-1 Kzs a`` [W05, eq. 35]."""
        return self._coefficients(Z, self.kernel.block(Z, Z))[0]

    def _coefficients(self, Z: Array, block_z: GramBlock) -> tuple[Array, Array]:
        """Return beta and ``Psi_k(z_j)``."""
        Kz = block_z.value.copy()
        Kz[np.diag_indices_from(Kz)] += RIDGE * (float(np.mean(np.diag(Kz))) or 1.0)
        projections = np.zeros((len(self.a), len(Z)))
        for rows, block in self._blocks(Z):
            projections += self.a[:, rows] @ block.value
        return cho_solve(cho_factor(Kz, lower=True), projections.T).T, projections

    def _blocks(self, Z: Array) -> Iterator[tuple[slice, GramBlock]]:
        step = max(1, BLOCK_BYTES // (32 * len(Z)))
        for first in range(0, len(self.S), step):
            rows = slice(first, min(len(self.S), first + step))
            yield rows, self.kernel.block(self.S[rows], Z)


def reduce_set(
    S: Array,
    a: Array,
    kernel: BoundKernel,
    m: int,
    n_init: int,
    max_iter: int,
    tol: float,
    rng: np.random.RandomState,
) -> ReducedSet:
    """Return at most m vectors for the expansion of ``a`` on ``S``: the best of ``n_init`` starts.

    Equal rows of S count as one, with their coefficients added up: with a large C they nearly cancel. As many vectors
    as there are different rows, or more, are these rows: nothing is nearer.
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
        by_iteration = kernel.name == "rbf" and start % 2 == 0
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
    settled = SETTLED * (float(U.std()) or 1.0)
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
    """Return the end of a descent from Z, counted in units as in SLMC."""
    unit = float(objective.S.std()) * np.sqrt(len(Z)) or 1.0

    def value_and_gradient(theta: Array) -> tuple[float, Array]:
        value, gradient = objective(unit * theta.reshape(Z.shape))
        return value, unit * gradient.ravel()

    with progress.task(title, max_iter) as advance:
        result = minimize(
            value_and_gradient,
            Z.ravel() / unit,
            jac=True,
            method="L-BFGS-B",
            callback=StopBelow(tol, advance),
            options={"maxiter": max_iter, "ftol": 0.0, "gtol": FLAT, "maxcor": 20},
        )
    Z = unit * result.x.reshape(Z.shape)
    return ReducedSet(Z, objective.coefficients(Z), float(result.fun), int(result.nit))
