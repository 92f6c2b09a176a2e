"""The raw side of an integer program: the range of its inputs, and steps that each feature has for itself."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sparsegen.arrays import Array
from sparsegen.lowering.calibrate import Box
from sparsegen.lowering.formats import InputKind
from sparsegen.lowering.grid_reader import GridReader
from sparsegen.lowering.group_features import weighed_alike
from sparsegen.lowering.program import float32
from sparsegen.model import Transform

SHARING_MAY_COST = 1.05  # times what is lost without
WHOLE_TOLERANCE = 1e-9  # a number this close to a whole one counts as whole


@dataclass(frozen=True)
class OwnSteps:
    """A grid on which each feature has its own step."""

    low: Array
    """Value of index 0."""
    step: Array
    levels: int
    """The largest index of any feature."""


def as_read(box: Box, reads: InputKind) -> Box:
    """Return the box as the device reads its values: rounding never changes the order of two values."""
    if reads.is_float:
        return Box(*(float32(side).astype(np.float64) for side in (box.low, box.high)))
    if reads.dtype is None:
        return box
    limits = np.iinfo(reads.dtype)
    return Box(*(np.clip(np.rint(side), limits.min, limits.max) for side in (box.low, box.high)))


def own_steps(box: Box, T: Transform, most: int, reads: InputKind) -> OwnSteps:
    """Return steps with indices up to ``most``; raw integers keep a step of 1 where the range allows it."""
    if reads.dtype == np.uint8 and most == np.iinfo(np.uint8).max:
        return OwnSteps(np.zeros_like(box.low), np.ones_like(box.low), most)  # a byte, as of a pixel, is its own index
    span = box.high - box.low
    if reads.is_raw_integer:
        step = np.maximum(span / most, 1.0)
        return OwnSteps(box.low, step, max(1, math.ceil(np.max(span / step) - WHOLE_TOLERANCE)))
    step = np.where(span > 0.0, span, 1.0 / np.abs(T.scale)) / most  # a constant feature: one unit of the scaler
    return OwnSteps(box.low, step, most)


def shared_steps(box: Box, T: Transform, most: int, reads: InputKind, weights: Array) -> OwnSteps | None:
    """Return one step for all features, over the range of all; ``None`` where more would be lost than with their own.

    ``weights`` (outputs, features) say how much a raw feature moves what is computed from it. Reading loses part of a
    step, weighted; rounded weights lose part of every index.
    """
    whole = Box(np.full_like(box.low, box.low.min()), np.full_like(box.high, box.high.max()))
    shared, own = (own_steps(around, T, most, reads) for around in (whole, box))
    read, read_alone = (np.abs(weights) @ steps.step for steps in (shared, own))
    reach, reach_alone = (np.sum((box.high - steps.low) / steps.step) for steps in (shared, own))
    is_close = np.all(read <= SHARING_MAY_COST * read_alone) and reach <= SHARING_MAY_COST * reach_alone
    return shared if is_close else None


def projected_steps(box: Box, T: Transform, most: int, reads: InputKind) -> OwnSteps:
    """Return steps of which features share one that the projection weighs alike, over the range of them all.

    A pixel that is always 0 among others that are not then keeps its weight equal to theirs.
    """
    if T.projection is None:
        return own_steps(box, T, most, reads)
    first = weighed_alike(T.projection * T.scale)
    low, high = box.low.copy(), box.high.copy()
    np.minimum.at(low, first, box.low)
    np.maximum.at(high, first, box.high)
    own = own_steps(Box(low[first], high[first]), T, most, reads)
    return OwnSteps(own.low[first], own.step[first], own.levels)


def grid_range(box: Box, low: Array, step: Array, levels: int) -> Box:
    """Return all that a grid can tell apart, without a sign that the box does not have."""
    ends = low - step / 2.0, low + (levels + 0.5) * step
    return Box(
        np.where(box.low >= 0.0, np.maximum(ends[0], 0.0), ends[0]),
        np.where(box.high <= 0.0, np.minimum(ends[1], 0.0), ends[1]),
    )


def covered(wanted: Box, reader: GridReader) -> Box:
    """Return the inputs between the ends of a box, as the program reads them."""
    if reader.kind.is_grid:
        return Box(np.zeros_like(wanted.low), np.full_like(wanted.low, reader.levels))
    if reader.kind.is_float:
        low, high = float32(wanted.low), float32(wanted.high)
        least = np.where(low < wanted.low, np.nextafter(low, np.float32(np.inf)), low).astype(np.float64)
        largest = np.where(high > wanted.high, np.nextafter(high, np.float32(-np.inf)), high).astype(np.float64)
    else:
        limits = np.iinfo(reader.kind.dtype)
        least = np.clip(np.ceil(wanted.low), limits.min, limits.max)
        largest = np.clip(np.floor(wanted.high), limits.min, limits.max)
    return Box(least, np.maximum(least, largest))
