from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from reference import greedy as reference
from reference import kernels

from sparsegen.solvers import greedy
from sparsegen.solvers.greedy import GrowingMachine, independent, score_columns, update_factor

Array = NDArray[np.float64]
LAM = (1e-3, 0.1, 10.0)


def problem(n: int = 80, seed: int = 0, gamma: float = 0.5) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=n) > 0.0, 1.0, -1.0)
    return kernels.gram("rbf", {"gamma": gamma}, X, X), y


def grown(K: Array, y: Array, J: list[int], lam: float, hinge: bool = True, intercept: bool = True) -> GrowingMachine:
    machine = GrowingMachine(y, lam, hinge=hinge, intercept=intercept)
    for count, j in enumerate(J):
        assert machine.append(K[j], K[j, J[:count]], float(K[j, j]))
        machine.solve(100)
    return machine


def assert_optimal(machine: GrowingMachine, y: Array) -> None:
    """The gradient vanishes, and P, L and o are what their definitions say."""
    o = machine.beta @ machine.A
    residual = np.where(y * o < 1.0, y - o, 0.0) if machine.hinge else y - o
    gradient = machine.lam * machine.R @ machine.beta - machine.A @ residual
    assert np.abs(gradient).max() <= 1e-8 * len(y)
    assert np.allclose(machine.o, o, atol=1e-8 * max(1.0, np.abs(machine.beta).max()))
    A = machine.A[:, machine.active]
    P = machine.lam * machine.R + A @ A.T
    assert np.allclose(machine.P, P, rtol=1e-9, atol=1e-9 * np.abs(P).max())
    assert np.allclose(machine.L @ machine.L.T, P, rtol=1e-8, atol=1e-9 * np.abs(P).max())


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("hinge", [False, True])
@pytest.mark.parametrize("lam", LAM)
def test_growing_machine_stays_at_the_optimum(lam: float, hinge: bool, intercept: bool) -> None:
    K, y = problem()
    J = list(range(0, 60, 5))
    machine = GrowingMachine(y, lam, hinge=hinge, intercept=intercept)
    for count, j in enumerate(J):
        assert machine.append(K[j], K[j, J[:count]], float(K[j, j]))
        assert machine.solve(100) <= 15
        assert machine.solved
        assert_optimal(machine, y)
        if count % 4 == 3:
            expected, o = reference.optimum(K, J[: count + 1], y, lam, hinge, intercept)
            assert machine.objective() == pytest.approx(expected, rel=1e-8)
            assert np.allclose(machine.o, o, atol=1e-3)
            beta, b = machine.beta[machine.first :], machine.intercept
            value = reference.objective(beta, b, K, J[: count + 1], y, lam, hinge)
            assert machine.objective() == pytest.approx(value, rel=1e-10)


@pytest.mark.parametrize("lam", LAM)
def test_gradient_is_the_limit_of_differences(lam: float) -> None:
    """[K06, eq. 6], away from the optimum."""
    K, y = problem()
    J = [3, 14, 15, 9]
    machine = grown(K, y, J, lam)
    rng = np.random.default_rng(0)
    beta = machine.beta + rng.normal(size=5)
    o = beta @ machine.A
    g = lam * machine.R @ beta - machine.A @ np.where(1.0 - y * o > 0.0, y - o, 0.0)

    def value(at: Array) -> float:
        return reference.objective(at[1:], float(at[0]), K, J, y, lam, True)

    steps = 1e-6 * np.eye(5)
    differences = [(value(beta + s) - value(beta - s)) / 2e-6 for s in steps]
    assert np.allclose(g, differences, rtol=1e-5, atol=1e-5)


def test_all_rows_as_basis_are_the_svm() -> None:
    """With J everything, [K06, eq. 4] is the squared hinge SVM: no row that is not active has a coefficient."""
    K, y = problem(40, gamma=5.0)
    machine = GrowingMachine(y, 0.5, intercept=False)
    machine.load(K, K, np.zeros(40))
    machine.solve(100)
    residual = np.maximum(0.0, 1.0 - y * machine.o)
    assert np.allclose(machine.beta, y * residual / 0.5, atol=1e-6)


@pytest.mark.parametrize("hinge", [False, True])
def test_loading_is_appending(hinge: bool) -> None:
    K, y = problem()
    J = [1, 5, 9, 33, 34, 60]
    one = grown(K, y, J, 0.1, hinge)
    two = GrowingMachine(y, 0.1, hinge=hinge)
    two.load(K[J], K[np.ix_(J, J)], np.zeros(7))
    two.solve(100)
    assert np.allclose(two.beta, one.beta, rtol=1e-6)
    assert two.objective() == pytest.approx(one.objective(), rel=1e-12)


def test_a_trial_leaves_no_trace() -> None:
    K, y = problem()
    machine = grown(K, y, [1, 5, 9], 0.1)
    before = machine.snapshot()
    kept = [a.copy() for a in (machine.beta, machine.o, machine.P, machine.L, machine.R, machine.A)]
    for j in (20, 30):
        assert machine.append(K[j], K[j, [1, 5, 9]], 1.0)
        machine.solve(100)
        machine.restore(before)
        after = (machine.beta, machine.o, machine.P, machine.L, machine.R, machine.A)
        assert all(np.array_equal(a, b) for a, b in zip(kept, after, strict=True))
    assert machine.append(K[40], K[40, [1, 5, 9]], 1.0)
    machine.solve(100)
    assert_optimal(machine, y)


def test_rows_left_out_do_not_change_the_optimum() -> None:
    K, y = problem()
    J = [1, 5, 9, 33, 34, 60]
    machine = grown(K, y, J, 0.01)
    beta = machine.beta
    keep = machine.active | (y * machine.o < 1.2)
    assert not keep.all()
    machine.keep(keep)
    machine.solve(100)
    assert np.allclose(machine.beta, beta, rtol=1e-6)
    assert machine.append(K[40, keep], K[40, J], 1.0)
    machine.solve(100)
    assert_optimal(machine, y[keep])


def test_an_output_without_a_bias_and_a_weight_to_start_from() -> None:
    K, y = problem()
    machine = GrowingMachine(y, 0.1, intercept=False)
    assert machine.intercept == 0.0
    assert machine.append(K[3], np.empty(0), 1.0, weight=0.5)
    assert np.allclose(machine.o, 0.5 * K[3])
    assert np.array_equal(machine.beta, [0.5])
    assert machine.append(K[7], K[7, [3]], 1.0)
    assert np.array_equal(machine.beta, [0.5, 0.0])
    assert np.array_equal(machine.R, K[np.ix_([3, 7], [3, 7])])


def test_a_copy_is_left_out() -> None:
    K, y = problem()
    machine = grown(K, y, [1, 5], 0.1)
    value = machine.objective()
    assert not machine.append(K[5], K[5, [1, 5]], 1.0)
    assert not machine.append(np.full(80, 2.0), np.zeros(2), 0.0)  # a constant, which the bias is already
    assert not machine.append(np.zeros(80), np.zeros(2), 0.0)
    assert machine.d == 3
    assert machine.objective() == value
    assert independent(K[np.ix_([1, 5, 1, 7, 5], [1, 5, 1, 7, 5])]) == [0, 1, 3]
    assert independent(np.zeros((2, 2))) == []


@pytest.mark.parametrize("name", ["one row in a class", "separable", "equal rows", "huge", "tiny", "no active row"])
def test_degenerate_problems_have_a_solution(name: str) -> None:
    K, y = problem()
    lam = 0.1
    J = [0, 5, 10]
    if name == "one row in a class":
        y = np.where(np.arange(80) == 7, 1.0, -1.0)
    elif name == "separable":
        y, lam = np.where(K[0] > 0.5, 1.0, -1.0), 1e-9
    elif name == "equal rows":
        K, y = np.repeat(np.repeat(K[:20, :20], 4, 0), 4, 1), np.tile([1.0, 1.0, 1.0, -1.0], 20)
    elif name == "huge":
        K = 1e8 * K
    elif name == "tiny":
        K = 1e-8 * K
    elif name == "no active row":
        y, lam = np.ones(80), 1e-9
    machine = grown(K, y, J, lam)
    assert machine.solved
    expected, _ = reference.optimum(K, J, y, lam, True, True)
    assert machine.objective() <= expected * (1.0 + 1e-6) + 1e-12


@pytest.mark.parametrize("few", [True, False])
def test_updated_and_refactorised_machines_agree(few: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(greedy, "ROWS_PER_UPDATE", 0 if few else 10**9)
    K, y = problem()
    machine = grown(K, y, list(range(0, 80, 8)), 1e-3)
    assert_optimal(machine, y)


def test_steps_are_bounded() -> None:
    K, y = problem()
    machine = GrowingMachine(y, 1e-6)
    machine.load(K[:30], K[:30, :30], np.zeros(31))
    assert machine.solve(1) == 1
    assert not machine.solved


@given(st.integers(1, 8), st.integers(1, 4), st.integers(0, 10**6))
@settings(deadline=None)
def test_update_factor_equals_its_twin(d: int, k: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    U = rng.normal(size=(k, d))
    signs = rng.choice([-1.0, 1.0], k)
    B = rng.normal(size=(d, d))
    L = np.asarray(np.linalg.cholesky(B @ B.T + np.eye(d) + U.T @ U), dtype=np.float64)
    expected = reference.update_factor(L, U, signs)
    room = np.full((d + 2, d + 2), 7.0)
    room[:d, :d] = L
    assert update_factor(room, U, signs)
    assert np.allclose(room[:d, :d], expected, rtol=1e-8, atol=1e-8)
    assert (room[d:] == 7.0).all()
    assert (room[:, d:] == 7.0).all()


def test_update_factor_notices_what_is_not_positive() -> None:
    L = np.eye(3)
    assert not update_factor(L, np.array([[0.0, 1.0, 0.0]]), np.array([-1.0]))


@given(st.integers(0, 10**6), st.sampled_from([1e-3, 1.0, 30.0]), st.booleans(), st.booleans())
@settings(deadline=None)
def test_score_columns_equals_its_twin(seed: int, lam: float, hinge: bool, weighed: bool) -> None:
    rng = np.random.default_rng(seed)
    n = 15
    columns, o = rng.normal(size=(3, n)), rng.normal(size=n)
    y = rng.choice([-1.0, 1.0], n)
    linear, diagonal = rng.normal(size=3), rng.uniform(0.1, 2.0, 3)
    gain, weight = np.empty((2, 3))
    w = rng.uniform(0.1, 5.0, n) if weighed else None
    score_columns(columns, linear, diagonal, o, y, lam, hinge, w, gain, weight)
    for c in range(3):
        best, at = reference.score_column(columns[c], linear[c], diagonal[c], o, y, lam, hinge, w)
        assert gain[c] == pytest.approx(best, rel=1e-6, abs=1e-8)
        assert weight[c] == pytest.approx(at, rel=1e-2, abs=1e-4)


def test_a_column_of_zeros_gains_nothing() -> None:
    gain, weight = np.ones((2, 1))
    score_columns(np.zeros((1, 4)), np.zeros(1), np.zeros(1), np.zeros(4), np.ones(4), 1.0, True, None, gain, weight)
    assert gain[0] == 0.0
    assert weight[0] == 0.0
