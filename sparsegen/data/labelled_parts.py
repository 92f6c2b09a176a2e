"""Rows with labels in parts, counted by class: what a method that trains on sums over rows needs to know of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen.arrays import Array
from sparsegen.data.parts import Parts

Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class CodedRows:
    """The rows of one part, and the index of each one's class."""

    X: NDArray[Any]
    index: Indices
    number: int
    """Of the part."""


@dataclass(frozen=True, eq=False)
class LabelledParts:
    """Rows in parts, which are finite numbers, with labels of two classes or more."""

    rows: Parts[CodedRows]
    classes: NDArray[Any]
    """Sorted, as ``numpy.unique`` gives them."""
    counts: NDArray[np.int64]
    """(n_parts, n_classes) rows of each class in each part"""
    n_features: int
    feature_names: NDArray[Any] | None = None
    shuffled: Callable[[int, np.random.RandomState], Iterator[tuple[NDArray[np.float32], Indices]]] | None = None
    """Yields minibatches of so many rows, without end; ``None`` where rows cannot be had in random order."""

    @property
    def n_rows(self) -> int:
        """Rows in all parts."""
        return int(self.counts.sum())

    @property
    def of_class(self) -> NDArray[np.int64]:
        """(n_classes,) rows of each class."""
        return np.asarray(self.counts.sum(axis=0))

    def at(self, places: Indices) -> Array:
        """Return the rows at some places, in the order of ``places``."""
        ends = np.cumsum(self.counts.sum(axis=1))
        found = list(self.rows.each(rows_at, ends - self.counts.sum(axis=1), np.sort(places)))
        return np.concatenate(found)[np.argsort(np.argsort(places))]

    def taken(self, by_class: list[Indices]) -> tuple[Array, Indices]:
        """Return some rows and their classes, in the order of all rows.

        ``by_class`` says for each class which of its rows are wanted, counted within the class from 0.
        """
        before = np.cumsum(self.counts, axis=0) - self.counts
        wanted = [
            [
                ordinals[(ordinals >= first) & (ordinals < first + size)] - first
                for ordinals, first, size in zip(by_class, firsts.tolist(), sizes.tolist(), strict=True)
            ]
            for firsts, sizes in zip(before, self.counts, strict=True)
        ]
        found = list(self.rows.each(rows_of_classes, wanted))
        return np.concatenate([X for X, _ in found]), np.concatenate([index for _, index in found])


def rows_of_classes(part: CodedRows, wanted: list[list[Indices]]) -> tuple[Array, Indices]:
    """Return the wanted rows of a part, in its order; ``wanted[number][k]`` counts within class k."""
    places = [np.flatnonzero(part.index == k)[ordinals] for k, ordinals in enumerate(wanted[part.number])]
    rows = np.sort(np.concatenate(places))
    return np.asarray(part.X[rows], np.float64), part.index[rows]


def rows_at(part: CodedRows, firsts: Indices, places: Indices) -> Array:
    """Return the rows of a part at ascending places among all rows; ``firsts`` are the parts' first places."""
    here = places - firsts[part.number]
    return np.asarray(part.X[here[(here >= 0) & (here < len(part.X))]], np.float64)


def column_sums(part: CodedRows, centre: Array | float = 0.0, power: int = 1) -> tuple[Array]:
    """Return the sum of ``(x - centre)^power`` for every column."""
    return (((np.asarray(part.X, np.float64) - centre) ** power).sum(axis=0),)
