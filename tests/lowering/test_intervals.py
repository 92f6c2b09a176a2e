"""The intervals of intermediate values, for tables made by hand: each is the smallest and largest there can be."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from golden_models import model
from integer_models import quantized

from benchmarks.trust._together import make_integer_case
from sparsegen.kernels import KERNELS
from sparsegen.lowering.curves import SampledCurve
from sparsegen.lowering.guarantee import intervals
from sparsegen.lowering.integer_program import IntegerProjection
from sparsegen.lowering.quantize import _half_power_falls


@pytest.mark.parametrize(
    ("weights", "bias", "expected"),
    [
        ([[1, 2], [3, 4]], [-5, -6], (-6, 7 * 100)),
        ([[1, 2], [3, 4]], [5, 6], (0, 7 * 100 + 6)),
        ([[-1, -2], [-3, -4]], [-5, -6], (-7 * 100 - 6, 0)),
        ([[-1, -2], [-3, -4]], [5, 6], (-7 * 100, 6)),
        ([[9, -2], [-3, 4]], [0, 0], (-300, 900)),
    ],
)
def test_a_projected_value_lies_between_all_terms_of_one_sign(weights, bias, expected):
    """In any order, with every index from 0 to 100."""
    case = make_integer_case(5, d=2, projected=True, raw=True)
    program = quantized(case.model, "q7", "f32", case.rows)
    made = replace(
        program,
        reader=replace(program.reader, levels=100),
        projection=IntegerProjection(np.array(weights), np.array(bias), 0, 255),
    )
    assert intervals(made)["projected value"] == expected


def test_places_of_the_widest_curve_count():
    case = make_integer_case(3, "cauchy", octaves=(0, 6))
    program = quantized(case.model, "q7", "grid", case.rows)
    values = np.linspace(32767, 0, 33).astype(np.int64)
    narrow, wide = SampledCurve(0, values, 0.0), SampledCurve(9, values, 0.0)
    for curves in ((narrow, wide), (wide, narrow)):
        assert intervals(replace(program, curves=curves))["unsigned place on a curve"] == (0, 32 * 512 - 1)
    both_narrow = replace(program, curves=(narrow, narrow))
    assert intervals(both_narrow)["unsigned place on a curve"] == (0, 31 * 256)


def test_only_raw_integers_are_scaled_and_only_tables_have_places():
    case = make_integer_case(5, d=3, raw=True)
    for reads, scaled in (("f32", False), ("grid", False), ("raw-int16", True)):
        found = intervals(quantized(case.model, "q7", reads, case.rows))
        assert ("scaled feature" in found) is scaled
        assert "projected value" not in found
        assert "unsigned place on a curve" not in found
        assert {"unsigned sum of squares and norm", "unsigned twice the dot product", "distance", "score"} <= set(found)


@pytest.mark.parametrize(
    ("gammas", "whole"), [((1.0,), True), ((0.5, 4.0), True), ((1.0, 3.0), False), ((1.0, 2.0 * (1 + 1e-6)), False)]
)
def test_gaussians_are_half_powers_where_they_are_whole_octaves_apart(gammas, whole):
    falls = _half_power_falls(tuple(KERNELS["rbf"].bind(gamma=gamma) for gamma in gammas))
    expected = [gamma / np.log(2.0) for gamma in gammas]
    assert (falls == pytest.approx(expected)) if whole else falls is None


def test_other_kernels_are_no_half_powers():
    assert _half_power_falls(model([("cauchy", {"gamma": 1.0})], 2, 2, (0, 1)).kernels) is None
    mixed = model([("rbf", {"gamma": 1.0}), ("cauchy", {"gamma": 1.0})], 2, 2, (0, 1)).kernels
    assert _half_power_falls(mixed) is None
