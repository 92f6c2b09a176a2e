"""The growing machine step by step: what it holds after it is loaded, each Newton step, and how many it takes."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from reference import kernels
from reference import newton as line

from sparsegen.solvers import greedy
from sparsegen.solvers.greedy import GrowingMachine, score_columns

Array = NDArray[np.float64]
J = [2, 11, 17, 23, 31, 38]


def problem(n: int = 50) -> tuple[Array, Array]:
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 2))
    y = np.where(X[:, 0] - X[:, 1] ** 2 + 0.8 + 0.3 * rng.normal(size=n) > 0.0, 1.0, -1.0)
    return kernels.gram("rbf", {"gamma": 0.5}, X, X), y


def loaded(lam: float, beta: Array, hinge: bool = True, intercept: bool = True) -> GrowingMachine:
    K, y = problem()
    machine = GrowingMachine(y, lam, hinge=hinge, intercept=intercept)
    machine.load(K[J], K[np.ix_(J, J)], beta)
    return machine


def matrices(lam: float, intercept: bool) -> tuple[Array, Array]:
    """A and lam R."""
    K, _ = problem()
    A, R = K[J], K[np.ix_(J, J)]
    if intercept:
        A, R = np.vstack([np.ones(50), A]), np.pad(R, ((1, 0), (1, 0)))
    return A, lam * R


def assert_factor(machine: GrowingMachine, active: NDArray[np.bool_], A: Array, lam_R: Array) -> None:
    P = lam_R + A[:, active] @ A[:, active].T
    np.testing.assert_allclose(machine.P, P, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(np.tril(machine.L) @ np.tril(machine.L).T, P, rtol=1e-7, atol=1e-9)
    assert np.array_equal(machine.L, np.tril(machine.L))


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("hinge", [False, True])
def test_a_loaded_machine_is_what_its_definitions_say(hinge: bool, intercept: bool) -> None:
    _, y = problem()
    A, lam_R = matrices(0.3, intercept)
    beta = 3.0 * np.random.default_rng(1).normal(size=6 + intercept)
    machine = loaded(0.3, beta, hinge, intercept)
    o = beta @ A
    active = y * o < 1.0 if hinge else np.ones(50, dtype=bool)
    assert 0 < np.count_nonzero(y * o < 1.0) < 50
    np.testing.assert_allclose(machine.o, o, atol=1e-9)
    assert np.array_equal(machine.active, active)
    assert_factor(machine, active, A, lam_R)
    residual = np.where(active, y - o, 0.0)
    np.testing.assert_allclose(machine.residual, residual, atol=1e-9)
    assert machine.objective() == pytest.approx(0.5 * beta @ lam_R @ beta + 0.5 * residual @ residual)
    assert machine.intercept == (beta[0] if intercept else 0.0)


def test_a_machine_without_functions_has_nothing_to_solve() -> None:
    _, y = problem()
    machine = GrowingMachine(y, 0.3)
    assert machine.solved
    assert (machine.d, machine.removed, machine.intercept) == (1, 0, 0.0)
    assert machine.active.all()
    assert not machine.o.any()


def test_rows_exactly_on_the_margin_are_not_active() -> None:
    _, y = problem()
    machine = loaded(0.3, np.append(1.0, np.zeros(6)))
    assert np.array_equal(machine.active, y < 0.0)
    machine.solve(1)
    assert_factor(machine, y < 0.0, *matrices(0.3, True))


def test_loading_again_forgets_what_was_there() -> None:
    K, y = problem()
    machine = loaded(0.3, np.zeros(7))
    machine.solve(50)
    few = [5, 40]
    machine.load(K[few], K[np.ix_(few, few)], np.zeros(3))
    assert machine.d == 3
    machine.solve(50)
    fresh = GrowingMachine(y, 0.3)
    fresh.load(K[few], K[np.ix_(few, few)], np.zeros(3))
    fresh.solve(50)
    np.testing.assert_allclose(machine.beta, fresh.beta, rtol=1e-6)
    assert machine.append(K[20], K[20, few], 1.0)
    np.testing.assert_allclose(machine.R[1:, 1:], K[np.ix_([*few, 20], [*few, 20])])
    assert not machine.R[0].any()
    assert not machine.R[:, 0].any()


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("lam", [1e-4, 0.05, 5.0])
def test_each_step_is_newtons_to_the_minimum_along_it(lam: float, intercept: bool) -> None:
    _, y = problem()
    A, lam_R = matrices(lam, intercept)
    beta = np.random.default_rng(2).normal(size=6 + intercept)
    machine = loaded(lam, beta, True, intercept)
    for _ in range(4):
        o = beta @ A
        active = y * o < 1.0
        g = lam_R @ beta - A[:, active] @ (y - o)[active]
        P = lam_R + A[:, active] @ A[:, active].T
        d = -np.linalg.solve(P, g)
        if -g @ d < 1e-9:
            break
        s = line.line_search(
            float(beta @ lam_R @ d), float(d @ lam_R @ d), o, d @ A, y, np.zeros(50), 1.0, np.full(50, np.inf)
        )
        before = machine.objective()
        assert machine.solve(1) == 1
        assert_factor(machine, active, A, lam_R)
        beta = beta + s * d
        np.testing.assert_allclose(machine.beta @ A, beta @ A, atol=1e-4 * np.abs(beta @ A).max())
        assert machine.objective() < before
        beta = machine.beta


@pytest.mark.parametrize("lam", [1e-4, 0.05, 5.0])
def test_squares_take_one_step_and_one_to_see_it(lam: float) -> None:
    machine = loaded(lam, np.zeros(7), hinge=False)
    assert machine.solve(50) == 2
    assert machine.solved
    A, lam_R = matrices(lam, True)
    np.testing.assert_allclose(machine.o, A.T @ np.linalg.solve(lam_R + A @ A.T, A @ problem()[1]), atol=1e-6)
    assert machine.solve(50) == 1


@pytest.mark.parametrize("bound", [1, 2, 3])
def test_steps_are_counted_up_to_their_bound(bound: int) -> None:
    whole = loaded(1e-3, np.zeros(7))
    needed = whole.solve(50)
    assert needed > 3
    machine = loaded(1e-3, np.zeros(7))
    assert machine.solve(bound) == bound
    assert not machine.solved
    assert needed - bound - 1 <= machine.solve(50) <= needed
    assert machine.solved
    assert machine.objective() == pytest.approx(whole.objective(), rel=1e-6)
    assert machine.solve(50) <= 2
    assert machine.solved


def test_rows_taken_out_are_counted_until_the_matrix_is_rebuilt() -> None:
    """More of them than rows that are left: then it is built anew."""
    machine = loaded(0.1, np.zeros(7))
    A, lam_R = matrices(0.1, True)
    rows = np.arange(50)
    removed = 0
    for active in (rows < 40, rows >= 5, rows < 30, rows >= 20, rows < 20, rows % 2 == 0, rows < 45, rows >= 0):
        removed += int(np.count_nonzero(machine.active & ~active))
        removed = 0 if removed > np.count_nonzero(active) else removed
        machine._activate(active)
        assert machine.removed == removed
        assert np.array_equal(machine.active, active)
        assert_factor(machine, active, A, lam_R)
    machine = loaded(0.1, np.zeros(7))
    machine._activate(rows < 25)
    assert machine.removed == 25, "as many as are left: not yet"
    machine._activate(rows < 24)
    assert machine.removed == 0


@pytest.mark.parametrize("hinge", [False, True])
@pytest.mark.parametrize("size", [1e-6, 1e-3, 1e3, 1e6])
def test_scores_do_not_depend_on_the_size_of_columns(size: float, hinge: bool) -> None:
    rng = np.random.default_rng(8)
    columns, o, y = rng.normal(size=(5, 20)), rng.normal(size=20), rng.choice([-1.0, 1.0], 20)
    linear, diagonal = rng.normal(size=5), rng.uniform(0.5, 2.0, 5)
    (gain, weight), (scaled_gain, scaled_weight) = np.empty((2, 5)), np.empty((2, 5))
    score_columns(columns, linear, diagonal, o, y, 0.5, hinge, None, gain, weight)
    scaled = (size * columns, size * linear, size**2 * diagonal)
    score_columns(*scaled, o, y, 0.5, hinge, None, scaled_gain, scaled_weight)
    np.testing.assert_allclose(scaled_gain, gain, rtol=1e-6)
    np.testing.assert_allclose(size * scaled_weight, weight, rtol=1e-4)
    assert gain.min() > 0.0


@pytest.mark.parametrize(("share", "steps"), [(0.6e-6, 1), (1.5e-6, 2)])
@pytest.mark.parametrize("hinge", [False, True])
@pytest.mark.parametrize("lam", [0.05, 5.0])
def test_near_the_optimum_a_full_step_is_the_last(lam: float, hinge: bool, share: float, steps: int) -> None:
    """Where no row changes sides and the step gains less than a millionth of the objective."""
    A, lam_R = matrices(lam, True)
    machine = loaded(lam, np.zeros(7), hinge)
    machine.solve(50)
    active = machine.active
    P = lam_R + A[:, active] @ A[:, active].T
    away = np.random.default_rng(9).normal(size=7)
    size = 2.0 * machine.objective()
    away *= np.sqrt(share * size / (away @ P @ away))
    again = loaded(lam, machine.beta + away, hinge)
    assert np.array_equal(again.active, active)
    assert again.solve(50) == steps
    assert again.solved
    np.testing.assert_allclose(again.o, machine.o, atol=1e-6)


@pytest.mark.parametrize(("d", "n_changed", "updated"), [(7, 1, False), (8, 1, True), (16, 2, True), (16, 3, False)])
def test_a_factor_is_updated_for_up_to_an_eighth_as_many_rows(
    d: int, n_changed: int, updated: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that enter first, so that P stays as positive as it can."""
    signs: list[list[float]] = []
    update = greedy.update_factor

    def watched(L: Array, U: Array, of_rows: Array) -> bool:
        signs.append(of_rows.tolist())
        return update(L, U, of_rows)

    monkeypatch.setattr(greedy, "update_factor", watched)
    _, y = problem()
    columns = np.random.default_rng(d).normal(size=(d, 50))
    machine = GrowingMachine(y, 1.0, intercept=False)
    machine.load(columns, np.eye(d), np.zeros(d))
    machine._activate(np.arange(50) != 40)
    signs.clear()
    changed = machine.active.copy()
    changed[[40, 3, 20][:n_changed]] ^= True
    machine._activate(changed)
    assert signs == ([[1.0, *[-1.0] * (n_changed - 1)]] if updated else [])
    assert_factor(machine, changed, columns, np.eye(d))
