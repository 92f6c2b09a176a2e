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
