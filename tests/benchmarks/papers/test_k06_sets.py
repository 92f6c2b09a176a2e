from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.papers import _k06_sets
from benchmarks.papers._k06_sets import Pair
from benchmarks.papers._lab import Lab


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rng = np.random.default_rng(0)
    y = (np.arange(120) % 3).astype(np.uint8)
    X = np.column_stack([100 * rng.normal(size=120) + 7, rng.normal(size=120), np.ones(120)]) + 2.0 * np.eye(3)[y]
    np.savez(tmp_path / "usps.npz", X_train=X[:90], y_train=y[:90], X_test=X[90:], y_test=y[90:])
    monkeypatch.setitem(_k06_sets.PAIRS, "plain", Pair("usps", (0,), (2,)))
    monkeypatch.setitem(_k06_sets.PAIRS, "scaled", Pair("usps", (0, 1), (2,), standardize=True))
    return tmp_path


def test_rows_are_those_of_the_two_classes_in_random_order(folder: Path) -> None:
    split = _k06_sets.rows_of(folder, "plain", 0)
    assert (len(split.y), len(split.y_test)) == (60, 20)
    with np.load(folder / "usps.npz") as data:
        X, y = data["X_train"], data["y_train"]
    where = [int(np.flatnonzero((row == X).all(axis=1))[0]) for row in split.X]
    np.testing.assert_array_equal(split.y, np.where(y[where] == 0, 1, -1))
    assert where != sorted(where)
    np.testing.assert_array_equal(_k06_sets.rows_of(folder, "plain", 0, 25).X, split.X[:25])
    assert not np.array_equal(_k06_sets.rows_of(folder, "plain", 1).X, split.X)


def test_features_with_units_are_scaled_by_the_training_rows(folder: Path) -> None:
    split = _k06_sets.rows_of(folder, "scaled", 0)
    np.testing.assert_allclose(split.X.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(split.X.std(axis=0), 1.0)
    assert 0.0 < abs(split.X_test.mean(axis=0)[0]) < 1.0


def test_a_pair_has_a_few_draws(folder: Path) -> None:
    assert len(_k06_sets.positions(Lab(folder, folder, splits=10), "plain")) == _k06_sets.DRAWS
    assert len(_k06_sets.positions(Lab(folder, folder, splits=1), "plain")) == 1


def test_a_score_of_zero_is_negative() -> None:
    assert _k06_sets.sign_error(np.array([1.0, -1.0, 0.0, 2.0]), np.array([1, -1, 1, -1])) == 50.0
