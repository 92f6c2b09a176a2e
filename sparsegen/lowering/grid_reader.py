"""GridReader: how a raw feature becomes an index of the grid."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen.arrays import Array
from sparsegen.lowering.calibrate import Box
from sparsegen.lowering.curves import Integers
from sparsegen.lowering.formats import InputKind


@dataclass(frozen=True)
class GridReader(ABC):
    """How a raw feature becomes an index of the grid: 0 to ``levels``."""

    kind: InputKind
    levels: int

    @property
    @abstractmethod
    def is_identity(self) -> bool:
        """Whether features are already indices of the grid."""

    @abstractmethod
    def __call__(self, inputs: NDArray[Any]) -> Integers:
        """Return the grid indices of rows in the program's input type."""

    @abstractmethod
    def error(self, low: Array, step: Array, inside: Box) -> Array:
        """Return how far an index may lie from its feature, in steps, for inputs between the ends of a box.

        ``low`` is the value of index 0, and neighbours are ``step`` apart.
        """

    @abstractmethod
    def intervals(self) -> dict[str, tuple[int, int]]:
        """Return the smallest and largest value of every intermediate result, whatever the inputs are."""


@dataclass(frozen=True)
class IndexReader(GridReader):
    """Indices are taken as they are."""

    @property
    def is_identity(self) -> bool:
        """Whether features are already indices of the grid."""
        return True

    def __call__(self, inputs: NDArray[Any]) -> Integers:
        """Return the grid indices of rows in the program's input type."""
        return inputs.astype(np.int64)

    def error(self, low: Array, step: Array, inside: Box) -> Array:
        """Return how far an index may lie from its feature, in steps, for inputs between the ends of a box."""
        return np.zeros(len(low))

    def intervals(self) -> dict[str, tuple[int, int]]:
        """Return the smallest and largest value of every intermediate result, whatever the inputs are."""
        return {}
