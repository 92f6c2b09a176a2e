"""Projected gradients go where their twin goes, evaluation by evaluation: each is a whole training."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.typing import NDArray
from reference import simplex as reference

from sparsegen.solvers import simplex
from sparsegen.solvers.simplex import ValueAndGradient, descend, lowest_point

Array = NDArray[np.float64]


def curved(seed: int, bend: float, size: float) -> ValueAndGradient:
    """A quadratic form on four weights; with a small ``bend`` it is not convex, and with none it is linear."""
    rng = np.random.default_rng(seed)
    S, slope = rng.normal(size=(4, 4)), rng.normal(size=4)
    S = bend * (S + S.T) if bend < 1.0 else bend * S @ S.T
    return lambda mu: (size * (9.0 + 0.5 * float(mu @ S @ mu) + float(slope @ mu)), size * (S @ mu + slope))


@pytest.mark.parametrize("size", [1e-3, 1.0, -1e3])
@pytest.mark.parametrize("bend", [0.0, 0.5, 1.0, 30.0])
@pytest.mark.parametrize("seed", range(4))
def test_every_point_is_the_twins(seed: int, bend: float, size: float) -> None:
    function, seen = curved(seed, bend, size), []

    def watched(mu: Array) -> tuple[float, Array]:
        seen.append(mu)
        return function(mu)

    start = reference.project(np.random.default_rng(seed + 100).normal(size=4))
    found = descend(watched, start, 1e-4, 12)
    expected = reference.descent(function, start, 1e-4, 12)
    assert len(seen) == len(expected)
    np.testing.assert_allclose(seen, expected, atol=1e-6)
    assert function(found)[0] == pytest.approx(min(function(mu)[0] for mu in expected), rel=1e-6)


def test_a_linear_program_that_is_a_little_off_is_brought_onto_the_simplex(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simplex, "linprog", lambda *_, **__: SimpleNamespace(x=np.array([0.6, -0.01, 0.5, 3.0])))
    mu, bound = lowest_point(np.array([[1.0, -8.0, 2.0]]), np.array([5.0]))
    np.testing.assert_allclose(mu, [6.0 / 11.0, 0.0, 5.0 / 11.0])
    assert bound == pytest.approx(3.0 * 8.0 + 5.0), "in the unit of the slopes, above the highest cut"
