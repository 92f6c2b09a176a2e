"""What a model is for: its task in memory and in its file."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from golden_models import SMALL, model, rbf
from numpy.testing import assert_array_equal

from sparsegen.errors import ModelError, OptionError
from sparsegen.model import LARGEST, VALUE, VOTES, Calibration, SparseModel
from sparsegen.model.file import decode
from sparsegen.model.task import ANOMALY_CLASSES, TASKS, stated, task_and_decision, task_named

REGRESSION = model([rbf()], 4, 3, (), decision=VALUE, task="regression")
ANOMALY = model([rbf()], 4, 3, ANOMALY_CLASSES, task="anomaly")


def test_tasks_are_asked_for_by_their_verbs() -> None:
    assert [task_named(verb).name for verb in ("classify", "anomaly", "regress")] == list(TASKS)
    with pytest.raises(OptionError, match=r"task 'regression' is unknown \(did you mean 'regress'"):
        task_named("regression")


@pytest.mark.parametrize(
    ("task", "decision", "text"),
    [
        ("classification", LARGEST, "classification"),
        ("classification", VOTES, "classification by votes"),
        ("anomaly", LARGEST, "anomaly"),
        ("regression", VALUE, "regression"),
    ],
)
def test_a_file_states_task_and_decision(task: str, decision: str, text: str) -> None:
    assert stated(task, decision) == text
    assert task_and_decision(text) == (task, decision)


@pytest.mark.parametrize(
    "text", ["regression by largest", "classification by largest", "anomaly by votes", "", 5, None]
)
def test_what_no_version_writes_is_refused(text: Any) -> None:
    task, decision = task_and_decision(text)
    with pytest.raises(ModelError):
        replace(SMALL["binary_rbf"], task=task, decision=decision)


def test_earlier_versions_refuse_other_tasks() -> None:
    """They know the task classification, and nothing else."""
    for of in (REGRESSION, ANOMALY):
        _, document = decode(of.to_bytes())
        assert document["task"] in ("regression", "anomaly")


def test_a_regression_gives_values() -> None:
    again = SparseModel.from_bytes(REGRESSION.to_bytes())
    assert (again, again.task, again.decision, again.classes) == (REGRESSION, "regression", VALUE, ())
    assert not again.has_classes
    X = np.random.default_rng(0).normal(size=(20, 3))
    assert_array_equal(again.predict(X), again.scores(X)[:, 0])
    assert_array_equal(again.predict_index(X), np.zeros(20))
    predictor = again.predictor()
    assert np.allclose(predictor.predict(X), again.predict(X), rtol=1e-12)
    assert predictor.predict(X[0]) == predictor.scores(X[0])[0]


def test_an_anomaly_detector_is_a_classifier_of_two_named_classes() -> None:
    again = SparseModel.from_bytes(ANOMALY.to_bytes())
    assert (again, again.task, again.decision) == (ANOMALY, "anomaly", LARGEST)
    X = np.random.default_rng(0).normal(size=(20, 3))
    assert_array_equal(again.predict(X) == "normal", again.scores(X)[:, 0] > 0)


def test_values_have_no_probabilities() -> None:
    with pytest.raises(ModelError, match="decides by value has no probabilities"):
        replace(REGRESSION, calibration=Calibration("platt", 1.0))
