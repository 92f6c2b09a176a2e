from __future__ import annotations

import numpy as np
import pytest
from closed_forms import agrees

from sparsegen.kernels import KERNELS
from sparsegen.kernels.affine import split_affine
from sparsegen.kernels.expression import Sqrt, evaluate, nodes

EPSILON = np.finfo(np.float64).eps


def by_hand(x: np.ndarray, z: np.ndarray, gamma: float) -> float:
    s = np.sqrt(3.0 * gamma) * np.linalg.norm(x - z)
    return float((1.0 + s) * np.exp(-s))


def test_closed_form() -> None:
    agrees("matern32", by_hand, gamma=0.35)


def test_traits() -> None:
    kernel = KERNELS["matern32"].bind(gamma=0.35)
    assert kernel.is_radial and kernel.falls and kernel.has_unit_diagonal
    assert not (kernel.is_linear or kernel.is_gaussian)


def test_the_root_is_taken_of_the_core_itself() -> None:
    outer, slope, shift = split_affine(KERNELS["matern32"].bind(gamma=0.5).expression)
    assert (slope, shift) == (1.5, 0.0)
    assert len({node for node in nodes(outer) if isinstance(node, Sqrt)}) == 1  # which C computes once


@pytest.mark.parametrize("gamma", [1e-6, 0.35, 1e6])
def test_near_the_centre_the_slope_loses_no_more_than_its_pull_back_takes_away(gamma: float) -> None:
    """The slope is -3/2 gamma exp(-s), computed as a difference of terms 1 / s times as large.

    Its error is that of the larger terms, epsilon gamma / s. The pull-back multiplies by a distance, which is in
    proportion to s, so a gradient is wrong by a few epsilon of sqrt(gamma), the steepest that the kernel becomes.
    """
    kernel = KERNELS["matern32"].bind(gamma=gamma)
    s = np.geomspace(1e-150, 30.0, 2001)
    distance = s**2 / (3.0 * gamma)
    exact = -1.5 * gamma * np.exp(-s)
    error = np.abs(evaluate(kernel.slope, distance) - exact)
    assert np.all(error <= 8.0 * EPSILON * gamma * (1.0 + 1.0 / s))
    assert np.all(2.0 * error * np.sqrt(distance) <= 16.0 * EPSILON * np.sqrt(gamma) * (1.0 + s))


def test_the_gradient_of_a_matrix_with_itself_is_finite() -> None:
    rng = np.random.default_rng(1)
    Z = rng.normal(size=(6, 3)) + 50.0
    Z[1] = Z[0]
    Z[2] = Z[0] + 1e-160
    Z[3] = Z[0] + 1e-9
    kernel = KERNELS["matern32"].bind(gamma=2.0)
    weights = rng.normal(size=(6, 6))
    with np.errstate(all="raise", under="ignore"):
        gradient = kernel.block(Z, Z).gradient(weights)
    differences = Z[:, None, :] - Z
    s = np.sqrt(6.0) * np.linalg.norm(differences, axis=2)
    exact = np.einsum("iu,iuv->uv", weights * -6.0 * np.exp(-s), -differences)
    assert np.allclose(gradient, exact, rtol=0.0, atol=1e-6)
