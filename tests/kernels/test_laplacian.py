from __future__ import annotations

import numpy as np
from closed_forms import agrees

from sparsegen.kernels import KERNELS


def test_closed_form() -> None:
    agrees("laplacian", lambda x, z, gamma: float(np.exp(-gamma * np.abs(x - z).sum())), gamma=0.35)


def test_traits() -> None:
    kernel = KERNELS["laplacian"].bind(gamma=0.35)
    assert kernel.is_radial and kernel.falls and kernel.has_unit_diagonal
    assert not (kernel.is_linear or kernel.is_gaussian)
