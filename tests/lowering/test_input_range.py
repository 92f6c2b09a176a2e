"""The raw side of integer programs: ranges as the device reads them, and steps of features."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparsegen.lowering.calibrate import Box
from sparsegen.lowering.formats import FLOAT_INPUT, INPUT_KINDS
from sparsegen.lowering.input_range import as_read, covered, grid_range, own_steps, shared_steps
from sparsegen.lowering.read_integers import make_whole_reader
from sparsegen.lowering.reader import make_reader
from sparsegen.model import Transform

INT16, UINT8, GRID = (INPUT_KINDS[name] for name in ("raw-int16", "raw-uint8", "grid"))


def box(low, high):
    return Box(np.array(low, dtype=float), np.array(high, dtype=float))


def sides(of):
    return of.low.tolist(), of.high.tolist()


def test_a_box_is_read_as_the_type_holds_it():
    wide = box([-1e6, -3.4, 0.1], [1e6, 3.6, 300.7])
    assert sides(as_read(wide, INT16)) == ([-32768.0, -3.0, 0.0], [32767.0, 4.0, 301.0])
    assert sides(as_read(wide, UINT8)) == ([0.0, 0.0, 0.0], [255.0, 4.0, 255.0])
    assert as_read(wide, GRID) is wide
    assert sides(as_read(wide, FLOAT_INPUT)) == (
        [-1e6, float(np.float32(-3.4)), float(np.float32(0.1))],
        [1e6, float(np.float32(3.6)), float(np.float32(300.7))],
    )


def test_steps_cover_the_box_with_as_many_indices_as_there_are():
    T = Transform(np.zeros(3), np.array([0.5, -0.25, 1.0]))
    own = own_steps(box([0.0, 5.0, -1.0], [10.0, 5.0, 3.0]), T, 100, FLOAT_INPUT)
    assert own.low.tolist() == [0.0, 5.0, -1.0]
    assert own.step.tolist() == [0.1, 0.04, 0.04], "a constant feature has one unit of its scaler, 4 here"
    assert own.levels == 100


def test_whole_numbers_have_a_step_of_one_where_the_range_allows():
    T = Transform.identity(2)
    own = own_steps(box([10.0, 0.0], [60.0, 20.0]), T, 255, INT16)
    assert (own.step.tolist(), own.levels) == ([1.0, 1.0], 50)
    own = own_steps(box([0.0, 0.0], [510.0, 20.0]), T, 255, INT16)
    assert (own.step.tolist(), own.levels) == ([2.0, 1.0], 255)
    own = own_steps(box([7.0, 7.0], [7.0, 7.0]), T, 255, INT16)
    assert (own.step.tolist(), own.levels) == ([1.0, 1.0], 1)


def test_bytes_are_their_own_indices_where_there_are_as_many():
    T = Transform.identity(2)
    wide = box([10.0, 0.0], [60.0, 20.0])
    own = own_steps(wide, T, 255, UINT8)
    assert (own.low.tolist(), own.step.tolist(), own.levels) == ([0.0, 0.0], [1.0, 1.0], 255)
    assert own_steps(wide, T, 4095, UINT8).levels == 50
    assert own_steps(wide, T, 255, INT16).low.tolist() == [10.0, 0.0]


def test_all_features_share_a_step_where_that_costs_little():
    T, weights = Transform.identity(3), np.array([[1.0, -2.0, 1.0]])
    shared = shared_steps(box([0.0, 0.0, 0.1], [10.0, 10.0, 10.0]), T, 100, FLOAT_INPUT, weights)
    assert shared is not None
    assert (shared.low.tolist(), shared.step.tolist(), shared.levels) == ([0.0] * 3, [0.1] * 3, 100)
    last = box([0.0, 0.0, 0.0], [10.0, 10.0, 8.1])
    assert shared_steps(last, T, 100, FLOAT_INPUT, weights) is not None, "5 % of all that is lost"
    assert shared_steps(last, T, 100, FLOAT_INPUT, np.array([[1.0, -2.0, 1.0], [0.0, 1.0, -1.0]])) is None
    assert shared_steps(box([0.0, 0.0, 0.0], [10.0, 10.0, 7.9]), T, 100, FLOAT_INPUT, weights) is None
    whole = shared_steps(box([2.0, 0.0, 1.0], [50.0, 60.0, 20.0]), T, 255, INT16, weights)
    assert whole is not None
    assert (whole.low.tolist(), whole.step.tolist(), whole.levels) == ([0.0] * 3, [1.0] * 3, 60)
    assert shared_steps(box([5.0, 0.0, 7.0], [50.0, 60.0, 20.0]), T, 255, INT16, weights) is None, "larger indices"


def test_a_grid_tells_half_a_step_beyond_its_ends_apart_but_adds_no_sign():
    low, step = np.array([-4.0, 0.0, 0.25, -3.0]), np.array([2.0, 2.0, 1.0, 1.0])
    inside = grid_range(box([-3.0, 0.0, 0.5, -2.0], [3.0, 1.0, 1.0, 0.0]), low, step, 3)
    assert inside.low.tolist() == [-5.0, 0.0, 0.0, -3.5]
    assert inside.high.tolist() == [3.0, 7.0, 3.75, 0.0]


@settings(max_examples=60, deadline=None)
@given(st.floats(-1e30, 1e30), st.floats(0.0, 1e30))
def test_covered_floats_are_the_least_and_largest_between_the_ends(low, width):
    wanted = box([low], [low + width])
    reader = make_reader(FLOAT_INPUT, np.zeros(1), np.ones(1), 255)
    inside = covered(wanted, reader)
    least, largest = np.float32(inside.low[0]), np.float32(inside.high[0])
    assert (least, largest) == (inside.low[0], inside.high[0]), "float32 holds them"
    assert least >= wanted.low[0] > np.nextafter(least, np.float32(-np.inf))
    if largest > least:
        assert largest <= wanted.high[0] < np.nextafter(largest, np.float32(np.inf))


def test_covered_whole_numbers_and_indices():
    wanted = box([-0.5, 3.0, 1e6], [7.9, 3.0, 2e6])
    low, step = np.zeros(3), np.ones(3)
    assert sides(covered(wanted, make_reader(INT16, low, step, 255))) == ([0.0, 3.0, 32767.0], [7.0, 3.0, 32767.0])
    assert sides(covered(wanted, make_reader(UINT8, low, step, 100))) == ([0.0, 3.0, 255.0], [7.0, 3.0, 255.0])
    assert sides(covered(wanted, make_reader(GRID, low, step, 99))) == ([0.0] * 3, [99.0] * 3)
    nothing = covered(box([3.2], [3.4]), make_reader(INT16, low[:1], step[:1], 255))
    assert sides(nothing) == ([4.0], [4.0]), "a range holds one value at least"


@pytest.mark.parametrize("levels", [255, 4095, 32767])
@pytest.mark.parametrize("step", [0.01, 0.7, 1.0, 37.0])
@pytest.mark.parametrize("low", [-3000.0, 0.0, 12.0])
def test_a_reader_uses_the_bits_there_are(low, step, levels):
    """The multiplier has 15 bits or the sum 31: another doubling would leave one of them, or the shift's limit."""
    reader = make_whole_reader(INT16, np.array([low]), np.array([step]), levels)
    shift, multiplier, bias = int(reader.shift[0]), int(reader.multiplier[0]), int(reader.bias[0])
    assert multiplier == round(2**shift / step)
    middle = low + step * levels / 2
    assert abs((multiplier * middle + bias) / 2**shift - (levels / 2 + 0.5)) <= 0.51 / 2**shift
    assert abs(bias) + multiplier * 2**15 < 2**31
    start = max(abs(low / step - 0.5), 1.0)
    finest = 24
    while finest and (2**finest / step > 32767 or 2**finest * (levels + 1) > 2**30 or 2**finest * start > 2**30):
        finest -= 1
    assert shift == (16 if finest >= 16 and 2**16 / step >= 4 * levels else finest)
