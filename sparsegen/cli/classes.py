"""Precision, recall and confusion of classes, as ``train`` and ``inspect`` print them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sparsegen.cli.console import or_dash, print_table, say, visible
from sparsegen.promised import percent

if TYPE_CHECKING:
    from sparsegen.model import Label
    from sparsegen.model.confusion import Confusion

SHOWN_CLASSES = 10
BESIDE, OWN_TABLE = 6, 10  # classes up to which the matrix fits beside the shares, or into 80 columns
MATRIX_WIDTH = (
    30  # characters that the names of its columns may share: of few classes more than the beginnings are seen
)
SHOWN_PAIRS = 5


def print_classes(classes: Sequence[Label], found: Confusion, *, every: bool = False) -> None:
    """Print precision and recall, and how often which class is taken for which; of many classes only the worst."""
    order = sorted(range(len(classes)), key=lambda k: (1.0 if (recall := found.recalls[k]) is None else recall, k))
    shown = range(len(classes)) if every or len(classes) <= SHOWN_CLASSES else order[:SHOWN_CLASSES]
    worst = "" if len(shown) == len(classes) else f": the {len(shown)} of {len(classes)} with the lowest recall"
    rows: list[tuple[object, ...]] = [
        (classes[k], found.rows[k], or_dash(found.precisions[k], percent), or_dash(found.recalls[k], percent))
        for k in shown
    ]
    columns: tuple[str, ...] = ("class", "rows", "precision", "recall")
    headings = tuple(f"as\n{_short(label, max(6, MATRIX_WIDTH // len(classes)))}" for label in classes)
    matrix = found.matrix if len(classes) <= OWN_TABLE else None
    if matrix is not None and len(classes) <= BESIDE:
        columns += headings
        rows = [(*row, *matrix[k]) for row, k in zip(rows, shown, strict=True)]
    print_table(f"test rows by class{worst}", columns, rows)
    if matrix is not None and len(classes) > BESIDE:
        by_class = [(label, *counts) for label, counts in zip(classes, matrix, strict=True)]
        print_table("what the test rows of each class are taken for", ("class", *headings), by_class)
    if matrix is None and (pairs := _pairs(classes, found)):
        say(f"taken for another most often: {', '.join(pairs)}")


def _short(label: Label, most: int) -> str:
    text = visible(label)
    return text if len(text) <= most else f"{text[: most - 1]}."


def _pairs(classes: Sequence[Label], found: Confusion) -> list[str]:
    """Return the pairs of classes that are confused most often."""
    cells = [
        (count, i, j) for i, row in enumerate(found.matrix or ()) for j, count in enumerate(row) if count and i != j
    ]
    worst = sorted(cells, key=lambda cell: (-cell[0], cell[1:]))[:SHOWN_PAIRS]
    return [f"{classes[i]} for {classes[j]} ({count} of {found.rows[i]} rows)" for count, i, j in worst]
