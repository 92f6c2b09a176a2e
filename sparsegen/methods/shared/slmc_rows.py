"""The rows that SLMC trains on, in memory or in parts: how many there are, a few of them, and W and minibatches of all.

Symbols: as in :mod:`sparsegen.methods.slmc`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from sparsegen.arrays import Array
from sparsegen.data.labelled_parts import column_sums
from sparsegen.kernels import BoundKernel
from sparsegen.methods.shared.estimator import sign_matrix
from sparsegen.methods.shared.row_weights import RowWeights, row_counts
from sparsegen.methods.shared.slmc_in_parts import SlmcInParts, WeighedParts
from sparsegen.methods.shared.slmc_objective import SlmcObjective, SlmcSearch
from sparsegen.methods.shared.start import column_means
from sparsegen.methods.shared.stochastic import (
    START_ROWS,
    START_ROWS_PER_VECTOR,
    Draw,
    MinibatchObjective,
    StreamedObjective,
    draw_all,
    start_ordinals,
    start_rows,
)
from sparsegen.solvers.newton import Loss

SAMPLE_ROWS = 200_000
"""Rows of a cluster on which minibatches are trained: they travel to where ``fit`` was called."""


class Few(NamedTuple):
    """Rows to place vectors and directions by, in float64."""

    X: Array
    Y: Array
    weights: RowWeights | None


class SlmcRows(ABC):
    """Rows with signs, wherever they are."""

    n: int
    """How many there are."""
    weight: float
    """How many there are by their sample weights."""
    shifted: bool = False
    """Whether minibatches see them shifted at random."""

    @abstractmethod
    def means(self) -> Array:
        """Return the mean of every column."""

    @abstractmethod
    def few(self, m: int, rng: np.random.RandomState) -> Few:
        """Return rows to place m vectors by, in which every class has its share; all where there are no more."""

    @abstractmethod
    def objective(self, P: Array | None, rho: float, offset: Array | None) -> SlmcSearch:
        """Return W."""

    @abstractmethod
    def minibatches(self, Z: Array, P: Array | None, rho: float, offset: Array | None) -> MinibatchObjective:
        """Return what descends by minibatches, from Z and P."""


class RowsInMemory(SlmcRows):
    """Arrays; ``draw`` gives rows as a minibatch sees them."""

    def __init__(
        self,
        X: Array,
        Y: Array,
        kernel: BoundKernel,
        loss: Loss,
        weights: RowWeights | None = None,
        draw: Draw | None = None,
        block_rows: int | None = None,
    ) -> None:
        self._X, self._Y, self._kernel, self._loss = X, Y, kernel, loss
        self._weights, self._draw, self._block_rows = weights, draw, block_rows
        counts = row_counts(weights)
        self.n, self.weight = len(X), len(X) if counts is None else float(counts.sum())
        self.shifted = draw is not None
        self._solved: Array | None = None

    def means(self) -> Array:
        """Return the mean of every column."""
        return column_means(self._X, self._weights)

    def few(self, m: int, rng: np.random.RandomState) -> Few:
        """Return rows to place m vectors by."""
        rows = start_rows(self._Y, m, rng)
        weights = None if self._weights is None else self._weights.of(rows)
        return Few(self._X[rows].astype(np.float64), self._Y[rows], weights)

    def objective(self, P: Array | None, rho: float, offset: Array | None) -> SlmcSearch:
        """Return W; where minibatches are shifted, on one shifted copy of every row."""
        if self._solved is None:
            self._solved = self._X if self._draw is None else draw_all(self._draw, self.n)
        return SlmcObjective(self._solved, self._Y, self._kernel, self._loss, P, rho, self._block_rows, offset)

    def minibatches(self, Z: Array, P: Array | None, rho: float, offset: Array | None) -> MinibatchObjective:
        """Return what descends by minibatches of all rows."""
        return MinibatchObjective(
            self._X, self._Y, self._kernel, self._loss, Z, P, rho=rho, offset=offset, draw=self._draw
        )


class RowsInParts(SlmcRows):
    """Parts: blocks on a cluster, of which a sample makes minibatches, or of a file, which gives them of all rows."""

    def __init__(self, given: WeighedParts, kernel: BoundKernel, rng: np.random.RandomState) -> None:
        self._given, self._kernel, self._rng = given, kernel, rng
        self.n = given.rows.n_rows
        self.weight = float(self.n)
        self._sample: Few | None = None

    def means(self) -> Array:
        """Return the mean of every column."""
        return self._given.rows.rows.sums(column_sums)[0] / self.n

    def few(self, m: int, rng: np.random.RandomState) -> Few:
        """Return rows to place m vectors by, which travel here."""
        return self._taken(max(START_ROWS, START_ROWS_PER_VECTOR * m), rng)

    def objective(self, P: Array | None, rho: float, offset: Array | None) -> SlmcSearch:
        """Return W."""
        return SlmcInParts(self._given, self._kernel, P, rho, offset)

    def minibatches(self, Z: Array, P: Array | None, rho: float, offset: Array | None) -> MinibatchObjective:
        """Return what descends by minibatches of all rows, or of a sample in which every class has its share."""
        given, shuffled = self._given, self._given.rows.shuffled
        if self._sample is None:
            self._sample = self._taken(SAMPLE_ROWS if shuffled is None else START_ROWS, self._rng)
        X, Y, weights = self._sample
        C: float | Array = float(given.C[0])
        if weights is not None:
            C = weights.loss
        loss = Loss(given.loss, C)
        if shuffled is None:
            return MinibatchObjective(X, Y, self._kernel, loss, Z, P, rho=rho, offset=offset, n_rows=self.n)
        return StreamedObjective(shuffled, (X, Y), given.C, self.n, self._kernel, loss, Z, P, rho=rho, offset=offset)

    def _taken(self, wanted: int, rng: np.random.RandomState) -> Few:
        rows, C = self._given.rows, self._given.C
        X, index = rows.taken(start_ordinals(rows.of_class, wanted, rng))
        weights = None if np.all(C[0] == C) else RowWeights(None, C[index])
        return Few(X, sign_matrix(index, len(C)), weights)
