"""The projection as the templates print it: what it weighs, its table, its loops. The C is templates/c/projection.c.j2.

8-bit weights are stored with 128 added, 16-bit weights with 32768: ARMv6-M loads only unsigned numbers in one
instruction, and AVR multiplies unsigned ones in fewer. What that adds to every row is the excess times the sum of all
values, taken off again at the end; where either could exceed 32 bits, weights are stored as they are. A few rows do not
pay for the sum of all values, and the DSP loops want the weights as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from sparsegen.lowering.curves import Integers
from sparsegen.lowering.integer_program import IntegerProgram, IntegerProjection
from sparsegen.targets.c.code import Table, c_type, index_type
from sparsegen.targets.c.pooling import Pooling
from sparsegen.targets.c.walk import STEP, Walk, make_walk

MIN_ROWS_WITH_EXCESS = 4
UINT32_MAX = 2**32 - 1
LONG, LONG_STEP = 128, 16  # a long sum pays for more terms per round
AVR_BYTES = "ABCD"  # avr-gcc's names for the bytes of a register
DSP_ROWS, DSP_LONG_WORDS = 4, 2  # rows at once, and words of each in a round of a long sum
AVR_BRANCH_WORDS = 60  # how far back a branch reaches


@dataclass(frozen=True)
class AvrProduct:
    """One byte of a value times one of a weight: the registers, and the bytes of the sum that it is added to."""

    value: str
    weight: str
    low: str
    high: str
    carried: str


@dataclass(frozen=True)
class AvrDot:
    """A row times the values in AVR assembly; a range says how often something is repeated."""

    value_bytes: tuple[str, ...]
    """The registers of a value."""
    weight_bytes: tuple[str, ...]
    products: tuple[AvrProduct, ...]
    rounds: int
    """Of the loop; 0 if there is none."""
    inside: range
    after: range


class DspWeight(NamedTuple):
    """One of the rows that are weighed at once, and how far behind the pointer into the table its weights are."""

    row: int
    at: int


@dataclass(frozen=True)
class DspWord:
    """Values that are weighed together: the first, the third, and the first weight in every row."""

    value: int
    next: int
    weights: tuple[DspWeight, ...]


@dataclass(frozen=True)
class DspDots:
    """Several rows times the values, two products in one instruction."""

    n_seen: int
    has_bytes: bool
    """Whether the values are bytes."""
    has_byte_weights: bool
    rows: tuple[DspWeight, ...]
    """The rows, from their first weights."""
    end: int
    """Where the loop over the values ends; 0 if there is none."""
    step: int
    inside: tuple[DspWord, ...]
    """What one round weighs."""
    after: tuple[DspWord, ...]
    """What is weighed after the loop."""
    tail: tuple[DspWord, ...]
    """Single values that fill no word."""

    @property
    def n_rows(self) -> int:
        """Rows at once."""
        return len(self.rows)

    @property
    def last(self) -> int:
        """The first of the last rows."""
        return self.n_seen - self.n_rows

    @property
    def has_rest(self) -> bool:
        """Whether the last rows overlap those before them."""
        return self.n_seen % self.n_rows != 0


@dataclass(frozen=True)
class ProjectionCode:
    """What the templates print of a projection."""

    integers: IntegerProjection
    pooling: Pooling | None
    source: str
    """The array that is weighed."""
    dtype: np.dtype[Any]
    """Of its entries."""
    largest: int
    """The largest entry."""
    weights: Integers
    """One column for each entry."""
    excess: int
    """What is added to every stored weight."""
    weight_dtype: np.dtype[Any]
    """Of a stored weight."""
    has_dsp: bool
    """Whether DSP loops are wanted and cover the values."""
    has_assembly: bool
    """Whether AVR assembly is wanted."""

    @property
    def value_type(self) -> str:
        """The C type of what is weighed."""
        return c_type(self.dtype)

    @property
    def weight_type(self) -> str:
        """The C type of a stored weight."""
        return c_type(self.weight_dtype)

    @property
    def sum_type(self) -> str:
        """The C type of a row times the values."""
        return "uint32_t" if self.excess else "int32_t"

    @property
    def product(self) -> str:
        """The C type of a product."""
        if self.excess == 0:
            return "int32_t"
        return "unsigned" if self.largest * np.iinfo(self.weight_dtype).max <= np.iinfo(np.uint16).max else "uint32_t"

    @property
    def total(self) -> str:
        """The C type of a sum of as many values as a round takes."""
        return "unsigned" if self.largest * STEP <= np.iinfo(np.uint16).max else "uint32_t"

    @property
    def table_index(self) -> str:
        """The C type of a place in the table."""
        return index_type(self.weights.size)

    @property
    def number(self) -> int:
        """Number of values that are weighed."""
        return int(self.weights.shape[1])

    @property
    def walk(self) -> Walk:
        """How a row is walked."""
        return make_walk(self.number, LONG_STEP if self.number >= LONG else STEP)

    @property
    def total_walk(self) -> Walk:
        """How the values are added up."""
        return make_walk(self.number)

    @property
    def shift(self) -> int:
        """How far a sum is shifted to give an index."""
        return self.integers.shift

    @property
    def levels(self) -> int:
        """The largest index."""
        return self.integers.levels

    @property
    def tables(self) -> list[Table]:
        """What a projection reads."""
        also = f", each with {self.excess} added" if self.excess else ""
        comment = f"rows of the projection, one per projected value{also}"
        return [
            *([] if self.pooling is None else self.pooling.tables),
            Table("projection", comment, self.weight_dtype, self.weights + self.excess),
            Table("projection_bias", "constant term of the projection", np.dtype(np.int32), self.integers.bias),
        ]

    @property
    def avr(self) -> AvrDot | None:
        """The assembly, if it is wanted and covers the types."""
        sizes = self.dtype.itemsize, self.weight_dtype.itemsize
        if not self.has_assembly or self.excess == 0 or max(sizes) > 2:
            return None
        value, weight = (names[:size] for names, size in zip((("a", "b"), ("c", "e")), sizes, strict=True))
        products = tuple(
            AvrProduct(v, w, AVR_BYTES[i + k], AVR_BYTES[i + k + 1], AVR_BYTES[i + k + 2 :])
            for i, v in enumerate(value)
            for k, w in enumerate(weight)
        )
        words = sum(sizes) + sum(3 + len(product.carried) for product in products)
        per_round = 1 << ((AVR_BRANCH_WORDS // words).bit_length() - 1)
        rounds, rest = divmod(self.number, per_round)
        if rounds <= 1:  # one round needs no loop
            rounds, rest = 0, self.number
        return AvrDot(value, weight, products, rounds, range(per_round), range(rest))

    @property
    def dsp(self) -> DspDots | None:
        """The DSP loops, if they are wanted and cover the values."""
        if not self.has_dsp:
            return None
        has_byte_weights, n = self.weight_dtype.itemsize == 1, self.number
        size = 4 if has_byte_weights else 2
        step = size * (DSP_LONG_WORDS if n >= LONG else 1)
        end = 0 if n < 2 * step else n - n % step
        whole = n - n % size
        n_rows = min(DSP_ROWS, len(self.weights))

        def words(values: range) -> tuple[DspWord, ...]:
            return tuple(
                DspWord(value, value + 2, tuple(DspWeight(row, row * n + value) for row in range(n_rows)))
                for value in values
            )

        return DspDots(
            n_seen=len(self.weights),
            has_bytes=self.dtype.itemsize == 1,
            has_byte_weights=has_byte_weights,
            rows=words(range(1))[0].weights,
            end=end,
            step=step,
            inside=words(range(0, step, size)),
            after=words(range(0, whole - end, size)),
            tail=words(range(whole - end, n - end)),
        )


def projection_code(program: IntegerProgram, *, has_dsp: bool, has_assembly: bool) -> ProjectionCode | None:
    """Return what the templates print, with DSP loops or AVR assembly; ``None`` for a program without projection."""
    if program.projection is None:
        return None
    groups, numbers, reader = program.feature_groups, program.numbers, program.reader
    weights = program.projection.weights if groups is None else groups.weights
    dtype, source = program.input_dtype, "x"
    if groups is not None:
        dtype, source = groups.sum_dtype, "sums"
    elif not reader.is_identity:
        dtype, source = numbers.index_dtype, "q"
    bits, largest = 8 * numbers.weight_dtype.itemsize, reader.levels if groups is None else groups.largest_sum
    has_dsp = has_dsp and largest <= np.iinfo(np.int16).max and dtype.itemsize >= numbers.weight_dtype.itemsize
    excess = 2 ** (bits - 1)
    most = largest * max(int((weights + excess).sum(axis=1).max()), excess * weights.shape[1])
    is_signed = has_dsp or most > UINT32_MAX or (len(weights) < MIN_ROWS_WITH_EXCESS and not has_assembly)
    return ProjectionCode(
        integers=program.projection,
        pooling=None if groups is None else Pooling(groups, reader.is_identity),
        source=source,
        dtype=dtype,
        largest=largest,
        weights=weights,
        excess=0 if is_signed else excess,
        weight_dtype=numbers.weight_dtype if is_signed else np.dtype(f"u{bits // 8}"),
        has_dsp=has_dsp,
        has_assembly=has_assembly,
    )
