from __future__ import annotations

from closed_forms import agrees

from sparsegen.kernels import KERNELS
from sparsegen.kernels.affine import split_affine
from sparsegen.kernels.expression import Core, Reciprocal


def test_closed_form() -> None:
    agrees("cauchy", lambda x, z, gamma: float(1.0 / (1.0 + gamma * ((x - z) ** 2).sum())), gamma=0.35)


def test_traits() -> None:
    kernel = KERNELS["cauchy"].bind(gamma=0.35)
    assert kernel.is_radial and kernel.falls and kernel.has_unit_diagonal
    assert not (kernel.is_linear or kernel.is_gaussian)


def test_a_device_divides_once() -> None:
    assert split_affine(KERNELS["cauchy"].bind(gamma=0.35).expression) == (Reciprocal(Core()), 0.35, 1.0)
