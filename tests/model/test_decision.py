"""How scores decide for a class: by the largest, or by the votes of pairs."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from golden_models import SMALL, model, rbf
from numpy.testing import assert_array_equal
from reference.votes import libsvm_class

from sparsegen.errors import ModelError
from sparsegen.model import LARGEST, VOTES, Calibration, SparseModel, class_indices
from sparsegen.model.decision import DECISIONS, MAX_VOTING_CLASSES, Votes, pairs
from sparsegen.model.describe import describe
from sparsegen.model.file import decode, encode
from sparsegen.model.predictions import predict

OF = SMALL["votes"]


@pytest.mark.parametrize("n_classes", [3, 4, 7, 10])
def test_votes_are_counted_as_libsvm_does(n_classes):
    """Scores from a few values only, 0 among them, so that ties of votes are many."""
    n_pairs = n_classes * (n_classes - 1) // 2
    scores = np.random.default_rng(n_classes).integers(-1, 2, (300, n_pairs)).astype(float)
    votes = np.sort(Votes().votes(scores), axis=1)
    assert np.count_nonzero(votes[:, -1] == votes[:, -2]) > 50
    assert_array_equal(class_indices(scores, VOTES), [libsvm_class(row, n_classes) for row in scores])


@pytest.mark.parametrize("n_classes", [3, 5, MAX_VOTING_CLASSES])
def test_pairs_come_in_the_order_of_the_scores(n_classes):
    n_outputs = DECISIONS[VOTES].n_outputs(n_classes)
    assert list(zip(*(side.tolist() for side in pairs(n_outputs)), strict=True)) == [*combinations(range(n_classes), 2)]
    assert n_outputs < 2**15  # what an int of 16 bits counts to


@pytest.mark.parametrize(("decision", "n_outputs"), [(LARGEST, 1), (LARGEST, 4), (VOTES, 6)])
def test_errors_within_the_lead_change_no_class(decision, n_outputs):
    """An adversary with errors just below what the margin allows, each output's towards the other classes."""
    rng = np.random.default_rng(0)
    of, tried = DECISIONS[decision], 0
    for _ in range(300):
        scores, errors = rng.normal(size=(1, n_outputs)), rng.random(n_outputs) * 10.0 ** rng.uniform(-2, 0)
        lead = of.leads(scores)[0]
        if lead <= of.margin(errors):
            continue
        tried += 1
        moved = scores + rng.choice([-1.0, 1.0], (200, n_outputs)) * errors
        assert_array_equal(of.indices(moved), np.repeat(of.indices(scores), 200))
    assert tried > 30


@pytest.mark.parametrize(("decision", "n_outputs"), [(LARGEST, 1), (LARGEST, 4), (VOTES, 3)])
def test_an_error_beyond_the_lead_changes_the_class(decision, n_outputs):
    """So the margin is no larger than it must be: for votes, where every vote counts."""
    of, rng = DECISIONS[decision], np.random.default_rng(1)
    changed = 0
    for _ in range(50):
        scores = rng.normal(size=(1, n_outputs))
        error = 1.01 * of.leads(scores)[0] / (2.0 if decision == LARGEST and n_outputs > 1 else 1.0)
        signs = np.array(np.meshgrid(*[[-1.0, 1.0]] * n_outputs)).reshape(n_outputs, -1).T
        changed += len(np.unique(of.indices(scores + error * signs))) > 1
    assert changed == 50 if decision == LARGEST else changed > 25


def test_a_voting_model_survives_its_file():
    again = SparseModel.from_bytes(OF.to_bytes())
    assert (again.decision, again.task, again) == (VOTES, "classification", OF)
    X = np.random.default_rng(0).normal(size=(20, 3))
    assert_array_equal(again.predictor().predict(X), OF.predict(X))
    assert again.predictor().predict(X[0]) == OF.predict(X[:1])[0]


def test_a_file_of_an_earlier_version_takes_the_largest_score():
    """And one of a voting model names a task that an earlier version refuses, as it would take the largest."""
    _, document = decode(SMALL["poly"].to_bytes())
    assert document["task"] == "classification"
    assert "decision" not in document
    of = model([rbf()], 4, 3, (3, 5, 7), decision=VOTES)  # as many pairs as classes: shapes tell nothing
    arrays, document = decode(of.to_bytes())
    assert document["task"] == "classification by votes"
    with pytest.raises(ModelError, match="task 'classification by lot' is unknown"):
        SparseModel.from_bytes(encode(arrays, {**without_seal(document), "task": "classification by lot"}))
    with pytest.raises(ModelError, match="task 5 is unknown"):
        SparseModel.from_bytes(encode(arrays, {**without_seal(document), "task": 5}))


def without_seal(document):
    return {key: value for key, value in document.items() if key not in ("schema", "sha256")}


def test_what_a_voting_model_must_be():
    with pytest.raises(ModelError, match="decision 'lot' is unknown; it must be one of largest, votes"):
        replace(OF, decision="lot")
    with pytest.raises(ModelError, match=r"intercept has shape \(6,\), but \(4,\) is needed"):
        replace(OF, decision=LARGEST)
    with pytest.raises(ModelError, match="votes need 3 to 256 classes, but the model has 2"):
        replace(OF, classes=("a", "b"))
    with pytest.raises(ModelError, match="decides by votes has no probabilities"):
        replace(OF, calibration=Calibration("temperature", 1.0))


def test_scores_are_named_after_both_classes():
    of = model([rbf()], 4, 3, (3, 5, 7), decision=VOTES)
    table = predict(of, np.zeros((1, 3))).csv()
    assert table.startswith("label,score_3_over_5,score_3_over_7,score_5_over_7\n")
    assert predict(SMALL["binary_rbf"], np.zeros((1, 3))).csv().startswith("label,score_1\n")


def test_a_description_says_how_it_decides():
    assert describe(OF)["decision"] == VOTES
    assert json.loads(json.dumps(describe(OF))) == describe(OF)
