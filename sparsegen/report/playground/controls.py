"""The range of every control: what the rows show of each feature."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparsegen.arrays import Array

STEPS = 200
"""About how many steps a slider has."""
ALIKE = 8.0
"""Features whose ranges differ by at most this factor share one axis."""


@dataclass(frozen=True)
class Controls:
    """What the rows show of each feature."""

    low: Array
    """The smallest value in the rows."""
    high: Array
    middle: Array
    """The medians: where every control starts."""
    begin: Array
    """Where a control begins: the smallest value, or that of all features where they share an axis."""
    end: Array
    step: Array
    """1, 2 or 5 times a power of ten; 1 for whole numbers."""
    shares_axis: bool
    """Whether one axis shows all features well."""


def controls(X: Array, *, whole: bool) -> Controls:
    """Return the controls for the features of raw rows; ``whole`` where a program reads whole numbers.

    A feature that never changes has room around its only value, so that it can be tried.
    """
    known = np.where(np.isnan(X).all(axis=0), 0.0, X)
    low, high, middle = np.nanmin(known, axis=0), np.nanmax(known, axis=0), np.nanmedian(known, axis=0)
    is_whole = whole | np.all(np.isnan(X) | (np.rint(X) == X), axis=0)
    middle = np.where(is_whole, np.rint(middle), middle)
    is_constant = high <= low
    shares_axis = _share_axis(low[~is_constant], high[~is_constant])
    if shares_axis:
        begin, end = np.full_like(low, low.min()), np.full_like(high, high.max())
    else:
        room = np.where(is_constant, np.where(is_whole, 1.0, np.maximum(np.abs(low), 1.0) / 2.0), 0.0)
        begin, end = low - room, high + room
    step = np.where(is_whole, 1.0, _nice((end - begin) / STEPS))
    return Controls(low, high, middle, begin, end, step, shares_axis)


def _share_axis(low: Array, high: Array) -> bool:
    """Return whether no range is much larger than the usual one, nor far away from the others."""
    if len(low) == 0:
        return False
    usual = float(np.median(high - low))
    return float(high.max() - low.min()) <= ALIKE * usual


def _nice(steps: Array) -> Array:
    """Return the largest of 1, 2 and 5 times a power of ten that is not above each number."""
    power = 10.0 ** np.floor(np.log10(np.maximum(steps, 1e-300)))
    first = steps / power
    return np.asarray(power * np.where(first >= 5.0, 5.0, np.where(first >= 2.0, 2.0, 1.0)))
