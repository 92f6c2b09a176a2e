"""Probabilities from scores: the optimum of the loss that Platt smooths, found by Newton and by looking."""

from __future__ import annotations

import numpy as np
import pytest
from reference.calibration import slow_platt, slow_targets, slow_temperature

from sparsegen.solvers.calibration import (
    fit_platt,
    fit_temperature,
    platt_objective,
    smoothed_targets,
    temperature_objective,
)


def drawn(seed: int, n: int = 40, n_classes: int = 2):
    """Scores whose true slope is 1.5 and offset -0.7 (two classes), or 2 (more)."""
    rng = np.random.default_rng(seed)
    weights = rng.uniform(0.5, 2.0, n)
    if n_classes == 2:
        scores = rng.normal(size=n) * 2.0
        index = (rng.random(n) < 1.0 / (1.0 + np.exp(-1.5 * scores + 0.7))).astype(np.intp)
        return scores, index, weights
    scores = rng.normal(size=(n, n_classes))
    p = np.exp(2.0 * scores)
    p /= p.sum(axis=1, keepdims=True)
    return scores, np.array([rng.choice(n_classes, p=row) for row in p]), weights


@pytest.mark.parametrize("size", [1.0, 1e-30, 1e30])
def test_platt_finds_the_optimum_in_any_unit(size: float) -> None:
    for seed in range(3):
        scores, index, weights = drawn(seed)
        found = fit_platt(scores * size, index == 1, weights)
        assert found is not None
        np.testing.assert_allclose([found[0] * size, found[1]], slow_platt(scores, index == 1, weights), rtol=2e-4)


@pytest.mark.parametrize("size", [1.0, 1e-30, 1e30])
def test_temperature_finds_the_optimum_in_any_unit(size: float) -> None:
    for seed in range(3):
        scores, index, weights = drawn(seed, n_classes=3)
        found = fit_temperature(scores * size + 5.0 * size, index, weights)
        assert found is not None
        assert found * size == pytest.approx(slow_temperature(scores, index, weights), rel=1e-4)


def test_gradients_and_hessians_are_those_of_finite_differences() -> None:
    step = 1e-5
    for objective, at, (scores, index, weights) in (
        (platt_objective, np.array([0.8, -0.3]), drawn(0)),
        (temperature_objective, np.array([0.8]), drawn(0, n_classes=4)),
    ):
        targets = smoothed_targets(index, 2 if scores.ndim == 1 else 4, weights)
        y = targets[:, 1] if scores.ndim == 1 else targets
        _, gradient, H = objective(at, scores, y, weights)
        for j, unit in enumerate(np.eye(len(at))):
            up, down = (objective(at + sign * step * unit, scores, y, weights) for sign in (1.0, -1.0))
            assert (up[0] - down[0]) / (2 * step) == pytest.approx(gradient[j], rel=1e-6, abs=1e-7)
            np.testing.assert_allclose((up[1] - down[1]) / (2 * step), H[j], rtol=1e-6, atol=1e-7)


def test_a_row_of_weight_two_is_two_rows() -> None:
    scores, index, _ = drawn(4)
    weights = np.where(np.arange(len(scores)) % 3 == 0, 2.0, 1.0)
    twice = np.repeat(np.arange(len(scores)), weights.astype(int))
    weighed, repeated = fit_platt(scores, index == 1, weights), fit_platt(scores[twice], index[twice] == 1)
    assert weighed is not None
    assert repeated is not None
    np.testing.assert_allclose(np.array(weighed), np.array(repeated), rtol=1e-9)
    scores, index, _ = drawn(4, n_classes=3)
    assert fit_temperature(scores, index, weights) == pytest.approx(fit_temperature(scores[twice], index[twice]))


def test_targets_are_platts() -> None:
    index, weights = np.array([0, 0, 1, 2, 2, 2]), np.array([1.0, 1.0, 1.0, 1.0, 0.5, 0.5])
    targets = smoothed_targets(index, 3, weights)
    np.testing.assert_allclose(targets, slow_targets(index, 3, weights), rtol=1e-15)
    assert targets[0].tolist() == [0.75, 0.125, 0.125]
    assert targets[2, 1] == pytest.approx(2 / 3)


def test_classes_that_part_cleanly_do_not_make_the_slope_infinite() -> None:
    s = np.concatenate([np.full(20, -1.0), np.full(30, 1.0)])
    found = fit_platt(s, s > 0)
    assert found is not None
    p = 1.0 / (1.0 + np.exp(-(found[0] * np.array([-1.0, 1.0]) + found[1])))
    np.testing.assert_allclose(p, [1 / 22, 31 / 32], rtol=1e-6)  # the targets themselves
    slope = fit_temperature(np.column_stack([s, -s, np.zeros(50)]), np.where(s > 0, 0, 1))
    assert slope is not None
    assert 1.0 < slope < 10.0


@pytest.mark.parametrize("sign", [0.0, -1.0])
def test_scores_that_say_nothing_give_no_slope(sign: float) -> None:
    scores, index, _ = drawn(5)
    assert fit_platt(sign * scores, index == 1) is None
    scores, index, _ = drawn(5, n_classes=3)
    assert fit_temperature(sign * scores, index) is None
