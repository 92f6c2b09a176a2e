"""The rows of a machine on several kernels, in memory or in parts: its inner problem, and the sums that it needs.

Symbols: as in :mod:`sparsegen.methods.shared.multiple_kernels`; a = alpha y.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sparsegen.arrays import Array
from sparsegen.data.labelled_parts import CodedRows
from sparsegen.kernels import BoundKernel
from sparsegen.kernels.bases import BASES
from sparsegen.kernels.expression import base_of, evaluate
from sparsegen.methods.shared.estimator import sign_matrix
from sparsegen.methods.shared.kernel_features import weights_of
from sparsegen.methods.shared.slmc_in_parts import SlmcInParts, WeighedParts
from sparsegen.methods.shared.slmc_objective import STEP_BYTES, SlmcObjective, SlmcSearch
from sparsegen.solvers.blocks import RowBlocks, row_slices, rows_per_block
from sparsegen.solvers.newton import Loss, Solution, solve
from sparsegen.solvers.newton_in_parts import MarginRows, PartsLoss, PartsSolution, multipliers, solve_in_parts

ARRAYS_PER_BLOCK = 6  # n x m arrays alive per kernel while a block is in use, as in SLMC

Kernels = tuple[BoundKernel, ...]


class StackBlock:
    """``K_k(X, Z)`` of all kernels, which share their distances, and the contracted gradient of their sum."""

    def __init__(self, kernels: Kernels, X: Array, Z: Array) -> None:
        self._kernels, self._X, self._Z = kernels, X, Z
        self._base = BASES[base_of(kernels[0].expression).name]
        self._distance = self._base.block(X, Z)
        self._memos: list[dict[Any, Array | float]] = [{} for _ in kernels]
        self.values = np.array(
            [evaluate(k.expression, self._distance, memo) for k, memo in zip(kernels, self._memos, strict=True)]
        )

    def gradient(self, weights: Array) -> Array:
        """Return ``sum_k sum_i weights[k, i, u] dK_k(x_i, z_u)/dz_u``, one row per row of Z."""
        slopes = [evaluate(k.slope, self._distance, memo) for k, memo in zip(self._kernels, self._memos, strict=True)]
        return self._base.pull_back(sum(w * s for w, s in zip(weights, slopes, strict=True)), self._X, self._Z)


class Features(Protocol):
    """What a method trains on."""

    n_features: int

    def whiten(self, values: Array) -> Array:
        """Return the features (n, n_features) from ``values`` (M, n, m)."""


class InnerSolution(Protocol):
    """A solution of the inner problem, wherever its rows are."""

    @property
    def V(self) -> Array:  # noqa: N802
        """The weights."""

    @property
    def b(self) -> Array:
        """The biases."""

    @property
    def objective(self) -> float:
        """The optimum."""

    @property
    def solved(self) -> bool:
        """Whether it was reached."""


class MixtureRows(ABC):
    """Rows with signs, wherever they are."""

    @abstractmethod
    def again(self) -> MixtureRows:
        """Return the same rows, with nothing kept of the vectors that were asked for."""

    @abstractmethod
    def solve(self, kernels: Kernels, Z: Array, features: Features, V: Array | None, last: Any) -> InnerSolution:
        """Return the optimum on some features, from the weights V and the rest of the last solution."""

    @abstractmethod
    def pull(self, kernels: Kernels, Z: Array, features: Features, found: Any) -> Array:
        """Return ``sum_i a_i psi_k(x_i)`` (M, n_outputs, m)."""

    @abstractmethod
    def gradient(self, kernels: Kernels, Z: Array, features: Features, found: Any, scaled: Array) -> Array:
        """Return the gradient in Z of ``-sum_k sum_i a_i scaled_k . psi_k(x_i)``."""

    @abstractmethod
    def slmc(self, kernel: BoundKernel) -> SlmcSearch:
        """Return W of SLMC on one kernel."""


class MixtureInMemory(MixtureRows):
    """Arrays; the blocks of the last vectors are kept."""

    def __init__(self, X: Array, Y: Array, loss: Loss, block_rows: int | None = None) -> None:
        self._X, self._Y, self._loss, self._block_rows = X, Y, loss, block_rows
        self._kept: tuple[Kernels, Array, RowBlocks[StackBlock]] | None = None

    def again(self) -> MixtureInMemory:
        """Return the same rows."""
        return MixtureInMemory(self._X, self._Y, self._loss, self._block_rows)

    def solve(self, kernels: Kernels, Z: Array, features: Features, V: Array | None, last: Any) -> Solution:
        """Return the optimum."""
        start = None if V is None else Solution(V, last.b, last.alpha, np.inf)
        blocks = self._blocks(kernels, Z).then(lambda block: np.ascontiguousarray(features.whiten(block.values)))
        return solve(blocks, self._Y, features.n_features, self._loss, start)

    def pull(self, kernels: Kernels, Z: Array, features: Features, found: Any) -> Array:
        """Return the sum."""
        a = found.alpha * self._Y
        return sum((a[rows].T @ block.values for rows, block in self._blocks(kernels, Z)), start=np.zeros(()))

    def gradient(self, kernels: Kernels, Z: Array, features: Features, found: Any, scaled: Array) -> Array:
        """Return the gradient."""
        a, gradient = found.alpha * self._Y, np.zeros_like(Z)
        for rows, block in self._blocks(kernels, Z):
            gradient += block.gradient(-(a[rows] @ scaled))
        return gradient

    def slmc(self, kernel: BoundKernel) -> SlmcSearch:
        """Return W of SLMC."""
        return SlmcObjective(self._X, self._Y, kernel, self._loss, block_rows=self._block_rows)

    def _blocks(self, kernels: Kernels, Z: Array) -> RowBlocks[StackBlock]:
        """Return the blocks of ``K_k(X, Z)``; a single one is kept until Z moves."""
        if self._kept is None or self._kept[0] != kernels or not np.array_equal(self._kept[1], Z):
            Z = Z.copy()
            X = self._X  # a closure over self would keep the blocks alive after it
            step = self._block_rows or rows_per_block(len(kernels) * len(Z), ARRAYS_PER_BLOCK)
            self._kept = (kernels, Z, RowBlocks(len(X), step, lambda rows: StackBlock(kernels, X[rows], Z)))
        return self._kept[2]


@dataclass(frozen=True, eq=False)
class MixturePoint:
    """Where the sums are asked for: all that a part needs to know."""

    kernels: Kernels
    Z: Array
    features: Features
    C: Array

    def slices(self, part: CodedRows) -> list[slice]:
        """Return slices of a part's rows whose blocks fit in memory."""
        step = rows_per_block(len(self.kernels) * len(self.Z), ARRAYS_PER_BLOCK, STEP_BYTES)
        return list(row_slices(len(part.X), step))

    def block(self, X: NDArray[Any]) -> StackBlock:
        """Return the kernels' values at some rows."""
        return StackBlock(self.kernels, np.asarray(X, np.float64), self.Z)

    def pulls(self, block: StackBlock, index: NDArray[np.intp], loss: PartsLoss, found: PartsSolution) -> Array:
        """Return a (n, n_outputs) of the rows of a block."""
        Y = sign_matrix(index, len(self.C))
        rows = MarginRows(np.ascontiguousarray(self.features.whiten(block.values)), Y, weights_of(index, self.C))
        return multipliers(rows, loss, found) * Y


def features_part(part: CodedRows, at: MixturePoint) -> MarginRows:
    """Return a part's rows as the inner problem sees them."""
    Phi = np.empty((len(part.X), at.features.n_features))
    for rows in at.slices(part):
        Phi[rows] = at.features.whiten(at.block(part.X[rows]).values)
    return MarginRows(Phi, sign_matrix(part.index, len(at.C)), weights_of(part.index, at.C))


def pull_part(part: CodedRows, at: MixturePoint, loss: PartsLoss, found: PartsSolution) -> tuple[Array]:
    """Return a part's share of ``sum_i a_i psi_k(x_i)``."""
    total = np.zeros((len(at.kernels), len(found.b), len(at.Z)))
    for rows in at.slices(part):
        block = at.block(part.X[rows])
        total += at.pulls(block, part.index[rows], loss, found).T @ block.values
    return (total,)


def gradient_part(
    part: CodedRows, at: MixturePoint, loss: PartsLoss, found: PartsSolution, scaled: Array
) -> tuple[Array]:
    """Return a part's share of the gradient in Z."""
    total = np.zeros_like(at.Z)
    for rows in at.slices(part):
        block = at.block(part.X[rows])
        total += block.gradient(-(at.pulls(block, part.index[rows], loss, found) @ scaled))
    return (total,)


class MixtureInParts(MixtureRows):
    """Parts, such as blocks on a cluster."""

    def __init__(self, given: WeighedParts) -> None:
        self._given, self._loss = given, given.parts_loss()

    def again(self) -> MixtureInParts:
        """Return the same rows."""
        return self

    def solve(self, kernels: Kernels, Z: Array, features: Features, V: Array | None, last: Any) -> PartsSolution:
        """Return the optimum."""
        start = None if V is None else PartsSolution(V, last.b, np.inf)
        rows = self._given.rows.rows.then(features_part, self._at(kernels, Z, features))
        return solve_in_parts(rows, self._given.n_outputs, features.n_features, self._loss, start)

    def pull(self, kernels: Kernels, Z: Array, features: Features, found: Any) -> Array:
        """Return the sum."""
        return self._given.rows.rows.sums(pull_part, self._at(kernels, Z, features), self._loss, found)[0]

    def gradient(self, kernels: Kernels, Z: Array, features: Features, found: Any, scaled: Array) -> Array:
        """Return the gradient."""
        at = self._at(kernels, Z, features)
        return self._given.rows.rows.sums(gradient_part, at, self._loss, found, scaled)[0]

    def slmc(self, kernel: BoundKernel) -> SlmcSearch:
        """Return W of SLMC."""
        return SlmcInParts(self._given, kernel, None, 0.0, None)

    def _at(self, kernels: Kernels, Z: Array, features: Features) -> MixturePoint:
        return MixturePoint(kernels, Z, features, self._given.C)
