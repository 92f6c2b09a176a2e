"""Blocks of rows: they cover every row once, and a single one is computed once."""

from __future__ import annotations

from itertools import chain

import pytest

from sparsegen.solvers import blocks
from sparsegen.solvers.blocks import RowBlocks, row_slices, rows_per_block


@pytest.mark.parametrize(("n", "step"), [(0, 3), (1, 3), (3, 3), (7, 3), (9, 3), (5, 1)])
def test_slices_cover_every_row_once(n: int, step: int) -> None:
    parts = [list(range(n))[rows] for rows in row_slices(n, step)]
    assert list(chain(*parts)) == list(range(n))
    assert all(0 < len(part) <= step for part in parts)


def test_rows_per_block_fit_in_the_memory_given(monkeypatch: pytest.MonkeyPatch) -> None:
    assert rows_per_block(10, 3, n_bytes=8 * 10 * 3 * 7 + 5) == 7
    assert rows_per_block(10**9, n_bytes=8) == 1
    assert rows_per_block(2**10, 2) == 2**16, "a gigabyte unless told otherwise"
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 800)
    assert rows_per_block(10) == 10


@pytest.mark.parametrize(("step", "computed"), [(10, 1), (12, 1), (4, 9)])
def test_a_single_block_is_computed_once(step: int, computed: int) -> None:
    seen: list[slice] = []

    def compute(rows: slice) -> list[int]:
        seen.append(rows)
        return list(range(10))[rows]

    numbers = RowBlocks(10, step, compute)
    squares = numbers.then(lambda some: [i * i for i in some])
    assert list(chain(*(some for _, some in numbers))) == list(range(10))
    for _ in range(2):
        assert list(chain(*(some for _, some in squares))) == [i * i for i in range(10)]
    assert len(seen) == computed


@pytest.mark.parametrize(("n", "n_rows"), [(5, 10), (10, 10), (11, 10), (100, 16), (100, 7), (3, 1)])
def test_what_fits_in_memory_is_computed_once(n: int, n_rows: int) -> None:
    computed: list[int] = []

    def compute(rows: slice) -> list[int]:
        block = list(range(n))[rows]
        computed.extend(block)
        return block

    numbers = RowBlocks.within(n, n_rows, compute)
    for _ in range(3):
        assert list(chain(*(block for _, block in numbers))) == list(range(n))
    kept = {i for i in range(n) if computed.count(i) == 1}
    largest = max(len(block) for _, block in numbers)
    alive = sorted(kept)
    assert alive == list(range(len(alive))), "the first rows are the kept ones"
    assert len(alive) + (largest if len(alive) < n else 0) <= n_rows, "kept blocks and one more fit"
    assert len(alive) == n if n <= n_rows else len(alive) >= n_rows // 2 - 1
