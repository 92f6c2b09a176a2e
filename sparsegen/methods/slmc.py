"""SLMC, the sparse large margin classifier [W05]: an SVM whose weight vector is spanned by m vectors Z it may move.

    min_{Z, beta, b}  1/2 sum_k beta_k' Kz beta_k + sum_k sum_i loss(y_ik (beta_k . psi_z(x_i) + b_k))    [W05, eq. 16]

The inner problem in (beta, b) is solved exactly for given Z, W(Z) is its value [W05, eq. 10], and L-BFGS-B descends on
W. By the envelope theorem the gradient needs only ``K(Z, Z)`` and ``K(X, Z)`` with beta and alpha held fixed:

    dW/dz = 1/2 sum_k d(beta_k' Kz beta_k)/dz - sum_k sum_i alpha_ik y_ik beta_k . dpsi_z(x_i)/dz

which equals [W05, eq. 34] at the optimum, since beta = Kz^-1 Kzx Y alpha there [W05, eq. 33].

All classes share Z, so a device evaluates m kernels whatever the number of classes. With ``projection=p`` the kernels
see ``P (x - mean)``, and P is learnt together with Z; ``1/2 rho C |P - P0|^2`` holds it near the directions P0 it
starts from (left free, P stretches until the training rows are separated and the test rows are not).

Symbols: Z (m, p) vectors, Kz = K(Z, Z), L its Cholesky factor, Phi = Kxz L^-T whitened features [W05, eq. 29],
beta (n_outputs, m), P (p, d) projection, theta = (Z, P) flattened.

Note: [W05] uses the hinge loss and one set of vectors per class; the squared hinge and shared vectors are ours.
Note: Kz is given a ridge of ``RIDGE`` times its mean diagonal, so that vectors may meet without dividing by zero.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import cho_factor, solve_triangular
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions

from sparsegen import progress
from sparsegen.arrays import Array
from sparsegen.errors import OptionError
from sparsegen.kernels import BoundKernel, GramBlock
from sparsegen.methods import METHODS
from sparsegen.methods.shared.count import count_vectors
from sparsegen.methods.shared.estimator import Expansion, SparseClassifier
from sparsegen.methods.shared.start import start_projection, start_vectors
from sparsegen.methods.shared.stop import FLAT, StopBelow
from sparsegen.methods.svm import full_svm
from sparsegen.solvers.newton import Loss, Solution, solve

RIDGE = 1e-6
BLOCK_BYTES = 1 << 30
ARRAYS_PER_BLOCK = 6  # n x m arrays alive while a block is in use: base, kernel, slope, Phi, weights, a temporary


@METHODS.register("slmc")
class SLMC(SparseClassifier):
    """Sparse large margin classifier: few vectors, placed where they help most.

    Args:
        n_vectors: number of expansion vectors; ``None`` means ``max(16, 3 * n_classes)``, at most one per row.
        ratio: instead of ``n_vectors``, a share of the reference SVM's support vectors (0.1 = a tenth).
        C: weight of the loss.
        kernel: name of a kernel.
        gamma: kernel parameter, or ``"scale"`` for ``1 / (n_features * X.var())``.
        coef0: constant term of the polynomial kernel.
        degree: power of the polynomial kernel.
        loss: ``"squared_hinge"`` or ``"hinge"``.
        init: ``"kmeans"`` (centres within each class), ``"random"`` rows, or an array of vectors to start from.
        n_init: number of starts; the lowest objective wins.
        optimize: ``"vectors"`` moves the vectors; ``"coefficients"`` keeps them where they start (MRSVM [W05, 6.2]).
        projection: learn a linear map to this many dimensions together with the vectors.
        projection_penalty: how firmly the map is held near the directions it starts from, relative to ``C``.
        max_iter: bound on the descent's iterations per start.
        tol: the descent stops when ten iterations together improve the objective by less than this share.
        block_rows: rows per block; ``None`` takes as many as fit in about 1 GiB.
        random_state: seed.
    """

    method = "slmc"
    summary = "sparse large margin classifier: vectors placed by gradient descent [W05]"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SparseClassifier._parameter_constraints,
        "n_vectors": [Interval(Integral, 1, None, closed="left"), None],
        "ratio": [Interval(Real, 0.0, 1.0, closed="right"), None],
        "loss": [StrOptions({"hinge", "squared_hinge"})],
        "init": [StrOptions({"kmeans", "random"}), "array-like"],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "optimize": [StrOptions({"vectors", "coefficients"})],
        "projection": [Interval(Integral, 1, None, closed="left"), None],
        "projection_penalty": [Interval(Real, 0.0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0.0, None, closed="left")],
        "block_rows": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(
        self,
        n_vectors: int | None = None,
        *,
        ratio: float | None = None,
        C: float = 1.0,
        kernel: str = "rbf",
        gamma: float | str = "scale",
        coef0: float = 1.0,
        degree: int = 3,
        loss: str = "squared_hinge",
        init: str | ArrayLike = "kmeans",
        n_init: int = 1,
        optimize: str = "vectors",
        projection: int | None = None,
        projection_penalty: float = 10.0,
        max_iter: int = 100,
        tol: float = 1e-3,
        block_rows: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_vectors = n_vectors
        self.ratio = ratio
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.loss = loss
        self.init = init
        self.n_init = n_init
        self.optimize = optimize
        self.projection = projection
        self.projection_penalty = projection_penalty
        self.max_iter = max_iter
        self.tol = tol
        self.block_rows = block_rows
        self.random_state = random_state

    def _train(self, X: Array, Y: Array, kernel: BoundKernel, rng: np.random.RandomState) -> Expansion:
        P = start_projection(X, Y, self.projection)
        m = self._count_vectors(X, Y, kernel)
        offset = None if P is None else X.mean(axis=0)  # as for principal components; exports learn where the rows lie
        X = X if offset is None else X - offset
        seen = X if P is None else X @ P.T
        loss = Loss(self.loss, float(self.C))
        found = []
        for start in range(self.n_init):
            objective = SlmcObjective(X, Y, kernel, loss, P, self.projection_penalty * self.C, self.block_rows)
            Z = start_vectors(seen, Y, m, self.init, rng)
            if self.optimize == "vectors":
                title = "training slmc" + (f", start {start + 1} of {self.n_init}" if self.n_init > 1 else "")
                unit = float(seen.std()) * np.sqrt(m) or 1.0  # the first step moves each vector by about one deviation
                found.append(self._descend(objective, Z, P, unit, title))
            else:
                found.append(objective.expansion(Z, P, iterations=0))
        best = min(found, key=lambda expansion: float(expansion.facts["objective"]))
        return replace(best, offset=offset)

    def _descend(self, objective: SlmcObjective, Z: Array, P: Array | None, unit: float, title: str) -> Expansion:
        """Return the end of a descent from (Z, P); Z is counted in units, so that scaled data take the same path."""

        def unpack(theta: Array) -> tuple[Array, Array | None]:
            vectors = unit * theta[: Z.size].reshape(Z.shape)
            return vectors, None if P is None else theta[Z.size :].reshape(P.shape)

        def value_and_gradient(theta: Array) -> tuple[float, Array]:
            value, gradient = objective(*unpack(theta))
            gradient[: Z.size] *= unit
            return value, gradient

        start = np.concatenate([Z.ravel() / unit, [] if P is None else P.ravel()])
        with progress.task(title, self.max_iter) as advance:
            result = minimize(
                value_and_gradient,
                start,
                jac=True,
                method="L-BFGS-B",
                callback=StopBelow(self.tol, advance),
                options={"maxiter": self.max_iter, "ftol": 0.0, "gtol": FLAT, "maxcor": 20},
            )
        return objective.expansion(*unpack(result.x), iterations=int(result.nit))

    def _count_vectors(self, X: Array, Y: Array, kernel: BoundKernel) -> int:
        if not isinstance(self.init, str):
            given = len(np.atleast_1d(self.init))
            if self.n_vectors not in (None, given) or self.ratio is not None:
                raise OptionError(f"init holds {given} vectors; leave n_vectors and ratio out")
            return given
        return count_vectors(self.n_vectors, self.ratio, Y, lambda: full_svm(X, Y, kernel, self.C)[0])


class SlmcObjective:
    """W(Z, P) and its gradient, as a sum over blocks of rows; remembers the last inner optimum to start from."""

    def __init__(
        self,
        X: Array,
        Y: Array,
        kernel: BoundKernel,
        loss: Loss,
        P0: Array | None = None,
        rho: float = 0.0,
        block_rows: int | None = None,
    ) -> None:
        self.X, self.Y, self.kernel, self.loss = X, Y, kernel, loss
        self.P0, self.rho = P0, rho
        self.block_rows = block_rows
        self._last: tuple[Array, Solution] | None = None

    def __call__(self, Z: Array, P: Array | None) -> tuple[float, Array]:
        """Return W and its gradient in (Z, P), flattened."""
        features, block_z, beta, solution = self._inner(Z, P)
        weights_z = beta.T @ beta  # half of it for each argument of K(Z, Z)
        weights_z[np.diag_indices_from(weights_z)] += RIDGE * np.mean(np.sum(beta**2, axis=0))  # the ridge's share
        gradient_Z = block_z.gradient(weights_z)
        gradient_P = None if P is None or self.P0 is None else self.rho * (P - self.P0)
        for rows, block in features.gram_blocks():
            weights = -(solution.alpha[rows] * self.Y[rows]) @ beta
            gradient_Z += block.gradient(weights)
            if gradient_P is not None:
                gradient_P += block.gradient_left(weights).T @ self.X[rows]
        parts = [gradient_Z.ravel()] if gradient_P is None else [gradient_Z.ravel(), gradient_P.ravel()]
        return self._objective(solution, P), np.concatenate(parts)

    def expansion(self, Z: Array, P: Array | None, iterations: int) -> Expansion:
        """Return the classifier at (Z, P)."""
        _, _, beta, solution = self._inner(Z, P)
        if not solution.solved:
            warnings.warn(
                "the coefficients could not be solved to full accuracy; scale the features or lower C",
                ConvergenceWarning,
                stacklevel=2,
            )
        facts = {"iterations": iterations, "objective": self._objective(solution, P)}
        return Expansion(Z.copy(), beta, solution.b, None if P is None else P.copy(), facts=facts)

    def _objective(self, solution: Solution, P: Array | None) -> float:
        held = 0.0 if P is None or self.P0 is None else 0.5 * self.rho * float(((P - self.P0) ** 2).sum())
        return solution.objective + held

    def _inner(self, Z: Array, P: Array | None) -> tuple[_Features, GramBlock, Array, Solution]:
        block_z = self.kernel.block(Z, Z)
        Kz = block_z.value.copy()
        Kz[np.diag_indices_from(Kz)] += RIDGE * (float(np.mean(np.diag(Kz))) or 1.0)
        L = np.tril(cho_factor(Kz, lower=True)[0])
        features = _Features(self.X, self.kernel, Z, P, L, self.block_rows)
        start = None
        if self._last is not None:
            beta, last = self._last
            start = replace(last, V=beta @ L)
        solution = solve(features, self.Y, len(Z), self.loss, start)
        beta = solve_triangular(L, solution.V.T, lower=True, trans="T").T  # [W05, eq. 33]
        self._last = (beta, solution)
        return features, block_z, beta, solution


class _Features:
    """Whitened kernel features Phi of all rows, block by block; a single block is computed once and kept."""

    def __init__(
        self, X: Array, kernel: BoundKernel, Z: Array, P: Array | None, L: Array, block_rows: int | None
    ) -> None:
        self.X, self.kernel, self.Z, self.P, self.L = X, kernel, Z, P, L
        self.step = block_rows or max(1, BLOCK_BYTES // (8 * ARRAYS_PER_BLOCK * len(Z)))
        self._kept: tuple[GramBlock, Array] | None = None

    def gram_blocks(self) -> Iterator[tuple[slice, GramBlock]]:
        """Yield ``(rows, K(X[rows], Z))``."""
        for rows, block, _ in self._blocks():
            yield rows, block

    def __iter__(self) -> Iterator[tuple[slice, Array]]:
        for rows, _, Phi in self._blocks():
            yield rows, Phi

    def _blocks(self) -> Iterator[tuple[slice, GramBlock, Array]]:
        n = len(self.X)
        if self._kept is not None:
            yield slice(0, n), *self._kept
            return
        for first in range(0, n, self.step):
            rows = slice(first, min(n, first + self.step))
            seen = self.X[rows] if self.P is None else self.X[rows] @ self.P.T
            block = self.kernel.block(seen, self.Z)
            Phi = np.ascontiguousarray(solve_triangular(self.L, block.value.T, lower=True).T)
            if n <= self.step:
                self._kept = (block, Phi)
            yield rows, block, Phi
