"""The sets of the frontier: rows, how a device reads them, and what was published for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from benchmarks import _ida, _report


@dataclass(frozen=True)
class Published:
    """A model that others have published: its name, accuracy in percent, and kilobytes."""

    name: str
    accuracy: float
    kilobytes: float


@dataclass(frozen=True)
class Problem:
    """Rows for training and for the test, as a device reads them."""

    X: NDArray[np.float32]
    y: NDArray[Any]
    X_test: NDArray[np.float32]
    y_test: NDArray[Any]
    reads: str
    """The input kind of an integer export."""
    side: int | None = None
    """Pixels along the side of a square image."""


@dataclass(frozen=True)
class Source:
    """Where a problem comes from, the kilobytes to try, and what it is compared with."""

    load: Callable[[Path | None], Problem]
    kilobytes: tuple[float, ...]
    published: tuple[Published, ...] = ()


def _file(name: str, reads: str, side: int | None = None, *, odd_even: bool = False) -> Callable[..., Problem]:
    def load(folder: Path | None) -> Problem:
        given = _report.arrays(folder, name)
        X, X_test = (given[key].astype(np.float32) for key in ("X_train", "X_test"))
        y, y_test = (given[key] % 2 if odd_even else given[key] for key in ("y_train", "y_test"))
        return Problem(X, y, X_test, y_test, reads, side)

    return load


def _digits(folder: Path | None) -> Problem:
    X, y = load_digits(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X.astype(np.float32), y, test_size=1 / 3, random_state=0, stratify=y)
    return Problem(X, y, X_test, y_test, "raw-uint8", 8)


def _of_ida(name: str) -> Callable[..., Problem]:
    def load(folder: Path | None) -> Problem:
        split = _ida.split(folder, name, 0)
        X, X_test = (rows.astype(np.float32) for rows in (split.X, split.X_test))
        return Problem(X, split.y, X_test, split.y_test, "grid")

    return load


SOURCES = {
    "mnist": Source(
        _file("mnist", "raw-uint8", 28),
        (2, 4, 8, 16, 32, 64),
        (Published("ProtoNN", 95.88, 64), Published("Bonsai", 97.01, 84)),
    ),
    "mnist odd/even": Source(
        _file("mnist", "raw-uint8", 28, odd_even=True),
        (1, 2, 4, 8, 16),
        (Published("Bonsai", 94.38, 2), Published("Bonsai", 96.5, 16)),
    ),
    "letter": Source(_file("letter", "raw-uint8"), (4, 8, 16, 20, 32, 64), (Published("ProtoNN", 97.10, 64),)),
    "usps": Source(_file("usps", "grid", 16), (2, 4, 8, 10, 16, 24, 32, 64), (Published("ProtoNN", 94.92, 64),)),
    "usps odd/even": Source(_file("usps", "grid", 16, odd_even=True), (1, 1.3, 2, 4), (Published("Bonsai", 94.42, 2),)),
    "digits": Source(_digits, (1.5, 2, 4, 8)),
    "banana": Source(_of_ida("banana"), (1, 2)),
    "image": Source(_of_ida("image"), (1, 2, 4)),
}
