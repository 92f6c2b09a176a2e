"""How training went: the tested model, its accuracy over all rows and by class, and what a user should know of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sparsegen.data import Dataset
from sparsegen.data.alike_rows import copied_rows
from sparsegen.model import Label, SparseModel
from sparsegen.model.confusion import Confusion
from sparsegen.promised import Accuracy, wilson, worth
from sparsegen.training.choose import SearchResult

FAR = 0.1
"""How far the recall of a class must surely lie below the accuracy before it is told."""


@dataclass(frozen=True)
class TrainingReport:
    """A trained model and how training went."""

    model: SparseModel
    tested: SparseModel
    """The model that was tested; another than ``model`` where that was trained again on all rows."""
    result: Accuracy
    confusion: Confusion
    """The test rows by class."""
    train_rows: int
    seconds: float
    search: SearchResult | None
    warnings: tuple[str, ...]

    @property
    def accuracy(self) -> float:
        """Share of the test rows that the tested model labels correctly."""
        return self.result.share

    @property
    def test_rows(self) -> int:
        """Number of test rows."""
        return self.result.rows

    @property
    def is_final(self) -> bool:
        """Whether the model was trained again on all rows, test rows included."""
        return self.tested is not self.model


def measure(model: SparseModel, train_set: Dataset, test_set: Dataset) -> tuple[Accuracy, Confusion]:
    """Return how well a model labels test rows; every one has a label that is a class of the model."""
    # Searched in sorted order: a model may list its classes in another.
    order = np.argsort(np.array(model.classes))
    truth = order[np.searchsorted(np.array(model.classes)[order], test_set.y)]
    found = Confusion.count(truth, model.predict_index(test_set.X), len(model.classes))
    return replace(test_accuracy(test_set, sum(found.correct)), copies=copied_rows(train_set, test_set)), found


def test_accuracy(test_set: Dataset, correct: int) -> Accuracy:
    """Return the accuracy where so many of the test rows are right; rows of one group are not independent."""
    if test_set.groups is None:
        return Accuracy(correct, len(test_set.y))
    sizes = np.unique(test_set.groups, return_counts=True)[1].tolist()
    return Accuracy(correct, len(test_set.y), worth(sizes), len(sizes))


def tested_card(result: Accuracy, confusion: Confusion) -> dict[str, Any]:
    """Return what a model's card keeps of its test."""
    card = {"accuracy": result.share, "test_rows": result.rows, **confusion.for_card()}
    if result.copies:
        card["test_copies"] = result.copies
    if result.groups is not None:
        card |= {"test_groups": result.groups, "test_independent": result.independent}
    return card


def class_warnings(
    classes: tuple[Label, ...], found: Confusion, is_balanced: bool = False, is_weighed: bool = False
) -> list[str]:
    """Return what the accuracy over all rows hides: classes that are hardly found, and such without a test row.

    What was done already, choosing for balanced accuracy or weighing the classes, is not advised again.
    """
    told = []
    counts = list(zip(classes, found.correct, found.rows, strict=True))
    missed = [
        f"{label!r} ({rows - correct} of its {rows} test rows)"
        for label, correct, rows in counts
        if rows and wilson(correct / rows, rows)[1] < found.accuracy - FAR
    ]
    if missed:
        ways = ["bring more rows of them"]
        ways += [] if is_weighed else ["weigh the classes"]
        ways += [] if is_balanced else ["choose gamma and C for balanced accuracy"]
        advice = ways[0] if len(ways) == 1 else ", or ".join([", ".join(ways[:-1]), ways[-1]])
        told.append(f"the accuracy hides how often some classes are missed: {some(missed)}; {advice}")
    unseen = [repr(label) for label, _, rows in counts if not rows]
    if unseen:
        told.append(f"no test row has the class {some(unseen)}: how often it is found is not known; bring more rows")
    return told


def some(names: Iterable[str], most: int = 5) -> str:
    """Return the first few names, and how many more there are."""
    listed = list(names)
    return ", ".join(listed[:most]) + (f" and {len(listed) - most} more" if len(listed) > most else "")
