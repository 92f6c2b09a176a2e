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
from sparsegen.files import write_atomic
from sparsegen.model.held_out import held_out
from sparsegen.model.judged import Judged, judge
from sparsegen.model.sparse_model import Label, SparseModel


@dataclass(frozen=True)
class Predictions:
    """Labels and scores, one per row."""

    labels: list[Label]
    scores: list[list[float]]
    score_names: tuple[str, ...]
    """The class that each score speaks for; a model of two classes has one score, for the second."""

    def csv(self) -> str:
        """Return a table with a header: the label, then the scores."""
        rows = ([label, *row] for label, row in zip(self.labels, self.scores, strict=True))
        return _csv([self._header]) + _csv(rows)

    def save(self, path: Path, *, force: bool = False) -> None:
        """Write the table, over an existing file only if that is such a table or ``force`` insists."""
        header = _csv([self._header]).encode()
        write_atomic(path, self.csv().encode(), force=force, ours=lambda beginning: beginning.startswith(header))

    @property
    def _header(self) -> list[str]:
        return ["label", *(f"score_{name}" for name in self.score_names)]

    def accuracy(self, y: NDArray[Any]) -> float:
        """Return the share of rows whose label is the true one; ``1`` and ``"1"`` are the same label."""
        return float(np.mean(self._right(y)))

    def test(self, model: SparseModel, X: Array, y: NDArray[Any]) -> Judged:
        """Return how many of the rows the model labels correctly, of all and of those held out in training."""
        right = self._right(y)
        return judge(model, right, right, held_out(model.card, X))

    def _right(self, y: NDArray[Any]) -> NDArray[np.bool_]:
        return np.asarray(np.array(self.labels).astype(str) == y.astype(str))


def _csv(rows: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def predict(model: SparseModel, X: Array) -> Predictions:
    """Return the labels and scores of raw rows."""
    names = model.classes if model.n_outputs > 1 else model.classes[1:]
    return Predictions(model.predict(X).tolist(), model.scores(X).tolist(), tuple(str(name) for name in names))
