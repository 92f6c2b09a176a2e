"""What a reader should know of the data and of the test, and how the model was made."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sparsegen.data import Dataset, leaks
from sparsegen.data.checks import printable
from sparsegen.model.held_out import held_out
from sparsegen.model.inspection import words
from sparsegen.report.html import fill
from sparsegen.report.section import Section
from sparsegen.report.subject import Subject

MOST_LETTERS = 600
HIDDEN = {"held_out", "ranges", "projected_ranges", "feature_names", "confusion", "class_counts", "probabilities"}
"""What the card says for programs, or what stands elsewhere on the page."""


def section(subject: Subject) -> Section:
    """Return warnings on the data first, then what is proved of the C, and the model's card."""
    hidden = HIDDEN | ({"accuracy", "test_rows"} if subject.is_detector else set())
    card = [
        (printable(str(key)).replace("_", " "), _cut(words(value)))
        for key, value in subject.model.card.items()
        if key not in hidden and value is not None
    ]
    found = _leaks(subject)
    html = fill(
        "notes.html.j2",
        warnings=_warnings(subject, found or ()),
        looked=found is not None,
        has_classes=subject.has_classes,
        promises=subject.lowered.promises,
        card=card,
    )
    return Section("notes", "Notes", html)


def _warnings(subject: Subject, leaking: tuple[str, ...]) -> list[str]:
    """Return what makes the test look easier than use will be."""
    told = [*subject.rows.notes]
    copies = subject.model.card.get("test_copies")
    if copies:
        told.append(f"{copies} of the test rows are copies of training rows, and count as known")
    if subject.has_classes and subject.answers.unknown:
        told.append(f"{subject.answers.unknown} rows have labels that the model does not know; they count as wrong")
    return [_cut(sentence) for sentence in (*told, *leaking)]


def _leaks(subject: Subject) -> tuple[str, ...] | None:
    """Return the leaks that the rows show; ``None`` where training rows and tested rows are not both known."""
    rows, train = subject.rows, subject.train
    if train is not None:
        return leaks(train, rows, has_classes=subject.has_classes)
    held = held_out(subject.model.card, rows.X)
    if held is None or not held.any() or held.all():
        return None
    kept_apart = bool(subject.model.card.get("test_groups"))
    train, test = _part(rows, ~held, kept_apart), _part(rows, held, kept_apart)
    return leaks(train, test, has_classes=subject.has_classes)


def _part(rows: Dataset, chosen: NDArray[np.bool_], kept_apart: bool) -> Dataset:
    """Return some of the rows; where groups were kept apart in training, alike neighbours are no leak."""
    groups = np.zeros(int(np.count_nonzero(chosen)), dtype=np.int64) if kept_apart else None
    return replace(rows, X=rows.X[chosen], y=rows.y[chosen], groups=groups, rows=np.flatnonzero(chosen))


def _cut(text: str) -> str:
    shown = printable(text)
    return shown if len(shown) <= MOST_LETTERS else f"{shown[:MOST_LETTERS]} ..."
