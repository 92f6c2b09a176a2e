"""The ROC curve of a detector: which share of the anomalies is found for which share of false alarms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparsegen.arrays import Array


@dataclass(frozen=True, eq=False)
class Roc:
    """Shares by threshold, from the lowest one, at which nothing is an anomaly, to the highest."""

    thresholds: Array
    """A row is called an anomaly where its score is at most this; the first is minus infinity."""
    alarms: Array
    """Of the normal rows, those called anomalies."""
    detections: Array
    """Of the anomalies, those called so."""

    @property
    def area(self) -> float:
        """How often a normal row scores above an anomaly; as often counts half."""
        return float(np.diff(self.alarms) @ (self.detections[1:] + self.detections[:-1]) / 2.0)

    def at(self, threshold: float) -> tuple[float, float]:
        """Return false alarms and detections at a threshold."""
        k = int(np.searchsorted(self.thresholds, threshold, side="right")) - 1
        return float(self.alarms[k]), float(self.detections[k])


def roc(scores: Array, is_normal: NDArray[np.bool_]) -> Roc | None:
    """Return the curve of rows whose kind is known; ``None`` where all are of one kind."""
    if is_normal.all() or not is_normal.any():
        return None
    distinct, place = np.unique(scores, return_inverse=True)
    normal = np.bincount(place[is_normal], minlength=len(distinct)).cumsum()
    others = np.bincount(place[~is_normal], minlength=len(distinct)).cumsum()
    thresholds = np.concatenate([[-np.inf], distinct])
    return Roc(thresholds, *(np.concatenate([[0.0], counts / counts[-1]]) for counts in (normal, others)))
