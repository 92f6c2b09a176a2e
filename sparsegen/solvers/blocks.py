"""Large matrices block by block: rows in slices that fit in memory, and what is computed from each slice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

BLOCK_BYTES = 1 << 30
PARTS = 8  # blocks that fit in memory where not all do: the last one's room is for those that come and go

T = TypeVar("T")
U = TypeVar("U")


def rows_per_block(n_columns: int, n_arrays: int = 1, n_bytes: int | None = None) -> int:
    """Return how many rows of ``n_arrays`` arrays of doubles fit in ``n_bytes`` (default ``BLOCK_BYTES``)."""
    return max(1, (BLOCK_BYTES if n_bytes is None else n_bytes) // (8 * n_arrays * n_columns))


def row_slices(n: int, step: int) -> Iterator[slice]:
    """Yield slices of at most ``step`` rows that together cover n rows."""
    for first in range(0, n, step):
        yield slice(first, min(n, first + step))


class RowBlocks(Generic[T]):
    """``(rows, compute(rows))`` for every block of rows, as often as it is iterated.

    A single block is computed once and kept. Of several, the first ``kept`` are; the rest are computed in every pass.
    """

    def __init__(self, n: int, step: int, compute: Callable[[slice], T], kept: int = 0) -> None:
        self.n, self.step = n, step
        self._compute = compute
        self._n_kept = kept if n > step else 1
        self._kept: dict[int, T] = {}

    @classmethod
    def within(cls, n: int, n_rows: int, compute: Callable[[slice], T]) -> RowBlocks[T]:
        """Return blocks of which at most ``n_rows`` rows are in memory at a time; what is beyond costs time only."""
        if n <= n_rows:
            return cls(n, n_rows, compute)
        step = -(-n_rows // PARTS)
        return cls(n, step, compute, n_rows // step - 1)

    def __iter__(self) -> Iterator[tuple[slice, T]]:
        for rows in row_slices(self.n, self.step):
            yield rows, self._at(rows)

    def then(self, change: Callable[[T], U]) -> RowBlocks[U]:
        """Return the blocks that ``change`` makes of these."""
        return RowBlocks(self.n, self.step, lambda rows: change(self._at(rows)), self._n_kept)

    def _at(self, rows: slice) -> T:
        if rows.start in self._kept:
            return self._kept[rows.start]
        block = self._compute(rows)
        if len(self._kept) < self._n_kept:
            self._kept[rows.start] = block
        return block
