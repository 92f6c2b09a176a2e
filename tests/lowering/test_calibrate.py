"""What is known of the data, and how many rows a program's range holds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from golden_models import SMALL, model, rbf, wave
from integer_models import quantized

from sparsegen.lowering.calibrate import Box, calibrate
from sparsegen.lowering.coverage import Coverage, coverage
from sparsegen.lowering.locate_data import data_like, stand_in_rows

PLAIN, PROJECTED = SMALL["binary_rbf"], SMALL["rbf_projected"]
RANGES = {"low": [-2.0, 0.0, 1.0], "high": [2.0, 0.5, 4.0]}


def same(box, low, high):
    return np.array_equal(box.low, low) and np.array_equal(box.high, high)


def test_a_box_holds_its_edges_and_no_nan():
    box = Box.around(np.array([[0.0, 5.0], [1.0, -5.0], [0.5, 0.0]]))
    assert same(box, [0.0, -5.0], [1.0, 5.0])
    rows = np.array([[0.0, -5.0], [1.0, 5.0], [1.01, 0.0], [0.5, -5.01], [np.nan, 0.0]])
    assert box.holds(rows).tolist() == [True, True, False, False, False]


def test_rows_tell_their_own_range():
    rows = wave(30, 3)
    found = calibrate(PLAIN, rows)
    assert found.rows is rows
    assert found.has_data
    assert same(found.box, rows.min(axis=0), rows.max(axis=0))
    assert found.projected is None
    assert found.origin == "the 30 calibration rows"
    rows = wave(30, 20)
    seen = PROJECTED.transform(rows)
    projected = calibrate(PROJECTED, rows).projected
    assert projected is not None
    assert same(projected, seen.min(axis=0), seen.max(axis=0))


def test_without_rows_the_card_tells_the_range():
    known = replace(PLAIN, card={"ranges": RANGES, "data": {"rows": 120}})
    found = calibrate(known, None)
    assert not found.has_data
    assert same(found.box, RANGES["low"], RANGES["high"])
    assert np.array_equal(found.rows, stand_in_rows(known, found.box.low, found.box.high))
    assert found.box.holds(found.rows).all()
    assert found.projected is None
    assert found.origin == "the 120 training rows"


@pytest.mark.parametrize("data", [None, {}, {"rows": "many"}, {"rows": True}, "rings"], ids=str)
def test_rows_that_the_card_does_not_count_are_not_counted(data):
    assert calibrate(replace(PLAIN, card={"ranges": RANGES, "data": data}), None).origin == "the training rows"


def test_without_rows_and_card_the_vectors_tell_the_range():
    found = calibrate(PLAIN, None)
    around = data_like(PLAIN)
    assert same(found.box, around.min(axis=0), around.max(axis=0))
    assert found.origin == "points around the model's vectors"


def test_a_projected_range_is_the_cards_or_around_the_rows_that_stand_in():
    seen = PROJECTED.transform(calibrate(PROJECTED, None).rows)
    found = calibrate(PROJECTED, None).projected
    assert found is not None
    assert same(found, seen.min(axis=0), seen.max(axis=0))
    ranges = {"low": [-1.0] * 20, "high": [1.0] * 20}
    stated = {"low": [-9.0, -8.0, -7.0], "high": [9.0, 8.0, 7.0]}
    known = replace(PROJECTED, card={"ranges": ranges, "projected_ranges": stated})
    found = calibrate(known, None).projected
    assert found is not None
    assert same(found, stated["low"], stated["high"])


# ---- Coverage --------------------------------------------------------------------------------------------------------


def test_rows_outside_the_range_are_counted_one_by_one():
    data = calibrate(PLAIN, wave(40, 3))
    program = quantized(PLAIN, "q7", "f32", data.rows)
    narrow = replace(program, range=Box(program.range.low, np.array([0.5, 9.0, 9.0])))
    outside = int(np.count_nonzero(data.rows.astype(np.float32)[:, 0] > 0.5))
    assert 0 < outside < 40
    found = coverage(narrow, data)
    assert (found.rows, found.outside) == (40, outside)
    assert str(found) == f"holds {40 - outside} of the 40 calibration rows that it was chosen on"


def test_a_stored_range_is_held_if_both_of_its_ends_are():
    known = replace(PLAIN, card={"ranges": RANGES, "data": {"rows": 120}})
    data = calibrate(known, None)
    program = quantized(known, "q7", "f32")
    found = coverage(program, data)
    assert (found.rows, found.outside) == (None, 0)
    assert str(found) == "holds the 120 training rows"
    for side in ("low", "high"):
        middle = (program.range.low + program.range.high) / 2.0
        narrow = replace(program, range=replace(program.range, **{side: middle}))
        assert coverage(narrow, data) == Coverage("the 120 training rows", None, None)
        said = str(coverage(narrow, data))
        assert said == "chosen for the 120 training rows; how many of them it holds was not counted"


def test_the_range_of_an_anomaly_model_has_room_beyond_the_normal_rows():
    of = replace(PLAIN, task="anomaly", classes=("anomaly", "normal"), card={"ranges": RANGES})
    assert same(calibrate(of, None).box, [-3.0, -0.125, 0.25], [3.0, 0.625, 4.75])
    rows = np.array([[0.0, 1.0, 2.0], [4.0, 1.0, 6.0]])
    assert same(calibrate(of, rows).box, [-1.0, 1.0, 1.0], [5.0, 1.0, 7.0])
    assert same(calibrate(PLAIN, rows).box, [0.0, 1.0, 2.0], [4.0, 1.0, 6.0])


def test_a_projection_does_not_keep_the_order_of_rows_so_its_ends_prove_nothing():
    of = model([rbf()], 3, 4, (0, 1), projected=2, card={"ranges": {"low": [-9.0] * 4, "high": [9.0] * 4}})
    data = calibrate(of, None)
    program = quantized(of, "q15", "f32")
    everywhere = Box(np.full(4, -1e9), np.full(4, 1e9))
    assert coverage(replace(program, range=everywhere), data).outside is None
