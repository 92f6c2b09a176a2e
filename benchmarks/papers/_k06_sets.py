"""The two-class problems of [K06]: sets of the IDA repository by name, and pairs made of larger sets."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks import _ida, _report
from benchmarks.papers._lab import Lab
from sparsegen.arrays import Array


@dataclass(frozen=True)
class Pair:
    """A file, the labels of the positive class and those of the negative one."""

    file: str
    positive: tuple[int, ...]
    negative: tuple[int, ...]
    standardize: bool = False
    """Whether the features have units of their own: shift and scale them as the training rows ask."""


PAIRS = {
    "Adult": Pair("adult", (1,), (-1,)),
    "Shuttle": Pair("shuttle", (1,), (2, 3, 4, 5, 6, 7), standardize=True),
    "M3V8": Pair("mnist", (3,), (8,)),
    "M3VOthers": Pair("mnist", (3,), (0, 1, 2, 4, 5, 6, 7, 8, 9)),
    "letter": Pair("letter", tuple(range(13)), tuple(range(13, 26))),
}
DRAWS = 3
"""Random choices of training rows that stand for the splits of a pair."""


def positions(lab: Lab, name: str) -> range:
    """Return the positions of the splits to use: of an IDA set the lab's, of a pair a few draws."""
    return range(min(lab.splits, DRAWS)) if name in PAIRS else lab.positions(name)


@lru_cache(maxsize=2)
def rows_of(folder: Path | None, name: str, position: int, most: int | None = None) -> _ida.Split:
    """Return the rows of an IDA split, or all test rows of a pair and its training rows in random order.

    Of a pair, at most ``most`` training rows are taken; ``position`` is the seed of their order. The last rows asked
    for are kept: a grid of parameters asks for the same ones again and again.
    """
    pair = PAIRS.get(name)
    if pair is None:
        return _ida.split(folder, name, position)
    data = _report.arrays(folder, pair.file)
    used = {p: np.flatnonzero(np.isin(data[f"y_{p}"], pair.positive + pair.negative)) for p in ("train", "test")}
    used["train"] = np.random.default_rng(position).permutation(used["train"])[:most]
    X, X_test = (data[f"X_{part}"][rows].astype(float) for part, rows in used.items())
    if pair.standardize:
        shift, scale = X.mean(axis=0), X.std(axis=0)
        scale[scale == 0.0] = 1.0
        X, X_test = (X - shift) / scale, (X_test - shift) / scale
    y, y_test = (np.where(np.isin(data[f"y_{part}"][rows], pair.positive), 1, -1) for part, rows in used.items())
    return _ida.Split(X, y, X_test, y_test)


def sign_error(scores: Array, y: NDArray[np.int_]) -> float:
    """Return how many percent of the signs differ from ``y``."""
    return 100.0 * float(np.mean(np.where(scores > 0, 1, -1) != y))
