"""Which inputs the guarantee covers: where their range comes from, and how many known rows lie outside."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparsegen.lowering.calibrate import Calibrated
from sparsegen.lowering.integer_program import IntegerProgram


@dataclass(frozen=True)
class Coverage:
    """How a program's range compares with the rows that it was chosen for."""

    origin: str
    """The rows, in words."""
    rows: int | None
    """How many of them were tried one by one; ``None`` where only their range is known."""
    outside: int | None
    """How many lie outside; ``None`` where that cannot be told."""

    def __str__(self) -> str:
        if self.outside is None:
            return f"chosen for {self.origin}; how many of them it holds was not counted"
        if self.rows is None:
            return f"holds {self.origin}"
        return f"holds {self.rows - self.outside} of {self.origin} that it was chosen on"


def coverage(program: IntegerProgram, data: Calibrated) -> Coverage:
    """Return how many of the rows are in range.

    Where only the ends of their range are known, both ends in range put every row in range; a projection does not keep
    that order.
    """
    if data.has_data:
        return Coverage(data.origin, len(data.rows), int(np.count_nonzero(~program.covers(data.rows))))
    ends = np.vstack([data.box.low, data.box.high])
    known = program.projection is None and bool(program.covers(ends).all())
    return Coverage(data.origin, None, 0 if known else None)
