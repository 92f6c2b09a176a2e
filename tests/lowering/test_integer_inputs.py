"""Rows as an integer program reads them, which of them guarantees cover, and scores to the last of their 32 bits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from integer_models import quantized

from benchmarks.trust._together import make_integer_case
from sparsegen.lowering.calibrate import Box
from sparsegen.lowering.coefficients import float32_from, scale_coefficients
from sparsegen.lowering.integer_program import IntegerProgram

CASE = make_integer_case(5, d=2, m=2, raw=True)


def program(reads: str) -> IntegerProgram:
    """Return a program of two features whose grid has indices 0 to 255, from 10 and from -20 on, in steps of 0.5."""
    made = quantized(CASE.model, "q7", reads, CASE.rows)
    low, step = np.array([10.0, -20.0]), np.array([0.5, 0.5])
    return replace(made, low=low, step=step, reader=replace(made.reader, levels=255))


def test_indices_are_the_nearest_on_the_grid():
    rows = np.array([[10.0, -20.0], [10.24, -19.76], [10.25, -19.75], [137.5, 107.5], [200.0, -99.0]])
    found = program("grid").inputs(rows)
    assert found.dtype == np.uint8
    assert found.tolist() == [[0, 0], [0, 0], [1, 1], [255, 255], [255, 0]]


def test_whole_numbers_are_rounded_and_kept_within_their_type():
    rows = np.array([[1.4, -1.6], [254.6, 300.0], [-7.0, 4e4]])
    assert program("raw-uint8").inputs(rows).tolist() == [[1, 0], [255, 255], [0, 255]]
    assert program("raw-int16").inputs(rows).tolist() == [[1, -2], [255, 300], [-7, 32767]]
    assert program("raw-int16").inputs(-rows).tolist() == [[-1, 2], [-255, -300], [7, -32768]]
    found = program("f32").inputs(rows)
    assert found.dtype == np.float32
    assert np.array_equal(found, rows.astype(np.float32))


def test_a_row_that_leaves_the_grid_is_not_covered():
    """By half a step: what is beyond is moved to the end."""
    made = replace(program("grid"), range=Box(np.zeros(2), np.full(2, 255.0)))
    edges = [(9.76, True), (9.74, False), (137.74, True), (137.76, False), (50.0, True)]
    rows = np.array([[value, 0.0] for value, _ in edges])
    assert made.covers(rows).tolist() == [covered for _, covered in edges]
    rows = np.array([[50.0, value - 30.0] for value, _ in edges])
    assert made.covers(rows).tolist() == [covered for _, covered in edges]


def test_a_row_that_leaves_its_type_is_not_covered():
    made = replace(program("raw-uint8"), range=Box(np.zeros(2), np.full(2, 255.0)))
    rows = np.array([[0.0, 255.0], [-0.4, 255.4], [-0.6, 3.0], [3.0, 255.6], [3.0, 7.0]])
    assert made.covers(rows).tolist() == [True, True, False, False, True]


@pytest.mark.parametrize("reads", ["f32", "raw-int16"])
def test_the_ends_of_the_range_are_covered(reads):
    made = replace(program(reads), range=Box(np.array([1.0, -5.0]), np.array([9.0, 5.0])))
    rows = np.array([[1.0, -5.0], [9.0, 5.0], [0.0, 0.0], [10.0, 0.0], [5.0, 6.0], [5.0, -6.0], [5.0, 0.0]])
    assert made.covers(rows).tolist() == [True, True, False, False, False, False, True]
    assert made.in_range(made.inputs(rows)).tolist() == made.covers(rows).tolist()


def test_a_row_whose_projection_leaves_its_grid_is_not_covered():
    case = make_integer_case(5, d=4, projected=True, raw=True)
    made = quantized(case.model, "q7", "raw-int16", case.rows)
    assert made.projection is not None
    everything = replace(made, range=Box(np.full(4, -32768.0), np.full(4, 32767.0)))
    far = np.random.default_rng(0).integers(0, 256, (200, 4)).astype(np.int16)
    stays = made.projection.stays_on_grid(made.reader(far))
    assert 0 < stays.sum() < 200
    assert everything.in_range(far).tolist() == stays.tolist()
    assert not made.in_range(np.full((1, 4), 32767, np.int16)).any()


@pytest.mark.parametrize(("score", "fits"), [(2**31 - 1, True), (1 - 2**31, True), (2**31, False), (-(2**31), False)])
def test_a_score_may_fill_32_bits_and_no_more(score, fits):
    made = program("f32")
    constant = replace(made, coef=0 * made.coef, intercept=np.array([score]))
    inputs = made.inputs(CASE.rows[:3])
    if fits:
        assert constant.scores(inputs).tolist() == [[score]] * 3
    else:
        with pytest.raises(AssertionError, match="overflows"):
            constant.scores(inputs)


# ---- Units -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [1.0, 0.1, 1 / 3, 1e-30, 16777217.0, 3.3, 1.0 + 2.0**-23])
def test_a_unit_is_the_smallest_float32_that_is_large_enough(value):
    found = float32_from(value)
    below = np.nextafter(np.float32(found), np.float32(-np.inf))
    assert np.float32(found) == found
    assert float(below) < value <= found


@pytest.mark.parametrize("size", [1e-6, 0.7, 1.0, 12345.6])
def test_the_largest_coefficient_fills_its_16_bits(size):
    for sign in (-1.0, 1.0):
        coef = sign * size * np.array([[[1.0, 0.25, -0.5]]])
        q, b, unit = scale_coefficients(coef, np.zeros(1), 2**15 - 1, 2**15)
        assert np.abs(q).tolist() == [[[32767, 8192, 16384]]] or np.abs(q).tolist() == [[[32767, 8192, 16383]]]
        assert b.tolist() == [0]
        assert unit == pytest.approx(size / 32767 / 2**15, rel=1e-6)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_a_long_sum_fills_its_32_bits(sign):
    """Coefficients of one sign, and an intercept that counts as much as it is: their sum is what is left of 2^31."""
    coef, intercept = np.full((1, 2, 100), sign), np.array([sign * 50.0])
    q, b, unit = scale_coefficients(coef, intercept, 2**15 - 1, 2**15)
    total = (2**15 - 1) * np.abs(q).sum() + np.abs(b).sum()
    assert 2**31 * 0.99 < total < 2**31
    assert unit == pytest.approx((200 * (2**15 - 1) + 50 * 2**15) / (2**31 - 1) / 2**15, rel=2e-3)
    other = scale_coefficients(coef, -intercept, 2**15 - 1, 2**15)[2]
    assert other == pytest.approx(200 * (2**15 - 1) / (2**31 - 1) / 2**15, rel=2e-3), "opposite signs do not add up"


@pytest.mark.parametrize(("largest", "one"), [(2**15 - 1, 2**15), (255, 1)])
def test_a_unit_is_never_below_what_float32_holds_in_full(largest, one):
    for size in (0.0, 1e-60):
        q, b, unit = scale_coefficients(np.full((1, 1, 2), size), np.array([size]), largest, one)
        assert unit == float(np.finfo(np.float32).tiny)
        assert not q.any()
        assert not b.any()


@pytest.mark.parametrize("sign", [-1.0, 1.0])
@pytest.mark.parametrize("shape", [(1, 1, 3), (1, 3, 1), (2, 1, 3)])
def test_three_equal_coefficients_share_32_bits_to_the_last_unit(shape, sign):
    """3 x 21846 x 32767 is just below 2^31, and another unit would be beyond."""
    q, _, _ = scale_coefficients(np.full(shape, 0.3 * sign), np.zeros(shape[0]), 2**15 - 1, 2**15)
    assert np.all(q == 21846 * sign)
