"""How good probabilities are on rows whose classes are known, and how good the classes' shares alone would be."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from sparsegen.arrays import Array
from sparsegen.promised import bound

BINS = 10
SMALLEST = float(np.finfo(np.float64).eps)
"""A probability of 0 counts as this: its logarithm would be infinite."""


@dataclass(frozen=True)
class ProbabilityQuality:
    """Losses of probabilities: the lower, the better."""

    rows: int
    log_loss: float
    """Mean of minus the logarithm of the true class's probability."""
    brier: float
    """Mean of the squared distances from 1 for the true class and 0 for the others."""
    calibration_error: float
    """Mean difference of confidence and accuracy, over tenths of the confidence."""
    prior_log_loss: float
    """The log loss of the classes' shares of the training rows, the same for every row."""
    prior_brier: float

    def as_json(self) -> dict[str, float]:
        """Return plain values for the model card."""
        return asdict(self)

    def __str__(self) -> str:
        return (
            f"log loss {bound(self.log_loss)} (class shares alone: {bound(self.prior_log_loss)}), Brier score "
            f"{bound(self.brier)} ({bound(self.prior_brier)}), calibration error {bound(self.calibration_error)}, "
            f"on {self.rows} test rows"
        )


def measure_probabilities(probabilities: Array, index: NDArray[np.int64], shares: Array) -> ProbabilityQuality:
    """Return the losses of (n, n_classes) probabilities of rows with these class indices."""
    prior = np.broadcast_to(shares, probabilities.shape)
    return ProbabilityQuality(
        len(index),
        _log_loss(probabilities, index),
        _brier(probabilities, index),
        _calibration_error(probabilities, index),
        _log_loss(prior, index),
        _brier(prior, index),
    )


def _log_loss(p: Array, index: NDArray[np.int64]) -> float:
    own = p[np.arange(len(index)), index]
    return float(-np.log(np.maximum(own, SMALLEST)).mean())


def _brier(p: Array, index: NDArray[np.int64]) -> float:
    return float(((p - np.eye(p.shape[1])[index]) ** 2).sum(axis=1).mean())


def _calibration_error(p: Array, index: NDArray[np.int64]) -> float:
    confidence, correct = p.max(axis=1), np.argmax(p, axis=1) == index
    place = np.minimum((confidence * BINS).astype(np.int64), BINS - 1)
    gaps = np.bincount(place, weights=confidence - correct, minlength=BINS)
    return float(np.abs(gaps).sum() / len(index))
