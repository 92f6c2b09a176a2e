"""The descent: it reaches a minimum whatever the units, counts its iterations, and stops where little is gained."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sparsegen.solvers.descent import WINDOW, StopBelow, lbfgs

Array = NDArray[np.float64]
CENTRE = np.array([[1.0, -2.0, 3.0], [0.5, 0.0, 4.0]])


def bowl(x: Array) -> tuple[float, Array]:
    curvature = np.array([1.0, 30.0, 900.0])
    return 1.0 + 0.5 * float((curvature * (x - CENTRE) ** 2).sum()), curvature * (x - CENTRE)


def descend(unit: float | Array, tol: float = 0.0, max_iter: int = 200) -> tuple[Array, float, int, list[str]]:
    remarks: list[str] = []
    found = lbfgs(bowl, np.zeros((2, 3)), unit, max_iter=max_iter, tol=tol, advance=remarks.append)
    return found.x, found.value, found.iterations, remarks


@pytest.mark.parametrize("unit", [1.0, 1e-3, 50.0, np.array([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])])
def test_the_minimum_is_reached_in_any_unit(unit: float | Array) -> None:
    x, value, iterations, remarks = descend(unit)
    assert np.allclose(x, CENTRE, atol=1e-5)
    assert value == pytest.approx(1.0)
    assert len(remarks) == iterations


def test_scaling_the_problem_leaves_the_path_alone() -> None:
    def scaled(x: Array) -> tuple[float, Array]:
        value, gradient = bowl(x / 1024.0)
        return value, gradient / 1024.0

    here = lbfgs(bowl, np.zeros((2, 3)), 1.0, max_iter=7, tol=0.0, advance=lambda remark: None)
    there = lbfgs(scaled, np.zeros((2, 3)), 1024.0, max_iter=7, tol=0.0, advance=lambda remark: None)
    assert np.array_equal(there.x, 1024.0 * here.x)


@pytest.mark.parametrize("unit", [1.0, 1e-3, 50.0])
def test_no_coordinate_falls_below_its_bound(unit: float) -> None:
    lower = np.array([[-np.inf, 0.0, -np.inf], [0.7, -np.inf, 5.0]])
    found = lbfgs(bowl, np.maximum(lower, 6.0), unit, max_iter=200, tol=0.0, advance=lambda remark: None, lower=lower)
    assert np.allclose(found.x, np.maximum(lower, CENTRE), atol=1e-5)


def test_bounds_and_small_gains_end_it() -> None:
    assert descend(1.0, max_iter=3)[2] == 3
    assert descend(1.0, tol=1e9)[2] == WINDOW + 1


def iteration(value: float) -> Any:
    """What SciPy tells a callback of."""
    return SimpleNamespace(fun=value)


@pytest.mark.parametrize("tol", [0.0, 1e-3, 0.1, 2.0])
@pytest.mark.parametrize("share", [0.5, 0.8, 0.99, 1.0])
def test_it_stops_where_ten_iterations_gain_less_than_the_tolerance(tol: float, share: float) -> None:
    values = 7.0 * (1.0 + share ** np.arange(60))
    stop = StopBelow(tol, advance=lambda remark: None)
    expected = next((i for i in range(10, 60) if values[i - 10] - values[i] <= tol * values[i]), None)
    stopped = None
    for i, value in enumerate(values):
        try:
            stop(iteration(value))
        except StopIteration:
            stopped = i
            break
    assert stopped == expected


def test_progress_says_the_objective() -> None:
    remarks: list[str] = []
    StopBelow(0.1, remarks.append)(iteration(12.3456789))
    assert remarks == ["objective 12.346"]
