"""What the integer formats make of a freshly trained model: how good they are on its test rows, in the simulator."""

from __future__ import annotations

from collections.abc import Iterator

from sparsegen.data import Dataset
from sparsegen.errors import SparsegenError
from sparsegen.lowering import lower
from sparsegen.lowering.formats import Q7, Q15, Format
from sparsegen.model import SparseModel
from sparsegen.model.card import known_accuracy
from sparsegen.model.detector_quality import DetectorQuality
from sparsegen.model.judged import Judged
from sparsegen.model.value_quality import ValueQuality
from sparsegen.promised import Accuracy

MOST_VALUES = 1 << 18
"""Values in all vectors beyond which nothing is looked at: a quarter of a megabyte in q7, and long to lower."""
MOST = 1_000_000_000
"""Features times vectors times rows beyond which fewer rows are looked at: some seconds."""


def preview(model: SparseModel, test_set: Dataset) -> Iterator[tuple[str, Accuracy | DetectorQuality | ValueQuality]]:
    """Yield the name of each integer format that the model can be lowered to, and how good it is; none of a huge model.

    That is the accuracy, false alarms and detections of a detector, or the errors of a regression's values. Scales come
    from the ranges in the model's card, as they do in an export without rows to calibrate on.
    """
    if model.vectors.size > MOST_VALUES:
        return
    n = max(1, min(len(test_set.X), MOST // (model.n_features * model.n_vectors)))
    known = known_accuracy(model.card)
    for numbers in (Q15, Q7):
        try:
            judged = lower(model, Format(numbers.name)).test(test_set.X[:n], test_set.y[:n])
        except SparsegenError:  # a kernel or numbers that have no integer form
            continue
        if isinstance(judged, Judged) and judged.detection is not None:
            yield numbers.name, judged.detection
        elif isinstance(judged, Judged) and known is not None:
            yield numbers.name, known.on(judged.rows.correct, n)
        else:
            yield numbers.name, judged.rows
