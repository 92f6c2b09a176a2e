"""Losses of probabilities: scikit-learn's, and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss, log_loss

from sparsegen.model.probability_quality import measure_probabilities


def test_losses_are_scikit_learns() -> None:
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(3), 50)
    index = rng.integers(0, 3, 50)
    shares = np.array([0.5, 0.3, 0.2])
    found = measure_probabilities(p, index, shares)
    assert found.rows == 50
    assert found.log_loss == pytest.approx(log_loss(index, p))
    assert found.prior_log_loss == pytest.approx(log_loss(index, np.tile(shares, (50, 1))))
    two = np.column_stack([1 - p[:, 0], p[:, 0]])
    of_two = measure_probabilities(two, np.minimum(index, 1), np.array([0.5, 0.5]))
    assert of_two.brier == pytest.approx(2 * brier_score_loss(np.minimum(index, 1), p[:, 0]))
    assert of_two.prior_brier == pytest.approx(0.5)


def test_the_calibration_error_is_the_gap_between_confidence_and_accuracy() -> None:
    p = np.array([[0.95, 0.05]] * 4 + [[0.35, 0.65]] * 2 + [[1.0, 0.0]])
    index = np.array([0, 0, 0, 1, 1, 0, 0])  # 4 rows at 0.95 and one at 1: 4 right; 2 rows at 0.65: 1 right
    found = measure_probabilities(p, index, np.array([0.5, 0.5]))
    assert found.calibration_error == pytest.approx((abs(4 * 0.95 + 1.0 - 4) + abs(2 * 0.65 - 1)) / 7)


def test_a_sure_mistake_has_a_finite_loss() -> None:
    found = measure_probabilities(np.array([[1.0, 0.0]]), np.array([1]), np.array([0.5, 0.5]))
    assert found.log_loss == pytest.approx(-np.log(np.finfo(float).eps))
    assert "log loss 36.05 (class shares alone: 0.6932)" in str(found)
