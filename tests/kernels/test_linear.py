from __future__ import annotations

from closed_forms import agrees

from sparsegen.kernels import KERNELS


def test_closed_form() -> None:
    agrees("linear", lambda x, z: float(x @ z))


def test_traits() -> None:
    kernel = KERNELS["linear"].bind()
    assert kernel.is_linear
    assert not (kernel.is_radial or kernel.falls or kernel.has_unit_diagonal or kernel.is_gaussian)
