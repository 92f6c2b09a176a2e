"""What sample weights and class weights may be, and what they come to."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_class_weight

from sparsegen.errors import DataError, OptionError
from sparsegen.methods.shared.estimator import scale_gamma
from sparsegen.methods.shared.row_weights import (
    RowWeights,
    checked_sample_weight,
    class_weights,
    weighted_mean,
    weighted_std,
)
from sparsegen.methods.shared.start import start_projection, start_vectors

LABELS = np.array(["calm", "shake", "tap"])
INDEX = np.array([0, 0, 0, 0, 1, 2, 2])


def by_class(given: Any, rows: Any = None) -> list[float]:
    counts = None if rows is None else np.asarray(rows, dtype=np.float64)
    found: list[float] = class_weights(given, LABELS, INDEX, counts).tolist()
    return found


def test_balanced_weights_are_scikit_learns() -> None:
    expected = compute_class_weight("balanced", classes=LABELS, y=LABELS[INDEX])
    np.testing.assert_allclose(by_class("balanced"), expected)
    counts = np.array([1, 0, 2, 3, 1, 4, 1])
    expected = compute_class_weight("balanced", classes=LABELS, y=LABELS[INDEX].repeat(counts))
    np.testing.assert_allclose(by_class("balanced", counts), expected)


def test_a_mapping_gives_weights_by_label() -> None:
    assert by_class(None) == [1.0, 1.0, 1.0]
    assert by_class({"tap": 3, "calm": np.float32(0.5)}) == [0.5, 1.0, 3.0]
    assert by_class({"tap": 3, "calm": 2, "shake": 1, "gone": 9}) == [2.0, 1.0, 3.0], "a fold may lack a class"
    assert class_weights({1: 2.0}, np.array([0, 1]), np.array([0, 1]), None).tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"shak": 2.0}, "names a class 'shak' that no row has .did you mean 'shake'.*classes are: calm, shake, tap"),
        ({"tap": 0}, "class_weight of 'tap' is 0, but must be a finite number > 0; leave out the rows"),
        ({"tap": -1.0}, "class_weight of 'tap' is -1.0, but must be"),
        ({"tap": np.nan}, "class_weight of 'tap' is nan, but must be"),
        ({"tap": "much"}, "class_weight of 'tap' is 'much', but must be"),
    ],
)
def test_a_bad_mapping_is_one_sentence(given: Any, reason: str) -> None:
    with pytest.raises(OptionError, match=reason):
        by_class(given)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ([1.0, 2.0], r"one number for each of the 3 rows, but its shape is \(2,\)"),
        ([[1.0]] * 3, r"its shape is \(3, 1\)"),
        ([1.0, -0.5, 2.0], "sample_weight of row 1 is -0.5, but must be a finite number >= 0"),
        ([1.0, 2.0, np.inf], "sample_weight of row 2 is inf"),
        (["a", "b", "c"], "sample_weight must be numbers, one for each row"),
        ([0, 0, 0], "every sample_weight is zero"),
    ],
)
def test_bad_sample_weights_are_one_sentence(given: Any, reason: str) -> None:
    with pytest.raises(DataError, match=reason):
        checked_sample_weight(given, 3)


def test_one_sample_weight_is_that_of_every_row() -> None:
    assert checked_sample_weight(None, 3) is None
    assert checked_sample_weight([1, 1, 1], 3) is None
    weights = checked_sample_weight(2.5, 3)
    assert weights is not None
    assert weights.tolist() == [2.5, 2.5, 2.5]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_figures_of_weighted_rows_are_those_of_repeated_rows(dtype: type) -> None:
    rng = np.random.default_rng(0)
    X: NDArray[Any] = rng.normal(size=(5000, 3)).astype(dtype)
    counts = rng.integers(0, 4, 5000).astype(float)
    many = X.repeat(counts.astype(int), axis=0).astype(np.float64)
    np.testing.assert_allclose(weighted_mean(X, counts), many.mean(axis=0), rtol=1e-6, atol=1e-9)
    assert weighted_std(X, counts) == pytest.approx(many.std(), rel=1e-6)
    assert scale_gamma(X, counts) == pytest.approx(1.0 / (3 * many.var()), rel=1e-6)


def test_starts_of_weighted_rows_are_those_of_repeated_rows() -> None:
    rng = np.random.default_rng(1)
    X, counts = rng.normal(size=(60, 3)), rng.integers(1, 4, 60)
    Y = np.where(X[:, :1] > 0.3, 1.0, -1.0)
    weights = RowWeights(counts.astype(float), np.ones(60))
    many, Y_many = X.repeat(counts, axis=0), Y.repeat(counts, axis=0)
    one = start_vectors(X, Y, 2, "kmeans", np.random.RandomState(0), weights)  # a centre for each class: their means
    np.testing.assert_allclose(one, start_vectors(many, Y_many, 2, "kmeans", np.random.RandomState(0)))
    found, expected = start_projection(X, Y, 2, weights), start_projection(many, Y_many, 2)
    assert found is not None
    assert expected is not None
    np.testing.assert_allclose(np.abs(found), np.abs(expected), atol=1e-9)
