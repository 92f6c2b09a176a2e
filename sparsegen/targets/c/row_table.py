"""The table of vectors in integer C: one struct per vector, with everything the loop reads for it.

A vector stands near the front, where short instructions reach it, and at a whole word, since the DSP loops load words.
Its norm follows where that leaves no gap, and leads otherwise. AVR aligns nothing, and its assembly expects the norm
right after the vector. A vector with an odd number of bytes leaves a gap of one byte inside, which costs no memory.
Of the rest, what has 16 bits comes before bytes, so that it leaves no gap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen.lowering.formats import Format
from sparsegen.lowering.integer_program import IntegerProgram
from sparsegen.lowering.order_for_early_exit import remaining_change
from sparsegen.targets.c.code import byte_sum

WORD_BYTES = 4
HALF_BYTES = 2


@dataclass(frozen=True)
class Member:
    """A member of the struct: the bytes of an entry, and the entries of every row."""

    bytes: int
    values: Sequence[NDArray[Any]]
    is_norm: bool = False
    is_vector: bool = False
    is_coef: bool = False
    is_shift: bool = False

    @property
    def size(self) -> int:
        """Bytes in a row."""
        return self.bytes * int(np.size(self.values[0]))


@dataclass(frozen=True)
class RowTable:
    """The table as the templates print it."""

    members: Sequence[Member]
    n_rows: int

    @property
    def rows(self) -> list[list[NDArray[Any]]]:
        """The values of every row, member by member."""
        return [list(row) for row in zip(*(member.values for member in self.members), strict=True)]

    @property
    def byte_sum(self) -> int:
        """What the self-test adds up over its bytes; gaps are 0 and add nothing."""
        return sum(byte_sum(np.array(member.values).astype(f"i{member.bytes}")) for member in self.members)

    @property
    def size(self) -> int:
        """Bytes of all rows on a processor that aligns words."""
        at, widest = 0, 1
        for member in self.members:
            at = _aligned(at, member.bytes) + member.size
            widest = max(widest, member.bytes)
        return self.n_rows * _aligned(at, widest)


def make_row_table(program: IntegerProgram, wanted: Format, *, norm_follows_vector: bool) -> RowTable:
    """Return the table of a program; a linear one has no vectors and gets no members."""
    if program.is_linear:
        return RowTable((), 0)
    m = len(program.vectors)
    vector = Member(program.numbers.index_dtype.itemsize, list(program.vectors), is_vector=True)
    stored = program.stored_coef
    coef = Member(program.numbers.coef_dtype.itemsize, [stored[:, :, u].T.ravel() for u in range(m)], is_coef=True)
    others = [coef]
    if wanted.early_exit:
        others.append(Member(HALF_BYTES, list(remaining_change(program))))
    if program.shift is not None:
        others.append(Member(1, list(program.shift.T), is_shift=True))
    others.sort(key=lambda member: -member.bytes)
    if program.form != "square":
        return RowTable([vector, *others], m)
    norm = Member(WORD_BYTES, [np.array(int(v @ v)) for v in program.vectors], is_norm=True)
    norm_follows = norm_follows_vector or vector.size % WORD_BYTES == 0
    return RowTable([vector, norm, *others] if norm_follows else [norm, vector, *others], m)


def _aligned(at: int, size: int) -> int:
    return -(-at // size) * size
