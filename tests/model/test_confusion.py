"""Confusion counts against scikit-learn's metrics, and through a card."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn import metrics

from sparsegen.model.confusion import MAX_MATRIX, METRICS, Confusion


@pytest.mark.parametrize("n_classes", [2, 5, MAX_MATRIX, MAX_MATRIX + 1])
def test_counts_are_scikit_learns(n_classes: int) -> None:
    rng = np.random.default_rng(n_classes)
    truth, given = rng.integers(0, n_classes, (2, 300))
    given = np.where(rng.random(300) < 0.6, truth, given)
    found = Confusion.count(truth, given, n_classes)
    if n_classes <= MAX_MATRIX:
        np.testing.assert_array_equal(found.matrix, metrics.confusion_matrix(truth, given, labels=np.arange(n_classes)))
    else:
        assert found.matrix is None
    scores = {name: metric(found) for name, metric in METRICS.items()}
    assert scores["accuracy"] == pytest.approx(metrics.accuracy_score(truth, given))
    recalls = metrics.recall_score(truth, given, average=None, labels=np.arange(n_classes), zero_division=0)
    assert scores["balanced"] == pytest.approx(np.mean(recalls[np.unique(truth)]))
    assert scores["f1"] == pytest.approx(metrics.f1_score(truth, given, average="macro"))
    precisions = metrics.precision_score(truth, given, average=None, labels=np.arange(n_classes), zero_division=0)
    for k, (precision, recall) in enumerate(zip(found.precisions, found.recalls, strict=True)):
        assert (precision is None) == (k not in given) and (recall is None) == (k not in truth)
        assert (precision or 0.0, recall or 0.0) == pytest.approx((precisions[k], recalls[k]))
    card = json.loads(json.dumps(found.for_card()))
    assert Confusion.from_card(card) == found


def test_the_issues_case() -> None:
    found = Confusion.of_matrix([[1, 5], [3, 893]])
    assert found.accuracy == pytest.approx(0.9911, abs=1e-4)
    assert found.recalls[0] == 1 / 6 and found.balanced < 0.6 and found.is_uneven
    assert found.by_class(("fault", "ok"))[0] == {"class": "fault", "rows": 6, "precision": 1 / 4, "recall": 1 / 6}


def test_a_class_without_rows_counts_for_nothing() -> None:
    found = Confusion.of_matrix([[3, 1, 0], [0, 4, 0], [0, 0, 0]])
    assert found.recalls == (0.75, 1.0, None) and found.precisions[2] is None
    assert found.balanced == 0.875
    assert Confusion.from_card({}) is None
