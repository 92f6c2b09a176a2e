"""The rows that scales are chosen on, and the range of values that they fill."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen.arrays import Array
from sparsegen.lowering.locate_data import data_like, stand_in_rows
from sparsegen.model import SparseModel, Transform
from sparsegen.model.task import ANOMALY

ANOMALY_ROOM = 0.25
"""On each side of the range that normal rows fill, as a share of it: the grid gets coarser by half."""


@dataclass(frozen=True)
class Box:
    """The smallest and largest value of every feature."""

    low: Array
    high: Array

    @classmethod
    def around(cls, rows: Array) -> Box:
        """Return the smallest box that holds the rows."""
        return cls(rows.min(axis=0), rows.max(axis=0))

    @classmethod
    def stored(cls, model: SparseModel, key: str) -> Box | None:
        """Return the box that the model's card holds under a key, if any."""
        found = model.card.get(key)
        if found is None:
            return None
        return cls(np.array(found["low"], dtype=np.float64), np.array(found["high"], dtype=np.float64))

    def widened(self, share: float) -> Box:
        """Return the box with room on each side of every feature, in shares of the feature's range."""
        room = share * (self.high - self.low)
        return Box(self.low - room, self.high + room)

    def holds(self, rows: NDArray[Any]) -> NDArray[np.bool_]:
        """Return for every row whether all of its values lie within the box; a NaN does not."""
        return np.asarray(np.all((rows >= self.low) & (rows <= self.high), axis=1))


@dataclass(frozen=True)
class Calibrated:
    """What is known of the data: rows, and the range of every feature."""

    rows: Array
    """The user's, or points made up near the model's vectors."""
    has_data: bool
    """Whether they are the user's."""
    box: Box
    """Of the raw features."""
    projected: Box | None
    """Of what a projection makes of them; ``None`` where there is no projection."""
    origin: str
    """Whose range it is, as a sentence goes on after "the range of"."""


def calibrate(model: SparseModel, rows: Array | None) -> Calibrated:
    """Return what rows tell of the data; without rows, what the model's card and its vectors tell."""
    T = model.transform
    if rows is not None:
        rows = T.filled(rows)
        box, origin = _with_fill(_with_room(Box.around(rows), model), T), f"the {len(rows)} calibration rows"
        return Calibrated(rows, True, box, None if T.projection is None else Box.around(T(rows)), origin)
    stored = Box.stored(model, "ranges")
    box = _with_fill(_with_room(Box.around(data_like(model)) if stored is None else stored, model), T)
    made_up = stand_in_rows(model, box.low, box.high)
    projected = None
    if T.projection is not None:
        projected = Box.stored(model, "projected_ranges") or Box.around(T(made_up))
    origin = "points around the model's vectors" if stored is None else _training_rows(model)
    return Calibrated(made_up, False, box, projected, origin)


def _with_room(box: Box, model: SparseModel) -> Box:
    """Return the box with room for what lies beyond it, where a model is asked just about that.

    A value beyond the range counts as its nearest end: without room, as one that a normal row may have.
    """
    return box.widened(ANOMALY_ROOM) if model.task == ANOMALY else box


def _with_fill(box: Box, T: Transform) -> Box:
    """Return the box, and with it what a NaN counts as."""
    return box if T.fill is None else Box.around(np.vstack([box.low, box.high, T.fill]))


def _training_rows(model: SparseModel) -> str:
    data = model.card.get("data")
    count = data.get("rows") if isinstance(data, dict) else None
    return f"the {count} training rows" if type(count) is int else "the training rows"
