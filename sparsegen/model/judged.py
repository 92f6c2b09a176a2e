"""How many labelled rows a program gets right, and how many of those were never trained on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen.model.card import known_accuracy
from sparsegen.model.detector_quality import DetectorQuality, known_detection
from sparsegen.model.sparse_model import SparseModel
from sparsegen.model.task import ANOMALY, ANOMALY_CLASSES
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
    detection: DetectorQuality | None = None
    """Of a detector: false alarms and detections on the rows held out in training, or on all where none is known."""
    real_detection: DetectorQuality | None = None
    """The same for the real-valued model."""

    def __str__(self) -> str:
        n, held = self.rows.rows, self.held_out
        if held is None:
            why = "none of them is known to be held out in training"
            if self.final_rows is not None:
                why = f"none was held out: the model was trained at last on all {self.final_rows} rows of its data"
            if self.detection is not None:
                return f"{self._detection(may_be_known=True)}; {why}"
            accuracy = f"accuracy {percent(self.rows.share)} of {n} rows"
            return f"{accuracy} ({self.rows.in_words(may_be_known=True)}); {why}"
        which = f"all {n} rows were" if held.rows == n else f"of {n} rows {held.rows} were"
        if self.detection is not None:
            return f"{which} held out in training; of those: {self._detection()}"
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
            **({} if self.detection is None else {"anomalies": self.detection.document()}),
        }

    def _detection(self, *, may_be_known: bool = False) -> str:
        lines = () if self.detection is None else self.detection.lines(may_be_known=may_be_known)
        return "; ".join(f"{name} {figure}" for name, figure in lines)


def judge(
    model: SparseModel, right: Mask, real_right: Mask, held_out: Mask | None, truth: NDArray[Any] | None = None
) -> Judged:
    """Return the accuracy of rows that are labelled correctly or not; ``held_out`` says which were held out.

    ``truth`` holds the labels, as texts or as class indices; by them a detector's rows are told apart.
    """
    known = known_accuracy(model.card)
    which = np.ones(len(right), dtype=np.bool_) if held_out is None or not held_out.any() else held_out

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
        _detection(model, right, which, truth),
        _detection(model, real_right, which, truth),
    )


def _detection(model: SparseModel, right: Mask, which: Mask, truth: NDArray[Any] | None) -> DetectorQuality | None:
    """Return false alarms and detections among some rows; ``None`` unless a detector's rows are known."""
    if model.task != ANOMALY or truth is None:
        return None
    known = known_detection(model.card)

    def share(label: str, counts: Mask, tested: Accuracy | None) -> Accuracy | None:
        rows = which & _is(truth, label)
        n, n_counted = int(np.count_nonzero(rows)), int(np.count_nonzero(rows & counts))
        if not n:
            return None
        return Accuracy(n_counted, n) if tested is None else tested.on(n_counted, n)

    anomaly, normal = ANOMALY_CLASSES
    alarms = share(normal, ~right, None if known is None else known.alarms)
    detections = share(anomaly, right, None if known is None else known.detections)
    return None if alarms is None and detections is None else DetectorQuality(alarms, detections)


def _is(truth: NDArray[Any], label: str) -> Mask:
    """Return which labels, as texts or as class indices, are this class of a detector."""
    if truth.dtype.kind in "iu":
        return np.asarray(truth == ANOMALY_CLASSES.index(label))
    return np.asarray(truth.astype(str) == label)
