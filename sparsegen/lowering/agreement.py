"""How well an integer program agrees with the real-valued model, measured on rows, and whether that is well enough."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen.arrays import Array
from sparsegen.errors import DataError
from sparsegen.lowering.integer_program import IntegerProgram
from sparsegen.model import SparseModel
from sparsegen.model.held_out import held_out
from sparsegen.model.judged import Judged, Mask, judge
from sparsegen.model.task import ANOMALY
from sparsegen.promised import percent, points

MAX_LOSS = 5.0
"""Points of accuracy, or of changed labels where none are known, beyond which a program does not stand for its model.

Programs whose scales suit the data stay below it: in q7, with no rows to calibrate on, 39 of 40 models of eight data
sets changed at most 2.2 % of the labels near their vectors (the other one, a linear machine of 26 classes, 15 %). Whole
numbers that cannot tell the features apart change 6 to 60 %.
"""
MIN_LOST_ROWS = 2
"""One row is no evidence: its score may be a tie."""
MIN_CLASS_ROWS, MIN_CLASS_SHARE = 10, 0.01
"""The rows, and the share of all rows, that a class must have before it is judged by itself."""
SHOWN_LABELS = 3
NO_CLASS = np.iinfo(np.int64).min
"""Stands for a label that is none of the model's; no device answers it."""


@dataclass(frozen=True)
class Agreement:
    """How rows are labelled in a number format, compared with the real-valued model and with the known labels."""

    dtype: str
    rows: int
    calibrated: bool
    """Whether the rows are the user's; otherwise they are points made up near the model's vectors."""
    same: int
    """Rows that the program and the model label alike."""
    correct: int | None = None
    """Rows labelled correctly, where labels are known."""
    real_correct: int | None = None
    """The same count for the real-valued model."""
    lost_class: str | None = None
    """A class of which most rows change their label."""
    worst_kind: tuple[int, int] | None = None
    """Of a detector's normal rows and known anomalies, those of which more are lost: rows lost, and rows."""
    judged: Judged | None = None
    """Which of the rows labelled correctly were held out in training, where labels are known."""

    @property
    def same_labels(self) -> float:
        """Share of the rows that the program and the model label alike."""
        return self.same / self.rows

    @property
    def accuracy(self) -> float | None:
        """Share of the rows labelled correctly, where labels are known."""
        return None if self.correct is None else self.correct / self.rows

    @property
    def real_accuracy(self) -> float | None:
        """The same share for the real-valued model."""
        return None if self.real_correct is None else self.real_correct / self.rows

    @property
    def lost_rows(self) -> int:
        """By how many rows the model labels more correctly; without labels, the rows whose label changes."""
        if self.correct is None or self.real_correct is None:
            return self.rows - self.same
        return self.real_correct - self.correct

    @property
    def loss(self) -> float:
        """Percentage points of accuracy lost; without labels every changed label counts as lost.

        Of a detector, where more of one kind of rows are lost, of that kind: normal rows hide the few anomalies.
        """
        shares = [self.lost_rows / self.rows]
        if self.worst_kind is not None:
            shares.append(self.worst_kind[0] / self.worst_kind[1])
        return 100 * max(shares)

    @property
    def lost(self) -> str | None:
        """What is lost, in words, where that is too much; otherwise ``None``."""
        if self.lost_class is not None:
            return f"the class {self.lost_class!r}"
        lost_rows = max(self.lost_rows, 0 if self.worst_kind is None else self.worst_kind[0])
        too_much = self.loss > MAX_LOSS and lost_rows >= MIN_LOST_ROWS
        unit = "% of the labels" if self.correct is None else "points"
        return f"{points(self.loss)} {unit}" if too_much else None

    @property
    def problem(self) -> str | None:
        """A sentence where the program does not stand for its model; otherwise ``None``."""
        return None if self.lost is None else f"{self.lost} would be lost in {self.dtype}: {self}"

    def __str__(self) -> str:
        kind = "calibration rows" if self.calibrated else "points near the vectors"
        same = f"{percent(self.same_labels)} of {self.rows} {kind} keep their label"
        return same if self.correct is None else f"{same}, {points(self.loss)} points of accuracy are lost"


def agreement(
    program: IntegerProgram,
    model: SparseModel,
    rows: Array,
    labels: NDArray[Any] | None = None,
    *,
    calibrated: bool = True,
) -> Agreement:
    """Return how well a program agrees with the model on rows: the user's, or made up where not ``calibrated``."""
    real, ours = model.predict_index(rows), program.predict_index(program.inputs(rows))
    held = None if labels is None else held_out(model.card, rows)
    return compare_labels(model, real, ours, labels, program.numbers.name, calibrated=calibrated, held=held)


def compare_labels(
    model: SparseModel,
    real: NDArray[np.integer[Any]],
    ours: NDArray[np.integer[Any]],
    labels: NDArray[Any] | None,
    dtype: str,
    *,
    calibrated: bool = True,
    held: NDArray[np.bool_] | None = None,
) -> Agreement:
    """Return how the class indices ``ours`` agree with the real-valued model's, and both with the known labels.

    ``held`` says which of the rows were held out in training.
    """
    correct = real_correct = worst = found = None
    if labels is not None:
        wanted = label_indices(model, labels)
        right, real_right = ours == wanted, real == wanted
        correct, real_correct = int(np.count_nonzero(right)), int(np.count_nonzero(real_right))
        worst = _worst_kind(wanted, right, real_right) if model.task == ANOMALY else None
        found = judge(model, right, real_right, held, wanted)
    same = int(np.count_nonzero(real == ours))
    lost_class = _lost_class(model, real, ours)
    return Agreement(dtype, len(real), calibrated, same, correct, real_correct, lost_class, worst, found)


def _worst_kind(wanted: NDArray[np.int64], right: Mask, real_right: Mask) -> tuple[int, int] | None:
    """Return rows lost and rows of the class that loses the largest share, of those with rows enough to tell."""
    kinds = [wanted == index for index in np.unique(wanted) if np.count_nonzero(wanted == index) >= MIN_CLASS_ROWS]
    lost = [(int(np.count_nonzero(real_right & of)) - int(np.count_nonzero(right & of)), int(of.sum())) for of in kinds]
    return max(lost, key=lambda counts: counts[0] / counts[1], default=None)


def label_indices(model: SparseModel, labels: NDArray[Any]) -> NDArray[np.int64]:
    """Return the class index of each label, compared as text; raise where none of them is a class of the model."""
    index = {str(label): i for i, label in enumerate(model.classes)}
    texts = labels.astype(str).tolist()
    found = np.array([index.get(text, NO_CLASS) for text in texts], dtype=np.int64)
    if len(found) and np.all(found == NO_CLASS):
        raise DataError(
            f"none of the labels ({_some(texts)}) is a class of the model ({_some(index)}); name the column that "
            "holds the labels, or leave them out",
            change={"label": ""},
        )
    return found


def _some(texts: Any) -> str:
    distinct = list(dict.fromkeys(texts))
    return ", ".join(map(repr, distinct[:SHOWN_LABELS])) + (", ..." if len(distinct) > SHOWN_LABELS else "")


def _lost_class(model: SparseModel, real: NDArray[np.integer[Any]], ours: NDArray[np.integer[Any]]) -> str | None:
    """Return a class that most of the model's rows do not keep: shares over all rows hide it where it is rare."""
    given = np.bincount(real, minlength=len(model.classes))
    kept = np.bincount(real[real == ours], minlength=len(model.classes))
    judged = given >= max(MIN_CLASS_ROWS, MIN_CLASS_SHARE * len(real))
    if np.count_nonzero(given) > 1 and np.all(ours == ours[0]):
        judged = given > 0  # one answer to everything, whatever the rows
    lost = np.flatnonzero(judged & (2 * kept < given))
    return str(model.classes[lost[0]]) if len(lost) else None
