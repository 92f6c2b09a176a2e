from __future__ import annotations

from closed_forms import agrees

from sparsegen.kernels import KERNELS


def test_closed_form() -> None:
    agrees(
        "poly",
        lambda x, z, gamma, coef0, degree: float((gamma * (x @ z) + coef0) ** degree),
        gamma=0.35,
        coef0=0.5,
        degree=3,
    )


def test_traits() -> None:
    kernel = KERNELS["poly"].bind(degree=2)
    assert not (kernel.is_linear or kernel.is_radial or kernel.falls or kernel.has_unit_diagonal or kernel.is_gaussian)
