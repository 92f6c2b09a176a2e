"""One greedy machine while its basis grows: candidates, their kernel columns, the cache, shrinking, and the scores.

Symbols: J chosen rows, I active rows, kappa candidates; see ``shared.greedy``.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from sparsegen.arrays import Array
from sparsegen.kernels import BoundKernel
from sparsegen.methods.shared.diagonal import gram_diagonal
from sparsegen.solvers.blocks import row_slices, rows_per_block
from sparsegen.solvers.greedy import GrowingMachine, score_columns

Indices = NDArray[np.intp]

SHRINK_AFTER = 10  # solutions in turn in which a row was not active, before it is left out
SHRINK_SHARE = 0.25  # of the rows must go for the copying to pay
BLOCK_BYTES = 1 << 27
GRAM_BYTES = 1 << 22  # a block whose temporaries stay in the processor's cache


class DistinctRows:
    """The training rows, and which of them are equal."""

    def __init__(self, X: Array) -> None:
        self.X = X
        numbers: dict[bytes, int] = {}
        # Digests, since sorting the rows would copy X; adding 0.0 makes -0.0 and 0.0 one number.
        digests = (blake2b((x + 0.0).tobytes(), digest_size=16).digest() for x in X)
        self.group: Indices = np.array([numbers.setdefault(digest, len(numbers)) for digest in digests], dtype=np.intp)
        self.distinct: Indices = np.unique(self.group, return_index=True)[1]
        """The first row of each group."""


@dataclass(frozen=True)
class Candidates:
    """Rows that may join the basis: their kernel columns on the rows in play, ``K_jJ`` and ``K_jj``."""

    columns: Array
    cross: Array
    diagonal: Array


Score = Callable[[GrowingMachine, Candidates], tuple[Array, Array | None]]


class Growth:
    """One machine while its basis grows: which rows are in play, and the kernel columns it has seen."""

    def __init__(
        self,
        training: DistinctRows,
        kernel: BoundKernel,
        machine: GrowingMachine,
        cache_bytes: int,
        follow_distances: bool = False,
    ) -> None:
        self.X, self.kernel, self.machine = training.X, kernel, machine
        self.rows: Indices = np.arange(len(self.X))
        """In play: all of them, until shrinking."""
        self.chosen: list[int] = []
        self.free = np.ones(len(self.X), dtype=bool)
        """Neither chosen, nor equal to a chosen row, nor spanned by them."""
        self._training = training
        self._quiet = np.zeros(len(self.X), dtype=np.int64)
        self._cache: OrderedDict[int, Array] = OrderedDict()
        self._cache_bytes = cache_bytes
        self.distance = gram_diagonal(self.X, kernel) if follow_distances else np.empty(0)
        """Squared distance in feature space of the rows in play to the span of J [K06, eq. 9], where it is followed."""
        self._follows = follow_distances
        self._whitened: list[Array] = []

    def draw(self, count: int | None, rng: np.random.RandomState) -> Indices:
        """Return random free rows, no two equal and at most ``count``; all of them for ``None``."""
        free = self._training.distinct[self.free[self._training.distinct]]
        return free if count is None or count >= len(free) else rng.choice(free, count, replace=False)

    def active(self) -> tuple[Indices, Indices]:
        """Return the free rows in I, and where they are among the rows in play."""
        at = np.flatnonzero((self.machine.residual != 0.0) & self.free[self.rows])
        return self.rows[at], at

    def best(self, candidates: Indices, score: Score) -> tuple[int, float | None] | None:
        """Return the candidate with the highest score, and its coefficient if scored; the first wins on ties."""
        found: tuple[float, int, float | None] | None = None
        for rows in row_slices(len(candidates), rows_per_block(len(self.rows), n_bytes=BLOCK_BYTES)):
            some = candidates[rows]
            values, weights = score(self.machine, self.block(some))
            top = int(np.argmax(values))
            if found is None or values[top] > found[0]:
                found = (float(values[top]), int(some[top]), None if weights is None else float(weights[top]))
        return None if found is None else found[1:]

    def block(self, candidates: Indices) -> Candidates:
        """Return the kernel columns of these rows, from the cache where it has them."""
        cached = np.array([j in self._cache for j in candidates.tolist()], dtype=bool)
        if cached.any():
            columns = np.empty((len(candidates), len(self.rows)))
            columns[~cached] = self._gram(candidates[~cached], self.rows)
            for position in np.flatnonzero(cached):
                columns[position] = self._cache[int(candidates[position])]
        else:
            columns = self._gram(candidates, self.rows)
        for j, column in zip(candidates.tolist(), columns, strict=True):
            self._remember(j, column)
        cross = self._gram(candidates, np.array(self.chosen, dtype=np.intp))
        return Candidates(columns, cross, gram_diagonal(self.X[candidates], self.kernel))

    def add(self, j: int, weight: float | None) -> bool:
        """Make row j a basis function; return False, and never offer it again, if the chosen rows span it.

        It starts with the coefficient ``weight``; for ``None``, with the best while the others stay as they are.
        """
        block = self.block(np.array([j], dtype=np.intp))
        self.free[self._training.group == self._training.group[j]] = False
        self._cache.pop(j, None)
        if weight is None:
            weight = float(gain(self.machine, block)[1][0])
        if not self.machine.append(block.columns[0], block.cross[0], float(block.diagonal[0]), weight):
            return False
        self.chosen.append(j)
        if self._follows:
            self._follow(block.columns[0], j)
        return True

    def shrink(self) -> None:
        """Leave out rows that have long not been active [K06, Shrinking]; the last solution has all rows again."""
        active = self.machine.y * self.machine.o < 1.0
        self._quiet = np.where(active, 0, self._quiet + 1)
        keep = (self._quiet < SHRINK_AFTER) | self.machine.active
        if np.count_nonzero(~keep) < SHRINK_SHARE * len(keep):
            return
        self.machine.keep(keep)
        self.rows, self._quiet = self.rows[keep], self._quiet[keep]
        for j, column in self._cache.items():
            self._cache[j] = column[keep]
        if self._follows:
            self.distance = self.distance[keep]
            self._whitened = [v[keep] for v in self._whitened]

    def _follow(self, column: Array, j: int) -> None:
        """Take the part along the new basis function out of the distances: one column of a partial Cholesky factor."""
        (at,) = np.flatnonzero(self.rows == j)
        rest = column - sum((v[at] * v for v in self._whitened), np.zeros_like(column))
        if rest[at] > 0.0:
            v = rest / np.sqrt(rest[at])
            self._whitened.append(v)
            self.distance = np.maximum(0.0, self.distance - v * v)

    def _remember(self, j: int, column: Array) -> None:
        """Cache a column; the ones longest unused make room."""
        room = self._cache_bytes // (8 * len(self.rows))
        if room == 0:
            return
        self._cache[j] = column.copy() if j not in self._cache else self._cache[j]
        self._cache.move_to_end(j)
        while len(self._cache) > room:
            self._cache.popitem(last=False)

    def _gram(self, left: Indices, right: Indices) -> Array:
        if len(left) == 0 or len(right) == 0:
            return np.empty((len(left), len(right)))
        return gram(self.kernel, self.X[left], self.X if len(right) == len(self.X) else self.X[right])


def gram(kernel: BoundKernel, few: Array, many: Array) -> Array:
    """Return ``K(few, many)``, computed block by block: as a whole it would need several times the memory."""
    step = rows_per_block(len(few), n_bytes=GRAM_BYTES)
    if len(many) <= step:
        return kernel.gram(few, many)
    columns = np.empty((len(few), len(many)))
    for rows in row_slices(len(many), step):
        columns[:, rows] = kernel.gram(few, many[rows])
    return columns


def gain(machine: GrowingMachine, block: Candidates) -> tuple[Array, Array]:
    """Basis selection method 2 [K06, eq. 7]: what the new function gains while the others stay as they are."""
    gains, coefficients = np.empty((2, len(block.columns)))
    linear = block.cross @ machine.beta[machine.first :]
    score_columns(
        block.columns,
        linear,
        block.diagonal,
        machine.o,
        machine.y,
        machine.lam,
        machine.hinge,
        machine.weights,
        gains,
        coefficients,
    )
    return gains, coefficients


def full_gain(max_iter: int) -> Score:
    """Basis selection method 1 [K06, 3]: what is gained when the whole machine is re-solved."""

    def score(machine: GrowingMachine, block: Candidates) -> tuple[Array, None]:
        gains = np.full(len(block.columns), -np.inf)
        before, value = machine.snapshot(), machine.objective()
        for c, column in enumerate(block.columns):
            if machine.append(column, block.cross[c], float(block.diagonal[c])):
                machine.solve(max_iter)
                gains[c] = value - machine.objective()
                machine.restore(before)
        return gains, None

    return score


def steepness(machine: GrowingMachine, block: Candidates) -> tuple[Array, None]:
    """MARK [K06, 4]: the size of the objective's derivative in the coefficient of the new function."""
    linear = block.cross @ machine.beta[machine.first :]
    return np.abs(machine.lam * linear - block.columns @ machine.pull), None
