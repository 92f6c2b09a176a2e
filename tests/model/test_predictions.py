"""Predictions as labels, scores and a CSV, and a model in words."""

from __future__ import annotations

import csv
from dataclasses import replace

import numpy as np
import pytest
from golden_models import SMALL, rows

from sparsegen.model.describe import describe
from sparsegen.model.predictions import predict

VALUE = SMALL["value"]
BINARY = SMALL["binary_rbf"]


def test_predictions_of_a_regression_are_values() -> None:
    X = rows(VALUE)
    found = predict(VALUE, X)
    assert found.labels == VALUE.predict(X).tolist()
    assert (found.score_names, found.probabilities, found.unknown) == ((), None, 0)
    header, *values = found.csv().splitlines()
    assert header == "prediction"
    assert [float(value) for value in values] == found.labels
    assert found.test(VALUE, X, (VALUE.predict(X) + 0.5).astype(str)).rows.mae == pytest.approx(0.5)  # type: ignore[union-attr]


def test_predictions_are_the_models() -> None:
    for model in [of for of in SMALL.values() if of.has_classes]:
        X = rows(model)
        found = predict(model, X)
        assert found.labels == model.predict(X).tolist()
        assert np.array_equal(found.scores, model.scores(X))
        assert len(found.score_names) == model.n_outputs
        header, *lines = csv.reader(found.csv().splitlines())
        names = [] if found.probabilities is None else [f"probability_{name}" for name in found.class_names]
        assert header == ["label", *(f"score_{name}" for name in found.score_names), *names]
        assert [line[0] for line in lines] == [str(label) for label in found.labels]
        numbers = np.array([line[1:] for line in lines], dtype=float)
        assert np.array_equal(numbers[:, : model.n_outputs], found.scores)
        if found.probabilities is not None:
            assert np.array_equal(numbers[:, model.n_outputs :], model.probabilities(X))


def test_a_row_without_a_label_is_wrong_and_its_cell_empty() -> None:
    found = predict(SMALL["temperature"], rows(SMALL["temperature"]), reject=0.7)
    labels = np.array(["None" if label is None else str(label) for label in found.labels])
    assert 0 < found.unknown < len(labels)
    assert found.accuracy(labels) == pytest.approx(1.0 - found.unknown / len(labels)), "not even those called None"
    assert [line[0] for line in csv.reader(found.csv().splitlines())].count("") == found.unknown


def test_two_classes_have_one_score_for_the_second() -> None:
    assert predict(BINARY, rows(BINARY)).score_names == (str(BINARY.classes[1]),)


def test_accuracy_compares_labels_as_text() -> None:
    found = predict(BINARY, rows(BINARY))
    labels = np.array(found.labels)
    assert found.accuracy(labels) == found.accuracy(labels.astype(str)) == 1.0
    assert found.accuracy(np.where(np.arange(len(labels)) < 10, "?", labels.astype(str))) == 1.0 - 10 / len(labels)


def test_a_card_cannot_deny_the_facts() -> None:
    model = replace(BINARY, card={"vectors": 1, "sha256": "0", "method": "mine"})
    said = describe(model)
    assert (said["vectors"], said["sha256"], said["method"]) == (model.n_vectors, model.sha256, "mine")
    assert list(said)[:2] == ["task", "kernels"]


def test_the_inverse_of_a_transform_is_taken_back_to_the_vectors() -> None:
    for model in SMALL.values():
        raw = model.transform.inverse(model.vectors)
        assert raw.shape == (model.n_vectors, model.n_features)
        np.testing.assert_allclose(model.transform(raw), model.vectors, rtol=1e-9, atol=1e-9)
