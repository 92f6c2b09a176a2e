from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from quick_methods import QUICK
from reference import Rows
from repeated_rows import expected_failures
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from sparsegen import SLMC, SVM
from sparsegen.errors import DataError
from sparsegen.methods import classifiers
from sparsegen.methods.shared.estimator import SparseClassifier, model_labels, sign_matrix


@pytest.fixture(params=classifiers())
def estimator(request: pytest.FixtureRequest) -> SparseClassifier:
    return classifiers()[request.param](**QUICK.get(request.param, {}), random_state=0)


@parametrize_with_checks([SLMC(), SVM()], expected_failed_checks=expected_failures)
def test_scikit_learn_accepts_it(estimator: SparseClassifier, check: Any) -> None:
    check(estimator)


def test_pipeline_grid_search_and_calibration(estimator: SparseClassifier, two_classes: Rows) -> None:
    X, y = two_classes
    pipeline = make_pipeline(StandardScaler(), estimator)
    name = type(estimator).__name__.lower()
    tuned = "C" if "C" in estimator.get_params() else "gamma"
    search = GridSearchCV(pipeline, {f"{name}__{tuned}": np.array([0.1, 10.0])}, cv=3).fit(X, y)
    assert search.best_score_ > 0.7
    assert search.best_estimator_[-1].model_.card["parameters"][tuned] in (0.1, 10.0)
    probabilities = CalibratedClassifierCV(pipeline, cv=3).fit(X, y).predict_proba(X)
    assert np.allclose(probabilities.sum(axis=1), 1.0)


def test_worker_processes_give_the_same_scores(four_classes: Rows) -> None:
    X, y = four_classes
    grid = {"C": [1.0, 10.0]}
    here, there = (GridSearchCV(SLMC(4, max_iter=5, random_state=0), grid, cv=2, n_jobs=n).fit(X, y) for n in (1, 2))
    assert np.array_equal(here.cv_results_["mean_test_score"], there.cv_results_["mean_test_score"])


def test_fitted_estimator_can_be_copied(estimator: SparseClassifier, four_classes: Rows) -> None:
    X, y = four_classes
    estimator.fit(X, y)
    for twin in (pickle.loads(pickle.dumps(estimator)), copy.deepcopy(estimator)):
        assert twin.model_ == estimator.model_
        assert np.array_equal(twin.decision_function(X), estimator.decision_function(X))
    assert not hasattr(clone(estimator), "model_")
    assert clone(estimator).get_params() == estimator.get_params()


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["no", "yes"], ("no", "yes")),
        ([3, -7], (-7, 3)),
        ([True, False], (0, 1)),
        ([2.0, 1.0], (1, 2)),
        (np.array([2, 1], dtype=np.uint8), (1, 2)),
        (np.array(["b", "a"], dtype=object), ("a", "b")),
        (np.array([20, 10], dtype=object), (10, 20)),
        (["été", 'naïve "x"'], ('naïve "x"', "été")),
    ],
)
def test_labels_come_back_as_they_were(
    labels: Any, expected: tuple[Any, ...], estimator: SparseClassifier, two_classes: Rows
) -> None:
    X, index = two_classes
    y = np.asarray(labels)[index]
    if y.dtype == object and not isinstance(labels[0], str):
        y = y.astype(int)  # scikit-learn calls objects that are numbers "unknown"
    estimator.fit(X, y)
    predicted = estimator.predict(X)
    assert predicted.dtype == y.dtype
    assert set(predicted.tolist()) <= set(y.tolist())
    assert np.mean(predicted == y) > 0.7
    assert estimator.model_.classes == expected
    assert estimator.model_.predict(X).tolist() == [
        expected[i] for i in np.searchsorted(np.unique(y), predicted).tolist()
    ]


def test_model_labels_are_integers_only_where_they_are_whole() -> None:
    assert model_labels(np.array([1.5, 2.0])) == ("1.5", "2.0")
    assert model_labels(np.array([10, 20], dtype=object)) == (10, 20)
    assert all(type(label) is int for label in model_labels(np.array([1.0, 2.0])))
    assert all(type(label) is str for label in model_labels(np.array(["1", "2"])))


def test_sign_matrix_has_one_column_for_two_classes() -> None:
    assert sign_matrix(np.array([0, 1, 1]), 2).tolist() == [[-1.0], [1.0], [1.0]]
    assert sign_matrix(np.array([0, 2]), 3).tolist() == [[1.0, -1.0, -1.0], [-1.0, -1.0, 1.0]]


def test_feature_names_are_kept_and_checked(estimator: SparseClassifier, two_classes: Rows) -> None:
    X, y = two_classes
    frame = pd.DataFrame(X, columns=["ax", "ay"])
    estimator.fit(frame, y)
    assert estimator.feature_names_in_.tolist() == ["ax", "ay"]
    assert estimator.model_.card["feature_names"] == ["ax", "ay"]
    with pytest.raises(ValueError, match="feature names"):
        estimator.predict(frame[["ay", "ax"]])


def test_model_and_estimator_agree(estimator: SparseClassifier, two_classes: Rows, four_classes: Rows) -> None:
    for X, y in (two_classes, four_classes):
        estimator.fit(X, y)
        scores = estimator.decision_function(X)
        assert np.array_equal(estimator.model_.scores(X).squeeze(), scores)
        assert np.array_equal(estimator.predict(X), estimator.model_.predict(X))
        assert estimator.vectors_ is estimator.model_.vectors
        assert estimator.dual_coef_.shape == (estimator.model_.n_outputs, estimator.model_.n_vectors)
        assert estimator.intercept_.shape == (estimator.model_.n_outputs,)


def test_card_tells_how_the_model_was_made(estimator: SparseClassifier, two_classes: Rows) -> None:
    card = estimator.fit(*two_classes).model_.card
    assert card["method"] == estimator.method
    not_given = {"class_weight", "kernel_params"}
    assert card["parameters"].keys() == estimator.get_params().keys() - not_given
    assert card["fit"].get("iterations", 0) >= 0
    drawn = clone(estimator).set_params(random_state=np.random.RandomState(0)).fit(*two_classes)
    assert drawn.model_.card["parameters"]["random_state"] == "RandomState"


def test_gamma_scale_is_scikit_learns(estimator: SparseClassifier, four_classes: Rows) -> None:
    if "gammas" in estimator.get_params():
        estimator.set_params(n_kernels=1)  # several kernels have gammas around it
    X, y = four_classes
    assert dict(estimator.fit(X, y).model_.kernels[0].params)["gamma"] == pytest.approx(1.0 / (3 * X.var()))
    constant = estimator.fit(np.ones((6, 2)), [0, 1, 0, 1, 0, 1])
    assert dict(constant.model_.kernels[0].params)["gamma"] == 1.0


def test_mistakes_are_errors(estimator: SparseClassifier, two_classes: Rows) -> None:
    X, y = two_classes
    with pytest.raises(NotFittedError):
        estimator.predict(X)
    with pytest.raises(NotFittedError):
        _ = estimator.dual_coef_
    with pytest.raises(DataError, match="needs two classes or more, but every row has the one class"):
        estimator.fit(X, np.zeros(len(X)))
    for name, value in (("C", 0.0), ("C", np.inf), ("gamma", -1.0), ("gamma", "auto"), ("degree", 0), ("coef0", -1.0)):
        with pytest.raises(ValueError, match=name):
            clone(estimator).set_params(**{name: value}).fit(X, y)
