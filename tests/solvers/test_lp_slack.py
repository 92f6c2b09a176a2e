from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from reference import lp_slack as reference

from sparsegen.solvers.lp_slack import Descent, LpSlack, graduated, momentum, shorten

Array = NDArray[np.float64]
POWERS = (0.2, 0.5, 1.0)


def overlapping(n: int = 60) -> tuple[Array, Array]:
    rng = np.random.default_rng(n)
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    return 0.5 * rng.normal(size=(n, 3)) + 0.4 * y[:, None], y


def descend(A: Array, y: Array, loss: LpSlack, **options: Any) -> Descent:
    settings: dict[str, Any] = {"is_gram": False, "epsilon": 0.9, "eta": None, "max_iter": 5000, "tol": 1e-9}
    return momentum(A, y, loss, **{**settings, **options})


@pytest.mark.parametrize("p", POWERS)
@pytest.mark.parametrize("s", [5.0, 20.0])
def test_loss_is_the_papers_and_pull_the_limit_of_differences(p: float, s: float) -> None:
    X, y = overlapping()
    w = np.array([0.4, -0.3, 0.8, 0.1])
    margins = y * (reference.extended(X) @ w)
    loss, half_norm = LpSlack(2.0, p, s), 0.5 * float(w[:3] @ w[:3])
    assert half_norm + loss.value(margins) == pytest.approx(reference.objective(w, X, y, 2.0, p))
    assert half_norm + loss.smooth_value(margins) == pytest.approx(reference.smooth_objective(w, X, y, 2.0, p, s))
    gradient = np.append(w[:3], 0.0) - reference.extended(X).T @ (y * loss.smooth_pull(margins))
    assert np.allclose(gradient, reference.gradient(w, X, y, 2.0, p, s), rtol=1e-10)
    step = 1e-6
    for k in range(4):
        up, down = (reference.smooth_objective(w + h * np.eye(4)[k], X, y, 2.0, p, s) for h in (step, -step))
        assert gradient[k] == pytest.approx((up - down) / (2.0 * step), rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("p", POWERS)
def test_far_margins_neither_overflow_nor_divide_by_zero(p: float) -> None:
    loss = LpSlack(3.0, p, 100.0)
    with np.errstate(all="raise", under="ignore"):
        far = np.array([-1e6, -50.0, 50.0, 1e6])
        pull, value = loss.smooth_pull(far), loss.smooth_value(far)
    assert np.allclose(pull, [3.0 * p * 1000001.0 ** (p - 1), 3.0 * p * 51.0 ** (p - 1), 0.0, 0.0], rtol=1e-9)
    assert value == pytest.approx(3.0 * (1000001.0**p + 51.0**p), rel=1e-9)
    around = 1.0 + np.linspace(0.295, 0.305, 11)  # where the logarithm changes its form
    assert np.allclose(np.diff(np.log(loss.smooth_pull(around))), -100.0 * p * 0.001, rtol=1e-6)


@pytest.mark.parametrize("start", [None, (0.1, -0.2, 0.3, -0.4)])
def test_given_rate_is_algorithm_1(start: tuple[float, ...] | None) -> None:
    X, y = overlapping()
    w = np.array(start or np.zeros(4))
    options: dict[str, Any] = {"eta": 1e-3, "epsilon": 0.8, "max_iter": 40, "tol": 0.0}
    found = descend(X, y, LpSlack(1.0, 0.5, 20.0), start=None if start is None else (w[:3], w[3]), **options)
    expected = reference.algorithm_1(w, X, y, 1.0, 0.5, 20.0, 1e-3, 0.8, 40)
    assert np.all(np.diff(found.objectives) < 0.0)
    assert np.allclose(np.append(found.a, found.b), expected, rtol=1e-10)
    assert not found.converged


@pytest.mark.parametrize("p", POWERS)
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_adapted_rate_ends_at_a_stationary_point(p: float, C: float) -> None:
    X, y = overlapping()
    found = descend(X, y, LpSlack(C, p, 20.0), max_iter=20_000, tol=1e-12)
    assert np.all(np.diff(found.objectives) <= 0.0)
    w = np.append(found.a, found.b)
    at_start = np.linalg.norm(reference.gradient(np.zeros(4), X, y, C, p, 20.0))
    assert np.linalg.norm(reference.gradient(w, X, y, C, p, 20.0)) < 1e-3 * at_start
    assert found.objectives[-1] == pytest.approx(reference.smooth_objective(w, X, y, C, p, 20.0))


def test_coefficients_of_rows_follow_the_weight_vector() -> None:
    """By the representer theorem, the same steps in w and in a."""
    X, y = overlapping()
    options: dict[str, Any] = {"eta": 1e-3, "max_iter": 50, "tol": 0.0}
    linear, kernel = (
        descend(A, y, LpSlack(1.0, 0.5, 20.0), is_gram=g, **options) for A, g in ((X, False), (X @ X.T, True))
    )
    assert np.allclose(X.T @ kernel.a, linear.a, rtol=1e-8)
    assert kernel.b == pytest.approx(linear.b)
    assert np.allclose(kernel.objectives, linear.objectives)


def test_rate_that_is_too_large_ends_without_convergence() -> None:
    X, y = overlapping()
    found = descend(X, y, LpSlack(1.0, 0.5, 20.0), eta=1e3, tol=0.0)
    assert not found.converged
    assert np.isfinite(found.a).all()


def test_clock_can_stop_it() -> None:
    X, y = overlapping()
    ticks = iter([True, True, True, False])
    assert len(descend(X, y, LpSlack(1.0, 0.5, 20.0), go_on=lambda: next(ticks)).objectives) == 3


def test_shortening_keeps_the_machine_on_fewer_rows() -> None:
    X, y = overlapping(120)
    K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    loss = LpSlack(3.0, 0.5, 100.0)
    found = descend(K, y, loss, is_gram=True, tol=1e-6)
    short = shorten(K, y, found.a, found.b, loss)
    used = np.count_nonzero(short)
    assert used < np.count_nonzero(found.a) == 120
    margins, before = y * (K @ short + found.b), y * (K @ found.a + found.b)
    assert loss.smooth_pull(before)[short != 0.0].min() > 0.0
    value, was = (0.5 * a @ K @ a + loss.smooth_value(m) for a, m in ((short, margins), (found.a, before)))
    assert value <= 1.01 * was


def test_shortening_goes_by_the_first_loss_that_keeps_the_objective() -> None:
    """The sharper the loss, the fewer rows are at its margin; cut short, a descent needs the others."""
    X, y = overlapping(120)
    K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    blunt, sharp = LpSlack(3.0, 0.5, 20.0), LpSlack(3.0, 0.5, 2000.0)
    found = descend(K, y, blunt, is_gram=True, tol=1e-6)
    with_blunt, with_sharp = (shorten(K, y, found.a, found.b, loss) for loss in (blunt, sharp))
    assert np.count_nonzero(with_blunt) < np.count_nonzero(with_sharp), "all rows"
    assert np.array_equal(shorten(K, y, found.a, found.b, sharp, blunt), with_blunt)
    settled = graduated(K, y, blunt, is_gram=True, epsilon=0.9, max_iter=20_000, tol=1e-7)
    few, more = (shorten(K, y, settled.a, settled.b, loss) for loss in (replace(blunt, s=320.0), blunt))
    assert np.count_nonzero(few) < np.count_nonzero(more)
    assert np.array_equal(shorten(K, y, settled.a, settled.b, replace(blunt, s=320.0), blunt), few)


def test_shortening_passes_over_a_loss_that_sees_no_row_at_the_margin() -> None:
    """All margins are 2: the pull of a sharp loss underflows to 0 for every row."""
    X, y = overlapping(30)
    K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    a = np.linalg.solve(K + 1e-9 * np.eye(30), 2.0 * y)
    blunt, sharp = LpSlack(3.0, 0.5, 20.0), LpSlack(3.0, 0.5, 6400.0)
    assert not sharp.smooth_pull(np.full(30, 2.0)).any()
    assert np.array_equal(shorten(K, y, a, 0.0, sharp, blunt), shorten(K, y, a, 0.0, blunt))


def test_shortening_never_makes_a_machine_worse() -> None:
    """Coefficients that are no stationary point: rows outside the margin carry the machine."""
    X, y = overlapping(40)
    K = np.exp(-5.0 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    loss = LpSlack(1.0, 0.5, 100.0)
    a = np.linalg.solve(K + 1e-6 * np.eye(40), 3.0 * y)
    a[:3] = 0.0
    short = shorten(K, y, a, 0.0, loss)
    value, was = (0.5 * c @ K @ c + loss.smooth_value(y * (K @ c)) for c in (short, a))
    assert value <= 1.01 * was
    assert not shorten(np.zeros((4, 4)), np.ones(4), np.zeros(4), 0.0, loss).any()
