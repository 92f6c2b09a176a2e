"""The rows that the page's figures come from, and what may be said of them: held out, or perhaps known to the model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparsegen.arrays import Array
from sparsegen.lowering.agreement import NO_CLASS, label_indices
from sparsegen.lowering.integer_program import IntegerProgram
from sparsegen.lowering.lowered import Lowered
from sparsegen.model.card import known_accuracy
from sparsegen.model.confusion import Confusion
from sparsegen.model.detector_quality import DetectorQuality
from sparsegen.model.held_out import held_out
from sparsegen.model.judged import judge
from sparsegen.model.task import ANOMALY, ANOMALY_CLASSES
from sparsegen.model.value_quality import ValueQuality, measure_values
from sparsegen.promised import Accuracy

Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Tested:
    """Rows, and the scores that the program gives them: for integers, bit by bit what a device gives."""

    X: Array
    y: NDArray[np.generic]
    """What the data says of them: labels, or values."""
    scores: Array
    """(n, n_outputs), in units of the model."""
    is_held_out: bool
    """Whether no row was trained on, as the model's card remembers; otherwise some or all may have been."""

    @property
    def which(self) -> str:
        """The rows in words, as part of a sentence: ``450 held-out rows``."""
        n = len(self.X)
        return f"{n:,} held-out rows" if self.is_held_out else f"{n:,} rows that may have been trained on"


@dataclass(frozen=True, eq=False)
class Answers:
    """The classes that tested rows have, and those that the program gives them."""

    wanted: Indices
    """Class indices of the labels; ``NO_CLASS`` for a label that the model does not know."""
    given: Indices
    accuracy: Accuracy
    is_held_out: bool

    @property
    def right(self) -> NDArray[np.bool_]:
        """Whether each row is labelled correctly."""
        return np.asarray(self.given == self.wanted)

    @property
    def unknown(self) -> int:
        """Rows whose label is none of the model's classes; they count as wrong."""
        return int(np.count_nonzero(self.wanted == NO_CLASS))

    def confusion(self, n_classes: int) -> Confusion | None:
        """Return the counts by class, of the rows whose class the model knows."""
        known = self.wanted != NO_CLASS
        return Confusion.count(self.wanted[known], self.given[known], n_classes) if known.any() else None

    @property
    def condition(self) -> str:
        """What the interval of a share of these rows takes for granted."""
        return self.accuracy.in_words(may_be_known=not self.is_held_out)


def errors(tested: Tested, mean: float | None = None) -> ValueQuality:
    """Return the errors on tested rows, of a model that gives values; ``mean`` is that of the training rows."""
    return measure_values(tested.scores[:, 0], np.asarray(tested.y, dtype=np.float64), mean=mean)


def test_rows(lowered: Lowered, X: Array, y: NDArray[np.generic]) -> Tested:
    """Return the rows that were held out in training where the model's card knows any, otherwise all rows."""
    held = held_out(lowered.model.card, X)
    is_held_out = held is not None and bool(held.any())
    rows = np.flatnonzero(held) if held is not None and is_held_out else np.arange(len(X))
    found = lowered.reference(X[rows])
    return Tested(X[rows], y[rows], found.scores * found.unit, is_held_out)


def answers(lowered: Lowered, tested: Tested) -> Answers:
    """Return the classes of tested rows, of a model that has classes."""
    model = lowered.model
    wanted = label_indices(model, tested.y)
    given = given_classes(lowered, tested.X)
    correct, known = int(np.count_nonzero(given == wanted)), known_accuracy(model.card)
    accuracy = Accuracy(correct, len(wanted))
    if known is not None and tested.is_held_out:
        accuracy = known.on(correct, len(wanted))
    return Answers(wanted, given, accuracy, tested.is_held_out)


def given_classes(lowered: Lowered, X: Array) -> Indices:
    """Return the classes of raw rows, as a caller gets them that asks a detector for its range first."""
    given = lowered.reference(X).labels
    if lowered.model.task != ANOMALY or not isinstance(lowered.program, IntegerProgram):
        return given
    return np.where(lowered.program.covers(X), given, ANOMALY_CLASSES.index("anomaly"))


def detection(lowered: Lowered, tested: Tested, found: Answers) -> DetectorQuality | None:
    """Return false alarms and detections among tested rows; ``None`` where no row is known to be either."""
    known = np.ones(len(tested.X), dtype=np.bool_) if tested.is_held_out else None
    judged = judge(lowered.model, found.right, found.right, known, found.wanted)
    return judged.detection
