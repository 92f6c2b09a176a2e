"""The IDA repository (G. Raetsch): thirteen two-class sets, their splits and the SVM parameters that came with them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import _report
from sparsegen.errors import DataError

ARRAYS = ("X", "y", "train", "test", "origin")


@dataclass(frozen=True)
class Parameters:
    """C and kernel of the repository's SVM: K(u, v) = exp(-|u - v|^2 / width)."""

    C: float
    width: float

    @property
    def gamma(self) -> float:
        """The factor in exp(-gamma |u - v|^2)."""
        return 1.0 / self.width


PARAMETERS = {
    "banana": Parameters(316.2, 1),
    "breast-cancer": Parameters(15.19, 50),
    "diabetis": Parameters(1, 20),
    "flare-solar": Parameters(1.023, 30),
    "german": Parameters(3.162, 55),
    "heart": Parameters(3.162, 120),
    "image": Parameters(500, 30),
    "ringnorm": Parameters(1e9, 10),
    "splice": Parameters(1000, 70),
    "thyroid": Parameters(10, 3),
    "titanic": Parameters(1e5, 2),
    "twonorm": Parameters(3.162, 40),
    "waveform": Parameters(1, 20),
}


@dataclass(frozen=True)
class Split:
    """Training and test rows of one realisation."""

    X: NDArray[np.float64]
    y: NDArray[Any]
    X_test: NDArray[np.float64]
    y_test: NDArray[Any]

    def error(self, machine: Any) -> float:
        """Return the fitted machine's test error in percent."""
        return 100.0 * float(np.mean(machine.predict(self.X_test) != self.y_test))


def share_of(share: float, n_vectors: float) -> int:
    """Return a share of so many vectors, rounded up, one at least."""
    return max(1, math.ceil(share * n_vectors - 1e-9))  # 0.07 * 100 is a little over 7


def arrays(folder: Path | None, name: str) -> dict[str, NDArray[Any]]:
    """Return the arrays of a set, or raise an error that says what is missing."""
    data = _report.arrays(None if folder is None else folder / "ida", name)
    missing = set(ARRAYS) - data.keys()
    if missing:
        raise DataError(f"ida/{name}.npz has no array {min(missing)!r}; use the IDA sets with their original splits")
    return data


def n_original(folder: Path | None, name: str) -> int:
    """Return how many of a set's splits, which come first, are the repository's own."""
    return int((arrays(folder, name)["origin"] > 0).sum())


def n_splits(folder: Path | None, name: str) -> int:
    """Return how many splits a set has, the repository's own and others of the same sizes."""
    return len(arrays(folder, name)["origin"])


def split(folder: Path | None, name: str, position: int) -> Split:
    """Return the rows of one split."""
    data = arrays(folder, name)
    X, y = data["X"].astype(np.float64), data["y"]
    train, test = data["train"][position].astype(np.intp), data["test"][position].astype(np.intp)
    return Split(X[train], y[train], X[test], y[test])
