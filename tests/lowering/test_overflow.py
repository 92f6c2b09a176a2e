"""How large features may be: at the ends of the stated range the C gives finite scores, under fast-math too."""

from __future__ import annotations

import re

import numpy as np
import pytest
from c_programs import any_compiler
from golden_models import EVERY, model, rows

from sparsegen.devices.host import Host
from sparsegen.errors import ModelError
from sparsegen.kernels import Kernel, Parameter
from sparsegen.kernels.expression import SQDIST, Param, Sqrt
from sparsegen.lowering import float_road, lower
from sparsegen.lowering.overflow import safe_power_of_ten
from sparsegen.targets import TARGETS


@pytest.mark.parametrize("name", EVERY)
def test_nothing_overflows_within_the_stated_range(name):
    of = EVERY[name]
    export = TARGETS["c"].export(of, "m")
    stated = re.search(r"while every feature lies from -(1e-?\d+) to (1e-?\d+);", export.files["m.h"].decode())
    assert stated is not None and stated[1] == stated[2]
    most = float(stated[1])
    assert np.nanmax(np.abs(rows(of))) <= most, "the range holds the data"
    rng = np.random.default_rng(0)
    signs = rng.choice([-1.0, 1.0, 0.0], size=(300, of.n_features))
    X = np.vstack([most * signs, np.full((1, of.n_features), most), -np.full((1, of.n_features), most)])
    for flags in (("-O2",), ("-O3", "-ffast-math")):
        device = Host(tuple(any_compiler()), ("-std=c99", *flags))
        assert np.isfinite(device.run(export, X.astype(np.float32)).scores).all(), flags


def test_beyond_the_range_scores_may_be_meaningless_and_the_index_is_in_range():
    of = EVERY["binary_rbf"]
    export = TARGETS["c"].export(of, "m")
    X = np.array([[3e38, -3e38, 3e38], [np.nan, 0.0, 0.0], [np.inf, -np.inf, np.nan]], dtype=np.float32)
    out = Host(tuple(any_compiler())).run(export, X)
    assert set(out.labels.tolist()) <= {0, 1}


def test_narrow_and_wide_kernels_have_their_own_range():
    narrow, wide = (model([("rbf", {"gamma": gamma})], 3, 4, (0, 1)) for gamma in (100.0, 1e-6))
    powers = [safe_power_of_ten(float_road(of, base_two=True)) for of in (narrow, wide)]
    assert powers[0] < 19
    assert powers[1] <= 19  # the squared features overflow before they are weighed


def test_numbers_that_overflow_by_themselves_are_refused():
    of = model([("linear", {})], 2, 2, (0, 1))
    program = float_road(of, base_two=True)
    huge = type(program)(**{**vars(program), "intercept": np.array([3e38])})
    with pytest.raises(ModelError, match=r"too large for float32, .*; rescale"):
        safe_power_of_ten(huge)


def test_a_divisor_that_reaches_0_is_refused():
    """A kernel is checked with its default parameters only; others may take it to 0 where x is a vector."""
    parameters = {"c": Parameter("added to the squared distance", 1.0)}
    inverse = Kernel("inverse", "1 / sqrt(c + |x - z|^2)", 1.0 / Sqrt(Param("c") + SQDIST), parameters)
    program = float_road(model([inverse.bind(c=1.0)], 3, 2, (0, 1)), base_two=True)
    assert safe_power_of_ten(program) > 10
    of = model([inverse.bind(c=0.0)], 3, 2, (0, 1))
    with pytest.raises(ModelError, match="divides by 0"), np.errstate(all="ignore"):
        safe_power_of_ten(float_road(of, base_two=True))
    with pytest.raises(ModelError, match="float32"):
        lower(of)
