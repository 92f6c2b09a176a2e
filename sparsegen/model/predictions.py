"""A model's predictions for rows, and the table of them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen.arrays import Array
from sparsegen.data.checks import numeric_labels
from sparsegen.errors import OptionError
from sparsegen.files import write_atomic
from sparsegen.model.decision import DECISIONS
from sparsegen.model.held_out import held_out
from sparsegen.model.judged import Judged, judge
from sparsegen.model.judged_values import JudgedValues, judge_values
from sparsegen.model.sparse_model import Label, SparseModel


@dataclass(frozen=True)
class Predictions:
    """Labels and scores, one per row."""

    labels: list[Label | None] | list[float]
    """``None`` where the class is less probable than was asked for; the values of a regression."""
    scores: list[list[float]]
    score_names: tuple[str, ...]
    """The class that each score speaks for; a model of two classes has one score, for the second. Where pairs of
    classes vote, a score has the names of both, and is positive for the first."""
    probabilities: list[list[float]] | None = None
    """One per class, where the model has such."""
    class_names: tuple[str, ...] = ()
    heading: str = "label"
    """What a label is called in the table."""

    def csv(self) -> str:
        """Return a table with a header: the label, nothing where it is unknown, the scores and the probabilities."""
        shares: list[list[float]] = [[] for _ in self.labels] if self.probabilities is None else self.probabilities
        rows = ([label, *row, *p] for label, row, p in zip(self.labels, self.scores, shares, strict=True))
        return _csv([self._header]) + _csv(rows)

    def save(self, path: Path, *, force: bool = False) -> None:
        """Write the table, over an existing file only if that is such a table or ``force`` insists."""
        header = _csv([self._header]).encode()
        write_atomic(path, self.csv().encode(), force=force, ours=lambda beginning: beginning.startswith(header))

    @property
    def _header(self) -> list[str]:
        names = () if self.probabilities is None else self.class_names
        return [
            self.heading,
            *(f"score_{name}" for name in self.score_names),
            *(f"probability_{name}" for name in names),
        ]

    @property
    def unknown(self) -> int:
        """Number of rows without a label."""
        return sum(label is None for label in self.labels)

    def accuracy(self, y: NDArray[Any]) -> float:
        """Return the share of rows whose label is the true one; ``1`` and ``"1"`` are the same label.

        Rows without a label count as wrong.
        """
        return float(np.mean(self._right(y)))

    def test(self, model: SparseModel, X: Array, y: NDArray[Any]) -> Judged | JudgedValues:
        """Return how many of the rows the model labels correctly, of all and of those held out in training.

        Of a regression, return how far its values are from ``y``.
        """
        if not model.has_classes:
            values = np.array(self.labels, dtype=np.float64)
            return judge_values(model, values, values, numeric_labels(y), held_out(model.card, X))
        right = self._right(y)
        return judge(model, right, right, held_out(model.card, X), y.astype(str))

    def _right(self, y: NDArray[Any]) -> NDArray[np.bool_]:
        known = np.array([label is not None for label in self.labels])
        return np.asarray(known & (np.array([str(label) for label in self.labels]) == y.astype(str)))


def _csv(rows: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def predict(model: SparseModel, X: Array, reject: float | None = None) -> Predictions:
    """Return the labels, scores and probabilities of raw rows.

    There is no label where the class is less probable than ``reject``. A regression's score is its label: a value.
    """
    scores = model.scores(X)
    if not model.has_classes:
        if reject is not None:
            raise OptionError("a regression has no probabilities, and so no value is too improbable; leave them out")
        return Predictions(scores[:, 0].tolist(), [[]] * len(scores), (), heading="prediction")
    labels = model.predict(X).tolist()
    if reject is not None:
        index = model.predict_or_reject(X, reject).tolist()
        labels = [None if i < 0 else label for i, label in zip(index, labels, strict=True)]
    return Predictions(
        labels,
        scores.tolist(),
        DECISIONS[model.decision].score_names(model.classes),
        None if model.calibration is None else model.calibration(scores).tolist(),
        tuple(str(name) for name in model.classes),
    )
