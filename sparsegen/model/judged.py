"""How many labelled rows a program gets right, and how many of those were never trained on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen.model.card import known_accuracy
from sparsegen.model.sparse_model import SparseModel
from sparsegen.promised import Accuracy, percent

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Judged:
    """The accuracy on all rows, and on those of them that the model's card knows to be held out in training."""

    rows: Accuracy
    held_out: Accuracy | None
    """``None`` where no row is known to be held out."""
    real_held_out: Accuracy | None
    """The same for the real-valued model."""
    real: int = 0
    """How many of all rows the real-valued model labels correctly."""
    final_rows: int | None = None
    """On how many rows the model was trained at last, where that is all there were."""

    def __str__(self) -> str:
        n, held = self.rows.rows, self.held_out
        if held is None:
            why = "none of them is known to be held out in training"
            if self.final_rows is not None:
                why = f"none was held out: the model was trained at last on all {self.final_rows} rows of its data"
            accuracy = f"accuracy {percent(self.rows.share)} of {n} rows"
            return f"{accuracy} ({self.rows.in_words(may_be_known=True)}); {why}"
        which = f"all {n} rows were" if held.rows == n else f"of {n} rows {held.rows} were"
        return f"{which} held out in training; accuracy on those: {percent(held.share)} ({held.in_words()})"

    def document(self) -> dict[str, Any]:
        """Return the accuracies as plain JSON values."""
        held = self.held_out
        return {
            "accuracy": self.rows.share,
            "accuracy_interval": self.rows.interval,
            "held_out_rows": None if held is None else held.rows,
            "held_out_accuracy": None if held is None else held.share,
            "held_out_interval": None if held is None else held.interval,
        }


def judge(model: SparseModel, right: Mask, real_right: Mask, held_out: Mask | None) -> Judged:
    """Return the accuracy of rows that are labelled correctly or not; ``held_out`` says which were held out."""
    known = known_accuracy(model.card)

    def part(correct: Mask) -> Accuracy | None:
        if held_out is None or not held_out.any():
            return None
        counts = int(np.count_nonzero(correct & held_out)), int(np.count_nonzero(held_out))
        return Accuracy(*counts) if known is None else known.on(*counts)

    return Judged(
        Accuracy(int(np.count_nonzero(right)), len(right)),
        part(right),
        part(real_right),
        int(np.count_nonzero(real_right)),
        model.card.get("final_rows"),
    )
