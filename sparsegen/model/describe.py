"""A model in words: the facts of its arrays, and what its card says beside them."""

from __future__ import annotations

from typing import Any

from sparsegen.model.card import known_accuracy
from sparsegen.model.confusion import Confusion
from sparsegen.model.sparse_model import SparseModel


def describe(model: SparseModel) -> dict[str, Any]:
    """Return the model's facts and then its card, as plain JSON values."""
    facts = {
        "task": model.task,
        "kernels": [{"name": k.name, **dict(k.params)} for k in model.kernels],
        "vectors": model.n_vectors,
        "features": model.n_features,
        "projection": None if model.transform.projection is None else len(model.transform.projection),
        "nan_counts_as": None if model.transform.fill is None else model.transform.fill.tolist(),
        "classes": list(model.classes),
        "decision": model.decision,
        "sha256": model.sha256,
    }
    if not model.has_classes:
        del facts["classes"]
    if (accuracy := known_accuracy(model.card)) is not None:
        facts["accuracy_interval"] = list(accuracy.interval)
    if (confusion := Confusion.from_card(model.card)) is not None:
        facts |= {
            "balanced_accuracy": confusion.balanced,
            "f1": confusion.f1,
            "per_class": confusion.by_class(model.classes),
        }
    if model.calibration is not None:
        facts["calibration"] = vars(model.calibration)
    return {**facts, **model.card, **facts}  # facts come first, and an untrusted card cannot contradict them
