"""Which classes a model tells apart: rows by their true class and by the label they were given."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

MAX_MATRIX = 64
"""Classes beyond which a card holds the counts of each class, not of each pair."""
COUNTS = ("rows", "given", "correct")


@dataclass(frozen=True)
class Confusion:
    """Counts by class, in the order of a model's classes."""

    rows: tuple[int, ...]
    """Rows of each class."""
    given: tuple[int, ...]
    """Rows that were given the label of each class."""
    correct: tuple[int, ...]
    matrix: tuple[tuple[int, ...], ...] | None = None
    """Rows by true class, then by given label; ``None`` where there are too many classes."""

    @classmethod
    def count(cls, truth: NDArray[np.integer[Any]], given: NDArray[np.integer[Any]], n_classes: int) -> Confusion:
        """Return the counts of rows whose class and label are indices; every one must be a class."""
        if n_classes > MAX_MATRIX:
            indices = (truth, given, truth[truth == given])
            return cls(*(tuple(np.bincount(index, minlength=n_classes).tolist()) for index in indices))
        cells = np.bincount(truth * n_classes + given, minlength=n_classes**2)
        return cls.of_matrix(cells.reshape(n_classes, n_classes).tolist())

    @classmethod
    def of_matrix(cls, matrix: Sequence[Sequence[int]]) -> Confusion:
        """Return the counts in a matrix."""
        return cls(
            tuple(map(sum, matrix)),
            tuple(map(sum, zip(*matrix, strict=True))),
            tuple(row[k] for k, row in enumerate(matrix)),
            tuple(map(tuple, matrix)),
        )

    @classmethod
    def from_card(cls, card: Mapping[str, Any]) -> Confusion | None:
        """Return what a model's card holds, if anything."""
        if card.get("confusion") is not None:
            return cls.of_matrix(card["confusion"])
        counts = card.get("class_counts")
        return None if counts is None else cls(*(tuple(counts[name]) for name in COUNTS))

    def for_card(self) -> dict[str, Any]:
        """Return the fields of a model's card."""
        if self.matrix is not None:
            return {"confusion": [list(row) for row in self.matrix]}
        return {"class_counts": {name: list(getattr(self, name)) for name in COUNTS}}

    @property
    def recalls(self) -> tuple[float | None, ...]:
        """By class, the share of its rows that were found; ``None`` for a class without rows."""
        return _shares(self.correct, self.rows)

    @property
    def precisions(self) -> tuple[float | None, ...]:
        """By class, the share of right ones among the rows given its label; ``None`` where none was."""
        return _shares(self.correct, self.given)

    @property
    def accuracy(self) -> float:
        """Share of all rows labelled correctly."""
        return sum(self.correct) / sum(self.rows)

    @property
    def is_uneven(self) -> bool:
        """Whether one class has twice the rows of another, so that accuracy and balanced accuracy may differ widely."""
        return max(self.rows) >= 2 * min(self.rows)

    @property
    def balanced(self) -> float:
        """Mean recall of the classes that have rows."""
        found = [recall for recall in self.recalls if recall is not None]
        return sum(found) / len(found)

    @property
    def f1(self) -> float:
        """Mean over classes of the harmonic mean of precision and recall."""
        both = [rows + given for rows, given in zip(self.rows, self.given, strict=True)]
        found = [2 * right / n for right, n in zip(self.correct, both, strict=True) if n]
        return sum(found) / len(found)

    def by_class(self, classes: Sequence[int | str]) -> list[dict[str, Any]]:
        """Return rows, precision and recall of each of a model's classes, as plain JSON values."""
        columns = zip(classes, self.rows, self.precisions, self.recalls, strict=True)
        return [dict(zip(("class", "rows", "precision", "recall"), row, strict=True)) for row in columns]


METRICS: Mapping[str, Callable[[Confusion], float]] = {
    "accuracy": lambda found: found.accuracy,
    "balanced": lambda found: found.balanced,
    "f1": lambda found: found.f1,
}
"""What gamma and C can be chosen for."""


def _shares(parts: Sequence[int], wholes: Sequence[int]) -> tuple[float | None, ...]:
    return tuple(part / whole if whole else None for part, whole in zip(parts, wholes, strict=True))
