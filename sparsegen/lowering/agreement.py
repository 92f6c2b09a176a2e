"""How well an integer program agrees with the real-valued model, measured on rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen.arrays import Array
from sparsegen.lowering.calibrate import calibrate
from sparsegen.lowering.integer_program import IntegerProgram
from sparsegen.model import SparseModel


@dataclass(frozen=True)
class Agreement:
    """How a program labels rows, compared with the real-valued model and with the known labels."""

    dtype: str
    rows: int
    calibrated: bool
    """Whether the rows are the user's; otherwise they are points made up near the model's vectors."""
    same_labels: float
    """Share of the rows that the program and the model label alike."""
    accuracy: float | None
    """Share of the rows labelled correctly, where labels are known."""
    real_accuracy: float | None
    """The same share for the real-valued model."""

    @property
    def loss(self) -> float:
        """Percentage points of accuracy lost; without labels every changed label counts as lost."""
        if self.accuracy is None or self.real_accuracy is None:
            return 100.0 * (1.0 - self.same_labels)
        return 100.0 * (self.real_accuracy - self.accuracy)

    def __str__(self) -> str:
        kind = "calibration rows" if self.calibrated else "points near the vectors"
        same = f"{100 * self.same_labels:.2f} % of {self.rows} {kind} keep their label"
        return same if self.accuracy is None else f"{same}, {self.loss:.2f} points of accuracy are lost"


def agreement(
    program: IntegerProgram, model: SparseModel, rows: Array | None, labels: NDArray[Any] | None
) -> Agreement:
    """Return how well a program agrees with the model on rows, or without rows on points near the model's vectors."""
    X = calibrate(model, rows).rows
    real, ours = model.predict_index(X), program.predict_index(program.inputs(X))
    accuracy = real_accuracy = None
    if labels is not None:
        names, wanted = np.array([str(c) for c in model.classes]), labels.astype(str)
        accuracy, real_accuracy = float(np.mean(names[ours] == wanted)), float(np.mean(names[real] == wanted))
    return Agreement(
        program.numbers.name, len(X), rows is not None, float(np.mean(real == ours)), accuracy, real_accuracy
    )
