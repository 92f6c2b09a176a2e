"""Limits of the relevance vector machine's solver; its formulas are compared with their twins in tests/methods."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from reference import kernels

from sparsegen.solvers import rvm

Array = NDArray[np.float64]


@pytest.fixture
def problem() -> tuple[Array, Array]:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(30, 2))
    t = (X[:, 0] * X[:, 1] + 0.4 * rng.normal(size=30) > 0.0).astype(float)
    return kernels.gram("rbf", {"gamma": 0.7}, X, X), t


def test_precisions_stay_within_their_bounds(problem: tuple[Array, Array], monkeypatch: pytest.MonkeyPatch) -> None:
    P, t = problem
    assert rvm.solve(P, t, 200, 1e-6).alpha.max() < 0.1
    monkeypatch.setattr(rvm, "LARGEST_ALPHA", 5.0)
    assert rvm.solve(P, t, 10, 1e-6, start=np.array([1, 5, 22])).alpha.min() > 0.15
    used, alpha = np.array([0, 3]), np.array([0.5, 2.0])
    mode = rvm.find_mode(np.column_stack([P[:, used], np.ones(30)]), t, alpha, np.zeros(3))
    _, best = rvm.gains_of_changes(P, used, alpha, t, mode)
    assert best[np.isfinite(best)].max() <= 5.0


def test_a_copy_of_a_column_in_the_model_gains_nothing(problem: tuple[Array, Array]) -> None:
    P, t = problem
    twice = np.column_stack([P, P[:, 2], np.zeros(30)])
    used, alpha = np.array([2]), np.array([1e-12])  # as good as no prior: its copy adds nothing
    mode = rvm.find_mode(np.column_stack([P[:, used], np.ones(30)]), t, alpha, np.zeros(2))
    gains, best = rvm.gains_of_changes(twice, used, alpha, t, mode)
    assert gains[30] == -np.inf
    assert gains[31] == -np.inf, "a column of zeros"
    assert best[31] == np.inf


def test_iterations_are_bounded_and_told(problem: tuple[Array, Array]) -> None:
    P, t = problem
    told: list[float] = []
    found = rvm.solve(P, t, 3, 1e-9, advance=told.append)
    assert (found.iterations, found.solved, len(told)) == (3, False, 3)
    assert told[-1] == found.evidence
    assert told == sorted(told)
    whole = rvm.solve(P, t, 500, 1e-9)
    assert whole.solved
    assert whole.evidence > found.evidence
    assert rvm.solve(P, t, whole.iterations, 1e-9).iterations == whole.iterations


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_a_single_class_is_a_bias_only(value: float, problem: tuple[Array, Array]) -> None:
    P, _ = problem
    found = rvm.solve(P, np.full(30, value), 100, 1e-3)
    assert len(found.used) == 0
    assert np.sign(found.bias) == 2.0 * value - 1.0
    assert abs(found.bias) > 5.0


def test_the_bias_alone_is_the_log_odds() -> None:
    found = rvm.solve(np.ones((40, 1)), np.repeat([0.0, 1.0], [30, 10]), 100, 1e-3)
    assert found.bias + found.weights.sum() == pytest.approx(np.log(1.0 / 3.0), abs=1e-4)
