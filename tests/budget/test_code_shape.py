"""Shapes of code: alike where C is, whatever the numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sparsegen.budget.code_shape import code_shape, curve_bytes
from sparsegen.kernels import KERNELS
from sparsegen.lowering import lower
from sparsegen.lowering.formats import FLOAT32, Format
from sparsegen.model import SparseModel, Transform
from sparsegen.targets import TARGETS

RNG = np.random.default_rng(5)
X = RNG.normal(size=(50, 5))


def model(seed=0, kernel="rbf", m=12, scale=None):
    rng = np.random.default_rng(seed)
    return SparseModel(
        vectors=X[rng.permutation(50)[:m]],
        coef=rng.normal(size=(1, 1, m)),
        intercept=rng.normal(size=1),
        kernels=(KERNELS[kernel].bind(gamma=0.2),),
        transform=Transform(np.zeros(5), np.ones(5) if scale is None else scale),
        classes=(0, 1),
    )


@pytest.mark.parametrize("dtype", ["f32", "q7"])
def test_models_that_differ_in_numbers_only_have_one_shape(dtype):
    numbers = FLOAT32 if dtype == "f32" else Format(dtype, rows=X)
    shapes = {code_shape(lower(model(seed), numbers).program) for seed in range(3)}
    assert len(shapes) == 1
    assert code_shape(lower(model(m=30), numbers).program) in shapes


def test_features_of_many_scales_have_another_shape():
    numbers = Format("q7", rows=X)
    several = model(scale=np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
    assert code_shape(lower(several, numbers).program) != code_shape(lower(model(), numbers).program)


def test_the_tables_of_sampled_curves_are_counted_by_themselves():
    lowered = lower(model(kernel="cauchy"), Format("q7", rows=X))
    size = curve_bytes(lowered.program)
    with_table = TARGETS["c"].write(lowered, "model").table_bytes
    without = TARGETS["c"].write(replace(lower(model(), Format("q7", rows=X))), "model").table_bytes
    assert size > 64
    assert with_table - size <= without
    assert curve_bytes(lower(model(), FLOAT32).program) == 0
