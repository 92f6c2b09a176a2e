"""Probabilities of every estimator: there on request, of rows that were left out, and in line with the labels."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from quick_methods import QUICK
from reference import Rows
from repeated_rows import expected_failures
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss
from sklearn.utils.estimator_checks import parametrize_with_checks

from sparsegen import SVM
from sparsegen.errors import DataError
from sparsegen.methods import classifiers
from sparsegen.methods.shared.probability import with_zero_at_one_half


@pytest.mark.filterwarnings("ignore:scores of rows that were left out")  # the checks' labels are random
@parametrize_with_checks([SVM(probability=True)], expected_failed_checks=expected_failures)
def test_scikit_learn_accepts_it_with_probabilities(estimator, check) -> None:
    check(estimator)


@pytest.mark.parametrize("name", classifiers())
def test_every_method_gives_probabilities_that_agree_with_its_labels(name: str, four_classes: Rows) -> None:
    X, y = four_classes
    for classes in (2, 4):
        rows = y < classes
        estimator = classifiers()[name](**QUICK.get(name, {}), random_state=0, probability=True).fit(X[rows], y[rows])
        probabilities = estimator.predict_proba(X)
        assert probabilities.shape == (len(X), classes)
        np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, rtol=1e-12)
        assert np.array_equal(estimator.classes_[probabilities.argmax(axis=1)], estimator.predict(X))
        np.testing.assert_allclose(np.exp(estimator.predict_log_proba(X[:3])), probabilities[:3], rtol=1e-12)
        assert log_loss(y[rows], probabilities[rows], labels=range(classes)) < 0.8 * np.log(classes)


def test_without_the_parameter_there_is_no_predict_proba(two_classes: Rows) -> None:
    estimator = SVM().fit(*two_classes)
    assert not hasattr(estimator, "predict_proba")
    assert estimator.model_.calibration is None
    with pytest.raises(AttributeError, match="predict_proba") as found:
        estimator.predict_proba(two_classes[0])
    assert "only with probability=True" in str(found.value.__cause__)
    assert hasattr(clone(estimator).set_params(probability=True), "predict_proba")


def noise(n: int) -> Rows:
    """Rows whose labels say nothing: a machine of narrow kernels can only learn them by heart."""
    rng = np.random.default_rng(3)
    return rng.normal(size=(n, 2)), rng.integers(0, 2, n)


def test_what_a_machine_learned_by_heart_is_no_reason_to_be_sure() -> None:
    X, y = noise(60)
    machine = SVM(gamma=1e4, C=100.0, probability=True, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        by_heart = machine.fit(X, y)
    assert np.mean(by_heart.predict(X) == y) > 0.9
    assert by_heart.predict_proba(X).max() < 0.9


def test_rows_of_one_group_are_never_both_trained_on_and_scored() -> None:
    X, y = noise(60)
    X, y, groups = np.repeat(X, 2, axis=0), np.repeat(y, 2), np.repeat(np.arange(60), 2)  # every row is there twice
    machine = SVM(gamma=1e4, C=100.0, probability=True, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fooled, honest = clone(machine).fit(X, y), clone(machine).fit(X, y, groups=groups)
    assert fooled.predict_proba(X).max(axis=1).mean() > 0.9
    assert honest.predict_proba(X).max() < 0.9


def test_scores_that_say_nothing_are_told_and_keep_their_labels() -> None:
    rng = np.random.default_rng(0)
    for n_classes in (2, 3):
        X, y = np.ones((30, 2)), rng.permutation(np.arange(30) % n_classes)
        with pytest.warns(ConvergenceWarning, match="say nothing about their classes"):
            estimator = SVM(probability=True, random_state=0).fit(X, y)
        np.testing.assert_allclose(estimator.predict_proba(X), 1.0 / n_classes, atol=1e-2)
        assert np.array_equal(estimator.predict_proba(X).argmax(axis=1), estimator.predict(X))


def test_a_class_that_cannot_be_left_out_is_named(four_classes: Rows) -> None:
    X, y = four_classes
    estimator = SVM(probability=True, random_state=0)
    with pytest.raises(DataError, match="two training rows of every class, but class 3 has one"):
        estimator.fit(X, np.where((y == 3) & (np.arange(len(y)) > 3), 2, y))
    with pytest.raises(DataError, match="at least two groups, but every row is of the same one"):
        estimator.fit(X, y, groups=np.zeros(len(X)))
    with pytest.raises(DataError, match=r"every class in at least two groups, but those of class \d are all in one"):
        estimator.fit(X, y, groups=y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        estimator.fit(X, y, groups=[1, 2])


@pytest.mark.parametrize("slope", [2.5, -2.5])
def test_the_zero_moves_to_where_both_classes_are_equally_probable(two_classes: Rows, slope: float) -> None:
    plain = SVM().fit(*two_classes).model_
    moved = with_zero_at_one_half(plain, slope, -0.8)
    X = two_classes[0]
    expected = 1.0 / (1.0 + np.exp(-(slope * plain.scores(X)[:, 0] - 0.8)))
    np.testing.assert_allclose(moved.probabilities(X)[:, 1], expected, rtol=1e-12)
    assert np.array_equal(moved.predict_index(X), (expected > 0.5).astype(int))


def test_probabilities_are_those_of_rows_as_they_are_weighed() -> None:
    """Balanced weights give what classes of equal size would have; labels and probabilities still agree."""
    rng = np.random.default_rng(2)
    y = (np.arange(200) % 10 == 0).astype(int)
    X = rng.normal(size=(200, 2)) + 1.2 * y[:, None]
    plain, balanced = (
        SVM(gamma=0.3, class_weight=weight, probability=True, random_state=0).fit(X, y) for weight in (None, "balanced")
    )
    assert plain.predict_proba(X)[:, 1].mean() == pytest.approx(0.1, abs=0.03)
    assert balanced.predict_proba(X)[:, 1].mean() > 0.25
    for estimator in (plain, balanced):
        assert np.array_equal(estimator.predict_proba(X).argmax(axis=1), estimator.predict(X))
