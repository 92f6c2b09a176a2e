"""The rows that scales are chosen on, and the box that they fill."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparsegen.arrays import Array
from sparsegen.lowering.locate_data import data_like, stand_in_rows
from sparsegen.model import SparseModel


@dataclass(frozen=True)
class Box:
    """The smallest and largest raw value of every feature."""

    low: Array
    high: Array

    @classmethod
    def around(cls, rows: Array) -> Box:
        """Return the smallest box that holds the rows."""
        return cls(rows.min(axis=0), rows.max(axis=0))

    @classmethod
    def of(cls, model: SparseModel) -> Box:
        """Return the box stored in the model's card, or one around its vectors."""
        stored = model.card.get("ranges")
        if stored is not None:
            return cls(np.array(stored["low"], dtype=np.float64), np.array(stored["high"], dtype=np.float64))
        return cls.around(data_like(model))


def calibrate(model: SparseModel, rows: Array | None) -> tuple[Box, Array]:
    """Return the box and the rows; without rows, the box of the model's card and points near the model's vectors."""
    if rows is not None:
        return Box.around(rows), rows
    box = Box.of(model)
    return box, stand_in_rows(model, box.low, box.high)
