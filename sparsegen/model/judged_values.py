"""How far a program's values are from the true ones, and how far on rows that were never trained on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen.arrays import Array
from sparsegen.model.sparse_model import SparseModel
from sparsegen.model.value_quality import ValueQuality, measure_values

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class JudgedValues:
    """The errors on all rows, and on those of them that the model's card knows to be held out in training."""

    rows: ValueQuality
    held_out: ValueQuality | None
    """``None`` where no row is known to be held out."""
    real: ValueQuality
    """Of the real-valued model on all rows."""
    real_held_out: ValueQuality | None
    final_rows: int | None = None
    """On how many rows the model was trained at last, where that is all there were."""

    def __str__(self) -> str:
        n, held = self.rows.rows, self.held_out
        if held is None:
            why = "none of them is known to be held out in training"
            if self.final_rows is not None:
                why = f"none was held out: the model was trained at last on all {self.final_rows} rows of its data"
            return f"{self.rows.figures} on {n} rows ({self.rows.in_words(may_be_known=True)}); {why}"
        which = f"all {n} rows were" if held.rows == n else f"of {n} rows {held.rows} were"
        return f"{which} held out in training; on those: {held.figures} ({held.in_words()})"

    def document(self) -> dict[str, Any]:
        """Return the errors as plain JSON values."""
        return {
            "values": self.rows.as_json(),
            "held_out_values": None if self.held_out is None else self.held_out.as_json(),
            "real_values": self.real.as_json(),
        }


def judge_values(model: SparseModel, values: Array, real: Array, truth: Array, held_out: Mask | None) -> JudgedValues:
    """Return how far values, and the real-valued model's, are from the true ones; ``held_out`` says on which rows."""

    def part(given: Array) -> ValueQuality | None:
        if held_out is None or not held_out.any():
            return None
        return measure_values(given[held_out], truth[held_out])

    return JudgedValues(
        measure_values(values, truth),
        part(values),
        measure_values(real, truth),
        part(real),
        model.card.get("final_rows"),
    )
