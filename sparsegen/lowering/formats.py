"""Number formats and input kinds: what a program computes in, and what it reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from sparsegen.arrays import Array
from sparsegen.errors import OptionError, nearest
from sparsegen.model.checks import check_confidence


@dataclass(frozen=True)
class NumberFormat:
    """What a program computes in."""

    name: str
    description: str
    """As the header of an export states it."""

    @property
    def is_exact(self) -> bool:
        """Whether a device must give the simulator's scores bit by bit."""
        return False


@dataclass(frozen=True)
class IntegerFormat(NumberFormat):
    """Integers: vectors and features are indices of a grid, scores have 32 bits."""

    index_dtype: np.dtype[Any]
    """Type of a grid index."""
    coef_dtype: np.dtype[Any]
    """Type of a coefficient."""
    weight_dtype: np.dtype[Any]
    """Type of an entry of a projection."""
    levels: int
    """The largest index."""
    projected_levels: int
    """The largest index of a raw feature before a projection: weights and indices share 31 bits."""

    @property
    def is_exact(self) -> bool:
        """Whether a device must give the simulator's scores bit by bit."""
        return True

    @property
    def largest_weight(self) -> int:
        """The largest entry of a projection."""
        return int(np.iinfo(self.weight_dtype).max)

    @property
    def largest_coef(self) -> int:
        """The largest coefficient."""
        return int(np.iinfo(self.coef_dtype).max)

    def shifts_vectors(self, n_outputs: int) -> bool:
        """Whether each vector has a shift of its own: a byte that lets 8-bit coefficients of several outputs do."""
        return self.coef_dtype.itemsize == 1 and n_outputs > 1


F32 = NumberFormat("f32", "float32")
Q15 = IntegerFormat(
    "q15",
    "q15: 16-bit vectors and indices, 16-bit coefficients",
    index_dtype=np.dtype(np.uint16),
    coef_dtype=np.dtype(np.int16),
    weight_dtype=np.dtype(np.int16),
    levels=32767,
    projected_levels=4095,
)
Q7 = IntegerFormat(
    "q7",
    "q7: 8-bit vectors and indices, 16-bit coefficients",
    index_dtype=np.dtype(np.uint8),
    coef_dtype=np.dtype(np.int16),
    weight_dtype=np.dtype(np.int8),
    levels=255,
    projected_levels=255,
)
Q15C8 = replace(
    Q15,
    name="q15c8",
    description="q15c8: 16-bit vectors and indices, 8-bit coefficients",
    coef_dtype=np.dtype(np.int8),
)
Q7C8 = replace(
    Q7,
    name="q7c8",
    description="q7c8: 8-bit vectors and indices, 8-bit coefficients",
    coef_dtype=np.dtype(np.int8),
)
INTEGERS = (Q15, Q7, Q15C8, Q7C8)
FORMATS: Mapping[str, NumberFormat] = {numbers.name: numbers for numbers in (F32, *INTEGERS)}


@dataclass(frozen=True)
class InputKind:
    """What a program reads of each feature."""

    name: str
    meaning: str
    """As the header of an export states it."""
    dtype: np.dtype[Any] | None
    """``None`` for an index of the grid, whose type is the format's."""

    @property
    def is_float(self) -> bool:
        """Whether features come as float32."""
        return self.dtype is not None and self.dtype.kind == "f"

    @property
    def is_raw_integer(self) -> bool:
        """Whether features come as the integers a sensor gives."""
        return self.dtype is not None and self.dtype.kind in "iu"

    @property
    def is_grid(self) -> bool:
        """Whether features come as indices of the model's own grid."""
        return self.dtype is None

    def dtype_in(self, numbers: IntegerFormat) -> np.dtype[Any]:
        """Return the type of one feature in a number format."""
        return numbers.index_dtype if self.dtype is None else self.dtype


FLOAT_INPUT = InputKind("f32", "raw features", np.dtype(np.float32))
INPUT_KINDS: Mapping[str, InputKind] = {
    kind.name: kind
    for kind in (
        FLOAT_INPUT,
        InputKind("raw-int16", "raw whole numbers", np.dtype(np.int16)),
        InputKind("raw-uint8", "raw whole numbers", np.dtype(np.uint8)),
        InputKind("grid", "indices of the grid", None),
    )
}

Named = TypeVar("Named")


@dataclass(frozen=True)
class Format:
    """What to lower a model to: the numbers to compute in, and what to read."""

    dtype: str = F32.name
    """Name of a number format."""
    input: str = FLOAT_INPUT.name
    """Name of an input kind."""
    early_exit: bool = False
    """Whether a prediction may stop once the remaining terms cannot change it."""
    reject: float | None = None
    """The confidence below which ``predict_or_reject`` gives no class; ``None`` leaves that function out."""
    rows: Array | None = field(default=None, compare=False, repr=False)
    """Raw rows to choose the scales of integers on; without them the model's card gives the range."""
    labels: NDArray[Any] | None = field(default=None, compare=False, repr=False)
    """Their labels, where known."""

    def __post_init__(self) -> None:
        if self.reject is not None:
            check_confidence(self.reject)
        reads_floats = self.reads.is_float
        if not isinstance(self.numbers, IntegerFormat) and (not reads_floats or self.early_exit):
            raise OptionError(
                "float32 programs read float32 and never stop early; integers do both", change={"dtype": "q7"}
            )

    @property
    def numbers(self) -> NumberFormat:
        """The number format."""
        return _by_name(FORMATS, self.dtype, "number format")

    @property
    def reads(self) -> InputKind:
        """The input kind."""
        return _by_name(INPUT_KINDS, self.input, "input kind")


def _by_name(known: Mapping[str, Named], name: str, what: str) -> Named:
    if name not in known:
        raise OptionError(f"there is no {what} {name!r}{nearest(name, known)}; choose one of: {', '.join(known)}")
    return known[name]


FLOAT32 = Format()
