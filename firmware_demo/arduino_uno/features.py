"""The features of features.c in NumPy, equal to the bit, so that training sees exactly what the device computes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

AXES = 3
BLOCK = 64
"""Samples. A window is two blocks; each block ends one window and starts the next."""
NAMES = tuple(f"{what}_{axis}" for axis in "xyz" for what in ("mean", "spread", "movement"))


def windows(samples: NDArray[np.int16]) -> NDArray[np.int16]:
    """Return one row of features for every window of one recording, (n, 3) accelerations as the sensor gives them."""
    value = (samples.astype(np.int64) + 32768 >> 5) - 1024
    step = np.abs(np.diff(value, axis=0, prepend=value[:1]))
    blocks = len(value) // BLOCK
    value, step = (array[: blocks * BLOCK].reshape(blocks, BLOCK, AXES) for array in (value, step))
    total, squares, movement = (sums[:-1] + sums[1:] for sums in (value.sum(1), (value * value).sum(1), step.sum(1)))
    mean, rest = total // (2 * BLOCK), total % (2 * BLOCK)
    deviations = squares - (2 * BLOCK * mean * mean + 2 * mean * rest + rest * rest // (2 * BLOCK))
    spread = _root(_root(deviations) << 8)
    features = np.stack([total >> 3, spread, _root(movement << 4)], axis=2)
    return features.reshape(-1, AXES * 3).astype(np.int16)


def _root(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return square roots, rounded down; exact, since the numbers are below 2^52."""
    return np.floor(np.sqrt(numbers)).astype(np.int64)
