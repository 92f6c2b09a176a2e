"""The one-class machine in a feature space: optimal, with nu's meaning, and warm-started."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from reference import one_class as reference

from sparsegen.solvers.one_class import solve_one_class

Array = NDArray[np.float64]


def rows(n: int, seed: int) -> Array:
    """Features no longer than 1, as kernels with a unit diagonal give."""
    rng = np.random.default_rng(seed)
    Phi = rng.normal(0.5, 0.5, (n, 4))
    return Phi / np.maximum(1.0, np.linalg.norm(Phi, axis=1))[:, None]


def weights(n: int, seed: int, nu: float, *, equal: bool) -> Array:
    shares = np.ones(n) if equal else np.random.default_rng(seed).uniform(0.5, 2.0, n)
    return shares / (nu * shares.sum())


@pytest.mark.parametrize("equal", [True, False])
@pytest.mark.parametrize("nu", [0.03, 0.3, 0.9])
@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_optimum(seed: int, nu: float, equal: bool) -> None:
    n = 40
    Phi, C = rows(n, seed), weights(n, seed, nu, equal=equal)
    found = solve_one_class([(slice(0, 15), Phi[:15]), (slice(15, n), Phi[15:])], C, 4)
    assert found.solved
    assert found.objective == pytest.approx(reference.objective(found.v, found.rho, Phi, C), abs=1e-12)
    assert found.objective == pytest.approx(reference.optimum(Phi, C), abs=1e-7)
    assert found.alpha.sum() == pytest.approx(1.0)
    assert np.all((found.alpha >= 0.0) & (found.alpha <= C * (1 + 1e-12)))
    assert np.allclose(found.v, found.alpha @ Phi, atol=1e-7)


@pytest.mark.parametrize("nu", [0.05, 0.25, 0.5])
@pytest.mark.parametrize("equal", [True, False])
def test_nu_bounds_the_weight_outside_and_on_the_plane(nu: float, equal: bool) -> None:
    n = 400
    Phi, C = rows(n, 7), weights(n, 7, nu, equal=equal)
    found = solve_one_class([(slice(0, n), Phi)], C, 4)
    share, depth, near = C * nu, found.rho - Phi @ found.v, 1e-6
    rounding = 1e-12  # of sums of 400 shares
    assert share[depth > near].sum() <= nu + rounding
    assert share[depth > -near].sum() >= nu - rounding


def test_a_start_at_the_optimum_stays_there() -> None:
    Phi, C = rows(60, 1), weights(60, 1, 0.2, equal=True)
    blocks = [(slice(0, 60), Phi)]
    first = solve_one_class(blocks, C, 4)
    again = solve_one_class(blocks, C, 4, first)
    assert again.solved
    assert again.rho == pytest.approx(first.rho, abs=1e-6)
    assert again.objective == pytest.approx(first.objective, abs=1e-9)
