"""Features that a projection weighs alike: it needs only their sum, and its table one column for all of them.

    sum_j w_g(j) q_j = sum_g w_g * (sum of the q_j in group g)

Integers add up to the same value in any order, so the sums change no bit of the result. Features with the weight 0
everywhere need not be read at all. A device finds the group of a feature in one of two ways:

blocks   the features are an image, row by row, cut into blocks: only loops. A series is an image of one row, and
         interleaved channels are an image with one column per channel. Bits may say which blocks are read.
table    an entry for every feature.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen.arrays import Array
from sparsegen.lowering.curves import Integers

ALIKE = 9  # decimals in which columns must agree, once their largest weight has one digit before the point
RAM_WEIGHT = 4  # a byte of RAM is worth about as many of flash
LOOPS_BYTES, BITS_BYTES = 64, 24  # instructions that sums take, and choosing blocks by bits
UNSIGNED: tuple[np.dtype[np.unsignedinteger[Any]], ...] = (np.dtype(np.uint8), np.dtype(np.uint16), np.dtype(np.uint32))


@dataclass(frozen=True)
class Blocks:
    """An image of features cut into blocks; those at its right and lower edge may be cut short."""

    height: int
    width: int
    block_height: int
    block_width: int

    @property
    def across(self) -> int:
        """Blocks side by side."""
        return -(-self.width // self.block_width)

    @property
    def number(self) -> int:
        """Number of blocks."""
        return -(-self.height // self.block_height) * self.across

    @property
    def of_feature(self) -> Integers:
        """The block of every feature."""
        row, column = np.divmod(np.arange(self.height * self.width), self.width)
        return np.asarray(row // self.block_height * self.across + column // self.block_width, dtype=np.int64)


@dataclass(frozen=True)
class FeatureGroups:
    """Groups of features, each with one column of weights."""

    weights: Integers
    """(projected values, groups)."""
    of_feature: Integers
    """The group of every feature; -1 if it is not read."""
    blocks: Blocks | None
    """The image that the groups are blocks of, in order; ``None`` if they need a table."""
    levels: int
    """The largest value of a feature."""

    @property
    def number(self) -> int:
        """Number of groups."""
        return int(self.weights.shape[1])

    @property
    def drops_features(self) -> bool:
        """Whether some features are not read."""
        return bool(np.any(self.of_feature < 0))

    @property
    def largest_sum(self) -> int:
        """The most that the features of a group add up to."""
        return self.levels * int(np.bincount(self.of_feature[self.of_feature >= 0], minlength=1).max())

    @property
    def sum_dtype(self) -> np.dtype[Any]:
        """The smallest type that holds every sum; only sums with the weight 0 may exceed the largest."""
        return next((t for t in UNSIGNED if self.largest_sum <= np.iinfo(t).max), UNSIGNED[-1])

    @property
    def buffer_bytes(self) -> int:
        """Bytes of all sums."""
        return self.number * self.sum_dtype.itemsize

    @property
    def read_blocks(self) -> NDArray[np.bool_] | None:
        """For every block whether it is read; ``None`` if all are, or if there are none."""
        if self.blocks is None or not self.drops_features:
            return None
        read = np.zeros(self.blocks.number, dtype=np.bool_)
        read[self.blocks.of_feature[self.of_feature >= 0]] = True
        return read

    @property
    def table_dtype(self) -> np.dtype[Any]:
        """The type of a table's entry; groups count from 0, and features that are not read are one group more."""
        last = self.number - 1 + self.drops_features
        return next(t for t in UNSIGNED if last <= np.iinfo(t).max)

    @property
    def table(self) -> Integers:
        """The group of every feature, for a table: those that are not read count as one group more."""
        return np.where(self.of_feature < 0, self.number, self.of_feature)

    def flash_bytes(self, entry_bytes: int) -> int:
        """Return about how many bytes weights of a size take, with what finds the groups."""
        size = self.weights.size * entry_bytes + LOOPS_BYTES
        if self.blocks is None:
            return size + self.table.size * self.table_dtype.itemsize
        return size + (0 if self.read_blocks is None else -(-self.blocks.number // 8) + BITS_BYTES)


def group_features(weights: Integers, levels: int, entry_bytes: int, buffer_bytes: int) -> FeatureGroups | None:
    """Return the groups that take the least memory; ``None`` if single features, in a buffer, take no more."""
    plain = weights.size * entry_bytes + RAM_WEIGHT * buffer_bytes
    costs = [
        (groups.flash_bytes(entry_bytes) + RAM_WEIGHT * groups.buffer_bytes, groups)
        for groups in _candidates(weights, levels)
    ]
    cost, cheapest = min(costs, key=lambda pair: pair[0], default=(plain, None))  # the first of several
    return cheapest if cost < plain else None


def weighed_alike(columns: Array | Integers) -> Integers:
    """Return for every column the first one that equals it, but for the last digits of its own size."""
    size = np.abs(columns).max(axis=0, initial=0.0)
    power = np.floor(np.log10(np.where(size > 0.0, size, 1.0)))
    digits = np.round(columns / 10.0**power, ALIKE) + 0.0  # 0.0 instead of -0.0
    _, first, label = np.unique(np.vstack([power, digits]), axis=1, return_index=True, return_inverse=True)
    return np.asarray(first[label.ravel()], dtype=np.int64)


def _candidates(weights: Integers, levels: int) -> Iterator[FeatureGroups]:
    first = weighed_alike(weights)
    if not np.any(weights):
        return
    is_read = np.any(weights, axis=0)
    blocks = min(_images(first), key=lambda found: (found.number, -found.width))
    yield _numbered(weights, blocks.of_feature, blocks, levels)
    yield _numbered(weights, np.where(is_read, blocks.of_feature, -1), blocks, levels)
    yield _numbered(weights, np.where(is_read, first, -1), None, levels)


def _numbered(weights: Integers, label: Integers, blocks: Blocks | None, levels: int) -> FeatureGroups:
    """Return groups numbered by their labels, without gaps; a label of -1 is no group."""
    labels, corner, number = np.unique(label, return_index=True, return_inverse=True)
    unread = int(labels[0] < 0)
    return FeatureGroups(weights[:, corner[unread:]], number.ravel() - unread, blocks, levels)


def _images(first: Integers) -> Iterator[Blocks]:
    """Return for every width that divides the features the largest blocks within which all columns are equal."""
    n = len(first)
    for width in range(1, n + 1):
        if n % width == 0:
            image = first.reshape(-1, width)
            down = np.flatnonzero(np.any(image[1:] != image[:-1], axis=1)) + 1
            right = np.flatnonzero(np.any(image[:, 1:] != image[:, :-1], axis=0)) + 1
            yield Blocks(len(image), width, math.gcd(*down.tolist()) or len(image), math.gcd(*right.tolist()) or width)
