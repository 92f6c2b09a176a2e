"""What a model's card tells of its probabilities on rows that it has not seen."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen.data import Dataset
from sparsegen.model import SparseModel
from sparsegen.model.probability_quality import measure_probabilities


def probability_card(model: SparseModel, train_set: Dataset, test_set: Dataset) -> dict[str, Any]:
    """Return the entry of the card, beside the shares of the training rows' classes; none without probabilities."""
    if model.calibration is None:
        return {}
    shares = np.bincount(_indices(model, train_set), minlength=len(model.classes)) / len(train_set.y)
    found = measure_probabilities(model.probabilities(test_set.X), _indices(model, test_set), shares)
    return {"probabilities": found.as_json()}


def _indices(model: SparseModel, rows: Dataset) -> NDArray[np.int64]:
    index = {str(label): i for i, label in enumerate(model.classes)}
    return np.array([index[str(label)] for label in rows.y.tolist()], dtype=np.int64)
