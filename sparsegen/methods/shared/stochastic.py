"""SLMC by minibatches: descent in the map, the vectors, the coefficients and the biases together, in float32.

Divided by C n, the objective of :mod:`sparsegen.methods.slmc` is a mean over rows:

    1/n sum_i s_i sum_k loss_ik + 1/(2 C n) sum_k beta_k' Kz beta_k + rho/(2 C n) |P - P0|^2

A minibatch gives the gradient of the first term; the second changes slowly and is looked at every ``REFRESH`` steps.
The exact solve for (beta, b) starts where this ends.

Symbols: as in :mod:`sparsegen.methods.slmc`; A = beta' (m, n_outputs). Where rows have weights, C is their mean C and
s_i the share of row i's in it; otherwise s_i is 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sparsegen import progress
from sparsegen.arrays import Array
from sparsegen.kernels import BoundKernel
from sparsegen.methods.shared.estimator import sign_matrix
from sparsegen.methods.shared.feature_map import Numbers, map_gradient, map_rows, smallest
from sparsegen.methods.shared.start import class_of
from sparsegen.solvers.adam import Rows, adam, minibatches
from sparsegen.solvers.blocks import row_slices

BATCH = 256
MIN_STEPS = 6000
MIN_EPOCHS = 20
STREAMED_ROWS = 200_000  # beyond which more rows need no more minibatches, but each row should be seen
RATE = 0.05  # of a parameter's own size, in one step
REFRESH = 8  # with 16, letter at 644 vectors ended the same; with 4, it took a fifth longer
START_ROWS = 8000  # enough to place centres and directions
START_ROWS_PER_VECTOR = 4
DRAWN_AT_ONCE = 4096

Shuffled = Callable[[int, np.random.RandomState], Iterator[tuple[Numbers, NDArray[np.intp]]]]
"""Yields minibatches of so many rows and their class indices, without end."""

Draw = Callable[[Rows], Numbers]
"""Gives rows as a minibatch sees them, shifted at random; every call draws anew."""


def start_rows(Y: Array, m: int, rng: np.random.RandomState) -> NDArray[np.intp]:
    """Return rows to place m vectors by, in which every class has its share; all rows where there are no more."""
    owner = class_of(Y)
    present, of_class = np.unique(owner, return_counts=True)
    ordinals = start_ordinals(of_class, max(START_ROWS, START_ROWS_PER_VECTOR * m), rng)
    picked = [np.flatnonzero(owner == k)[own] for k, own in zip(present, ordinals, strict=True)]
    return np.sort(np.concatenate(picked))


def start_ordinals(of_class: NDArray[np.int64], wanted: int, rng: np.random.RandomState) -> list[NDArray[np.intp]]:
    """Return which rows of each class to take, counted within the class, so that about ``wanted`` are taken in all.

    ``of_class`` says how many there are; all of them are taken where there are no more.
    """
    n = int(of_class.sum())
    if n <= wanted:
        return [np.arange(own) for own in of_class.tolist()]
    return [rng.choice(own, int(np.ceil(wanted / n * own)), replace=False) for own in of_class.tolist()]


def n_steps(n_rows: int) -> int:
    """Return how many minibatches a descent takes: linear in the rows once there are many."""
    return max(MIN_STEPS, -(-MIN_EPOCHS * n_rows // BATCH))


def n_streamed_steps(n_rows: int) -> int:
    """Return how many minibatches a descent takes on rows from a file: those of ``STREAMED_ROWS``, or one pass."""
    return max(n_steps(min(n_rows, STREAMED_ROWS)), -(-n_rows // BATCH))


def draw_all(draw: Draw, n_rows: int) -> Numbers:
    """Return every row once, as a minibatch sees it."""
    every = np.arange(n_rows)
    return np.concatenate([draw(every[rows]) for rows in row_slices(n_rows, DRAWN_AT_ONCE)])


@dataclass(frozen=True)
class StochasticEnd:
    """Where a descent by minibatches ended, in float64."""

    Z: Array
    P: Array | None
    beta: Array
    b: Array
    steps: int


class MinibatchLoss(Protocol):
    """What a descent asks of a loss."""

    @property
    def mean_weight(self) -> float:
        """The mean weight of a row."""

    @property
    def row_scale(self) -> Array | None:
        """The rows' weights as multiples of their mean; ``None`` where one weight is given for all."""

    def falls(self, scores: Numbers, Y: Numbers) -> Numbers:
        """Return by how much the loss of each score falls as it rises, for a weight of 1; Y are signs or targets."""


class MinibatchObjective:
    """The objective above: its gradients on minibatches of float32 rows, of which ``offset`` is subtracted.

    ``n_rows`` is the n of the objective where ``X`` is a sample of more rows.
    """

    def __init__(
        self,
        X: Numbers,
        Y: Array,
        kernel: BoundKernel,
        loss: MinibatchLoss,
        Z: Array,
        P: Array | None = None,
        *,
        rho: float = 0.0,
        offset: Array | None = None,
        draw: Draw | None = None,
        n_rows: int | None = None,
    ) -> None:
        self.X, self.kernel, self.loss = X, kernel, loss
        self._draw: Draw = X.__getitem__ if draw is None else draw
        self.Y: Numbers = Y.astype(np.float32)
        self.Z: Numbers = Z.astype(np.float32)
        self.P: Numbers | None = None if P is None else P.astype(np.float32)
        self.P0 = None if self.P is None else self.P.copy()
        self.A: Numbers = np.zeros((len(Z), Y.shape[1]), np.float32)
        scale = loss.row_scale
        self._row_scale: Numbers | None = None if scale is None else scale.astype(np.float32)[:, None]
        self.b: Numbers = (Y.mean(axis=0) if scale is None else scale @ Y / len(Y)).astype(np.float32)
        self._offset = None if offset is None else offset.astype(np.float32)
        self._weight = np.float32(1.0 / (loss.mean_weight * (n_rows or len(X))))
        self._rho = np.float32(rho)
        self._calls = 0
        self._norm: tuple[Numbers, Numbers] | None = None

    @property
    def theta(self) -> list[Numbers]:
        """What the descent changes: Z, A, b and, where there is one, P."""
        return [self.Z, self.A, self.b, *([] if self.P is None else [self.P])]

    @property
    def default_steps(self) -> int:
        """How many minibatches a descent takes where nobody says."""
        return n_steps(len(self.X))

    def gradients(self, batch: Any) -> list[Numbers]:
        """Return the gradients in ``theta`` on a minibatch."""
        if self.P is not None and self.P.ndim == 1:
            np.maximum(self.P, np.float32(smallest(self.P)), out=self.P)
        X, Y, row_scale = self._seen(batch)
        block = self.kernel.block(map_rows(self.P, X), self.Z)
        pull = self.loss.falls(block.value @ self.A + self.b, Y)
        if row_scale is not None:
            pull = pull * row_scale
        G = np.asarray(pull / -len(X), np.float32)
        weights: Numbers = G @ self.A.T
        norm_Z, norm_A = self._norm_gradients()
        found = [block.gradient(weights) + norm_Z, block.value.T @ G + norm_A, G.sum(axis=0)]
        if self.P is not None and self.P0 is not None:
            held = self._weight * self._rho * (self.P - self.P0)
            found.append(map_gradient(self.P, block.gradient_left(weights), X) + held)
        return [np.asarray(one, np.float32) for one in found]

    def descend(self, steps: int, rng: np.random.RandomState, title: str) -> StochasticEnd:
        """Return where a descent ends."""
        spread = float(map_rows(self.P, self._rows(np.arange(min(len(self.X), START_ROWS)))).std()) or 1.0
        size = float(np.mean([np.abs(self.kernel.gram(z[None], z[None])) for z in self.Z])) or 1.0
        rates = [RATE * spread, 2.0 * RATE / size, RATE]
        rates += [] if self.P is None else [RATE * float(np.abs(self.P).mean())]
        with progress.task(title, steps) as advance:
            adam(self.theta, rates, self.gradients, self._batches(rng), steps=steps, advance=advance)
        P = None if self.P is None else np.maximum(self.P, smallest(self.P)).astype(np.float64)
        return StochasticEnd(
            self.Z.astype(np.float64), P, self.A.T.astype(np.float64), self.b.astype(np.float64), steps
        )

    def _batches(self, rng: np.random.RandomState) -> Iterator[Any]:
        """Yield minibatches without end."""
        return minibatches(len(self.X), BATCH, rng)

    def _seen(self, rows: Any) -> tuple[Numbers, Numbers, Numbers | None]:
        """Return a minibatch: its rows, their signs and, where rows have weights, their shares in the mean weight."""
        return self._rows(rows), self.Y[rows], None if self._row_scale is None else self._row_scale[rows]

    def _rows(self, rows: Rows) -> Numbers:
        return self._centred(self._draw(rows))

    def _centred(self, rows: Numbers) -> Numbers:
        X = rows.astype(np.float32, copy=False)
        return X if self._offset is None else X - self._offset

    def _norm_gradients(self) -> tuple[Numbers, Numbers]:
        """Return the gradients of ``1/(2 C n) sum_k beta_k' Kz beta_k`` in Z and A, as of at most REFRESH steps ago."""
        if self._norm is None or self._calls % REFRESH == 0:
            block = self.kernel.block(self.Z, self.Z)
            self._norm = block.gradient(self._weight * (self.A @ self.A.T)), self._weight * (block.value @ self.A)
        self._calls += 1
        return self._norm


class StreamedObjective(MinibatchObjective):
    """The same for rows from a file: minibatches of all of them, and a few in memory, from which the descent starts."""

    def __init__(
        self,
        shuffled: Shuffled,
        few: tuple[Numbers, Array],
        C: Array,
        n_rows: int,
        kernel: BoundKernel,
        loss: MinibatchLoss,
        Z: Array,
        P: Array | None,
        *,
        rho: float,
        offset: Array | None,
    ) -> None:
        super().__init__(*few, kernel, loss, Z, P, rho=rho, offset=offset, n_rows=n_rows)
        self._shuffled, self._n_rows, self._n_classes = shuffled, n_rows, len(C)
        self._class_scale = None if np.all(C[0] == C) else (C / loss.mean_weight).astype(np.float32)

    @property
    def default_steps(self) -> int:
        """How many minibatches a descent takes where nobody says."""
        return n_streamed_steps(self._n_rows)

    def _batches(self, rng: np.random.RandomState) -> Iterator[Any]:
        return self._shuffled(BATCH, rng)

    def _seen(self, batch: Any) -> tuple[Numbers, Numbers, Numbers | None]:
        X, index = batch
        Y: Numbers = sign_matrix(index, self._n_classes).astype(np.float32)
        return self._centred(X), Y, None if self._class_scale is None else self._class_scale[index, None]
