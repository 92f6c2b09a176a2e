"""A machine that made room for a function it then left out goes on as if it had never seen it."""

from __future__ import annotations

import numpy as np
import pytest

from sparsegen.solvers.greedy import GrowingMachine


@pytest.mark.parametrize("hinge", [True, False])
def test_a_copy_that_is_left_out_changes_nothing(hinge: bool) -> None:
    rng = np.random.default_rng(0)
    y = np.where(np.arange(40) % 2 == 0, 1.0, -1.0)
    X = 0.7 * rng.normal(size=(40, 2)) + 0.5 * y[:, None]
    K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    machines = []
    for copies in (0, 1):
        machine = GrowingMachine(y, 0.1, hinge=hinge, intercept=False)
        chosen: list[int] = []
        for j in (0, 1, 7, 12, 21, 30):
            assert machine.append(K[j], K[chosen, j], 1.0)
            chosen.append(j)
            for _ in range(copies):
                assert not machine.append(K[j], K[chosen, j], 1.0)
            machine.solve(50)
        machines.append(machine)
    plain, tried = machines
    np.testing.assert_allclose(tried.beta, plain.beta, rtol=1e-8)
    assert tried.objective() == pytest.approx(plain.objective(), rel=1e-12)
    np.testing.assert_allclose(tried.L @ tried.L.T, tried.P, rtol=1e-8, atol=1e-10)


def test_room_is_made_for_half_as_many_functions_again() -> None:
    """So that a hundred functions are copied a few times only, and little memory is left over."""
    machine = GrowingMachine(np.ones(120), 1.0, intercept=False)
    rooms = [len(machine._A)]
    for d in range(1, 101):
        assert machine.append(np.eye(120)[d], np.zeros(d - 1), 1.0)
        rooms.append(len(machine._A))
        assert d <= rooms[-1] <= 1.5 * d + 2.0
        assert machine._square.shape == (3, rooms[-1], rooms[-1])
    assert len(set(rooms)) <= 9
    np.testing.assert_array_equal(machine.R, np.eye(100))
    np.testing.assert_array_equal(machine.P, 2.0 * np.eye(100))
