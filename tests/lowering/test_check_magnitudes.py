"""Numbers that no scale fits are refused with a sentence; one of them used to loop for ever, others to overflow."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from golden_models import model

from sparsegen.errors import ModelError
from sparsegen.lowering import lower
from sparsegen.lowering.check_magnitudes import LARGEST, SMALLEST_SCALE, check_magnitudes
from sparsegen.lowering.formats import Format
from sparsegen.model import SparseModel, Transform
from sparsegen.model.file import decode, encode

KERNELS = ("rbf", "linear", "cauchy")
MODELS = [model([(name, {})], 4, 3, (0, 1), projected=2) for name in KERNELS]


@pytest.mark.parametrize("of", MODELS, ids=lambda of: of.kernels[0].name)
@pytest.mark.parametrize("name", ["vectors", "coef", "intercept", "offset", "scale", "projection"])
@pytest.mark.parametrize("value", [1.7e308, 1e160, 1e31])
def test_huge_numbers_are_refused(of: SparseModel, name: str, value: float) -> None:
    arrays, document = decode(of.to_bytes())
    huge = np.array(arrays[name])
    huge.flat[0] = value
    hostile = SparseModel.from_bytes(encode({**arrays, name: huge}, document))
    with pytest.raises(ModelError, match=rf"{name} holds values up to .* too large for integers"):
        lower(hostile, Format("q7"))


@pytest.mark.parametrize("scale", [0.0, 5e-324, 1e-200])
def test_vanishing_scales_are_refused(scale: float) -> None:
    transform = Transform(np.zeros(3), np.array([1.0, scale, 1.0]), MODELS[0].transform.projection)
    with pytest.raises(ModelError, match=r"scale holds .* too small for integers"):
        lower(replace(MODELS[0], transform=transform), Format("q7"))


def test_the_last_numbers_that_fit_are_taken() -> None:
    linear = model([("linear", {})], 1, 3, (0, 1))
    check_magnitudes(replace(linear, transform=Transform(np.zeros(3), np.array([1.0, SMALLEST_SCALE, LARGEST]))))
    beyond = [np.nextafter(SMALLEST_SCALE, 0.0), np.nextafter(LARGEST, np.inf)]
    for scale in beyond:
        with pytest.raises(ModelError, match="for integers"):
            check_magnitudes(replace(linear, transform=Transform(np.zeros(3), np.array([1.0, scale, 1.0]))))
