"""Which classes are told apart: the confusion matrix, and recall and precision of each class with their intervals."""

from __future__ import annotations

from dataclasses import dataclass

from sparsegen.model.confusion import Confusion
from sparsegen.promised import Accuracy, between, percent
from sparsegen.report.figures import DASH, plural
from sparsegen.report.html import fill
from sparsegen.report.section import Section
from sparsegen.report.subject import Subject

MOST_MATRIX = 40
"""Classes beyond which a matrix on a page is no help."""
SHADES = 9


@dataclass(frozen=True)
class Cell:
    """Rows of one class that were given one label."""

    count: str
    shade: str
    """Class of the style sheet: darker for a larger share of the class's rows."""
    told: str
    """The cell in words."""


@dataclass(frozen=True)
class MatrixRow:
    """One class and the labels that its rows were given."""

    label: str
    cells: list[Cell]


@dataclass(frozen=True)
class ClassLine:
    """One class in the table."""

    label: str
    rows: str
    recall: str
    recall_interval: str
    precision: str
    precision_interval: str


def section(subject: Subject) -> Section | None:
    """Return the section; ``None`` for a model of another task, or where no row has a class that it knows."""
    if not subject.has_classes or subject.is_detector:
        return None
    tested, answers = subject.tested, subject.answers
    found = answers.confusion(len(subject.classes))
    if found is None:
        return None
    matrix = found.matrix if len(subject.classes) <= MOST_MATRIX else None
    rows = [] if matrix is None else [_matrix_row(subject, k, counts) for k, counts in enumerate(matrix)]
    html = fill(
        "classes.html.j2",
        accuracy=percent(answers.accuracy.share),
        which=tested.which,
        condition=answers.condition,
        balanced=percent(found.balanced) if found.is_uneven else None,
        unknown=plural(answers.unknown, "row") if answers.unknown else None,
        labels=subject.classes,
        matrix=rows,
        confused=_confused(subject, found),
        lines=[_line(answers.accuracy, label, found, k) for k, label in enumerate(subject.classes)],
    )
    return Section("classes", "Which classes are told apart", html)


def _matrix_row(subject: Subject, k: int, counts: tuple[int, ...]) -> MatrixRow:
    total, labels = sum(counts), subject.classes
    cells = []
    for j, count in enumerate(counts):
        part = count / total if total else 0.0
        kind = "hit" if j == k else "miss"
        shade = f"{kind} s{max(1, round(SHADES * part))}" if count else f"{kind} s0"
        told = f"{count} of {plural(total, 'row')} of {labels[k]} labelled {labels[j]}"
        cells.append(Cell(str(count) if count else "·", shade, told))
    return MatrixRow(labels[k], cells)


def _confused(subject: Subject, found: Confusion) -> list[str]:
    """Return the pairs that are taken for one another most often, in words."""
    if found.matrix is None:
        return []
    pairs = [(count, a, b) for a, row in enumerate(found.matrix) for b, count in enumerate(row) if a != b and count]
    names = subject.classes
    return [f"{names[a]} taken for {names[b]}: {plural(n, 'row')}" for n, a, b in sorted(pairs, key=_most)[:3]]


def _most(pair: tuple[int, int, int]) -> tuple[int, int, int]:
    return -pair[0], pair[1], pair[2]


def _line(accuracy: Accuracy, label: str, found: Confusion, k: int) -> ClassLine:
    right, rows, given = found.correct[k], found.rows[k], found.given[k]
    recall, precision = _share(accuracy, right, rows), _share(accuracy, right, given)
    return ClassLine(label, f"{rows:,}", *recall, *precision)


def _share(accuracy: Accuracy, right: int, rows: int) -> tuple[str, str]:
    """Return a share and its interval; rows that belong together are worth less, as they are in the accuracy."""
    if not rows:
        return DASH, DASH
    part = accuracy.on(right, rows)
    return percent(part.share), between(part.interval)
