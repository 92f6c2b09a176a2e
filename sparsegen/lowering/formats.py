"""Number formats: how an export holds its numbers and what it reads."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from sparsegen.arrays import Array


@dataclass(frozen=True)
class Format:
    """How an export holds its numbers, what it reads and how its loops are written."""

    dtype: str = "f32"
    """``f32``, ``q15`` or ``q7``."""
    input: str = "f32"
    """``f32``, ``raw-int16``, ``raw-uint8``, or ``grid``: features already on the model's own integer grid."""
    loops: str = "portable"
    """Inner loops: ``portable`` or those of a processor, such as ``dsp`` or ``avr``."""
    early_exit: bool = False
    """Whether a prediction may stop once the remaining terms cannot change it."""
    rows: Array | None = field(default=None, compare=False, repr=False)
    """Raw rows that the scales of integers are chosen for; by default the model's card tells the range."""
    labels: NDArray[Any] | None = field(default=None, compare=False, repr=False)
    """Their labels, where known."""


FLOAT32 = Format()
