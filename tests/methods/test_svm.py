from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from reference import Rows
from sklearn.metrics.pairwise import laplacian_kernel
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

from sparsegen import SVM

NATIVE: list[dict[str, Any]] = [
    {"kernel": "rbf", "gamma": 0.7},
    {"kernel": "rbf"},
    {"kernel": "linear"},
    {"kernel": "poly", "degree": 2, "coef0": 0.5, "gamma": 0.3},
]


@pytest.mark.parametrize("options", NATIVE)
def test_two_classes_equal_scikit_learn(options: dict[str, Any], two_classes: Rows) -> None:
    X, y = two_classes
    ours, theirs = SVM(C=2.0, **options).fit(X, y), SVC(C=2.0, **options).fit(X, y)
    assert np.allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-9)
    assert np.array_equal(ours.predict(X), theirs.predict(X))
    assert ours.model_.n_vectors == len(theirs.support_)


@pytest.mark.parametrize("options", NATIVE)
def test_several_classes_equal_one_vs_rest(options: dict[str, Any], four_classes: Rows) -> None:
    X, y = four_classes
    ours, theirs = SVM(C=2.0, **options).fit(X, y), OneVsRestClassifier(SVC(C=2.0, **options)).fit(X, y)
    assert np.allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-9)
    assert np.array_equal(ours.predict(X), theirs.predict(X))


def test_support_vectors_are_stored_once(four_classes: Rows) -> None:
    X, y = four_classes
    model = SVM().fit(X, y).model_
    machines = OneVsRestClassifier(SVC()).fit(X, y).estimators_
    used = set(np.concatenate([machine.support_ for machine in machines]).tolist())
    assert model.n_vectors == len(used) < sum(len(machine.support_) for machine in machines)
    assert len(np.unique(model.vectors, axis=0)) == model.n_vectors
    assert {row.tobytes() for row in model.vectors} == {X[i].tobytes() for i in used}


def test_a_kernel_libsvm_does_not_have(two_classes: Rows) -> None:
    X, y = two_classes
    ours = SVM(kernel="laplacian", gamma=0.6).fit(X, y)
    K = laplacian_kernel(X, X, gamma=0.6)
    theirs = SVC(kernel="precomputed").fit(K, y)
    assert np.allclose(ours.decision_function(X), theirs.decision_function(K), atol=1e-9)
    assert ours.model_.n_vectors == len(theirs.support_)


def test_tolerance_must_be_positive(two_classes: Rows) -> None:
    for tol in (0.0, -1.0, np.nan):
        with pytest.raises(ValueError, match="tol"):
            SVM(tol=tol).fit(*two_classes)


def test_identical_rows_of_both_classes_make_a_model() -> None:
    model = SVM().fit(np.zeros((6, 2)), [0, 0, 0, 0, 1, 1])
    assert (model.predict(np.zeros((2, 2))) == 0).all()
