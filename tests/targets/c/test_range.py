"""The range that a header states is the one that ``in_range`` decides, and it holds the rows it was made for."""

from __future__ import annotations

import re

import numpy as np
import pytest
from c_programs import in_range_of
from golden_models import model, rbf
from integer_models import (
    INTEGER_KERNELS,
    INTEGERS,
    READS,
    integer_export_of,
)
from narrowing import known

from benchmarks.trust._together import extreme_inputs, integer_program, make_integer_case
from sparsegen import data
from sparsegen.lowering import lower
from sparsegen.lowering.formats import Format
from sparsegen.lowering.integer_program import IntegerProgram
from sparsegen.targets import TARGETS
from sparsegen.training.train import train


def lowered(of, numbers) -> tuple[IntegerProgram, dict[str, str]]:
    """Return the integer program of a model, and what is promised of it."""
    made = lower(of, numbers)
    assert isinstance(made.program, IntegerProgram)
    return made.program, dict(made.promises)


@pytest.mark.parametrize("projected", [False, True])
@pytest.mark.parametrize("reads", READS)
@pytest.mark.parametrize("dtype", INTEGERS)
def test_in_range_says_what_the_simulator_says(dtype, reads, projected, tmp_path):
    case = make_integer_case(5, d=7, projected=projected, raw=reads.startswith("raw"))
    export = integer_export_of(case.model, "m", dtype, reads, case.rows)
    program = integer_program(export)
    rng = np.random.default_rng(0)
    low, high = program.range.low, program.range.high
    near = low + (high - low) * rng.uniform(-0.02, 1.02, (300, 7))
    at_ends = np.where(rng.random((300, 7)) < 0.5, low, high)
    inputs = [np.vstack([near, at_ends, low[None], high[None]])]
    if program.reader.kind.is_float:
        inputs.append(np.nextafter(inputs[0].astype(np.float32), np.float32(np.inf)))
    else:
        limits = np.iinfo(program.input_dtype)
        inputs[0] = np.clip(np.rint(inputs[0]), limits.min, limits.max)
    rows = np.vstack([*(i.astype(program.input_dtype) for i in inputs), extreme_inputs(program, case.rows)])
    expected = program.in_range(rows)
    assert expected.any()
    assert np.array_equal(in_range_of(export, tmp_path, rows), expected)


@pytest.mark.parametrize("reads", ["f32", "raw-int16"])
def test_printed_ranges_read_back_as_they_are(reads):
    case = make_integer_case(5, d=7)
    export = integer_export_of(case.model, "m", "q7", reads, case.rows * 1000.0)
    program = integer_program(export)
    found = re.findall(r"range of x\[(\d+)\]: (\S+) to (\S+)\n", export.files["m.h"].decode())
    assert [int(j) for j, _, _ in found] == list(range(7))
    kind = program.input_dtype.type
    assert [float(kind(low)) for _, low, _ in found] == program.range.low.tolist()
    assert [float(kind(high)) for _, _, high in found] == program.range.high.tolist()


def test_many_features_have_a_range_too():
    """Equal ones share a line; where too many differ, the header says where they are."""
    of = model([rbf(0.02)], 3, 40, (0, 1))
    pixels = np.vstack([np.zeros(40), np.full(40, 16.0), np.tile([3.0, 9.0], 20)])
    flat = model([("linear", {})], 3, 40, (0, 1))
    header = TARGETS["c"].export(flat, "m", Format("q7", "raw-uint8", rows=pixels)).files["m.h"].decode()
    assert "range of x[0] to x[39]: 0 to 16\n" in header
    export = TARGETS["c"].export(of, "m", Format("q7", "f32", rows=pixels * np.linspace(1.0, 2.0, 40)))
    assert "range of each feature: stated by the constants of in_range, in the source" in export.files["m.h"].decode()
    assert "float high[40] = {" in export.files["m.c"].decode()


@pytest.mark.parametrize(("d", "stated"), [(32, 32), (33, 1)])
def test_a_header_states_up_to_32_ranges_that_differ(d, stated):
    rows = np.vstack([np.zeros(d), np.arange(1, d + 1)])
    export = TARGETS["c"].export(model([("linear", {})], 3, d, (0, 1)), "m", Format("q7", "raw-uint8", rows=rows))
    assert export.files["m.h"].decode().count("range of ") == stated


@pytest.fixture(scope="module")
def skewed():
    """A model of a standard deviation, a heavy-tailed feature and a plain one, trained with or without projection."""
    rng = np.random.default_rng(0)
    X = np.column_stack([np.abs(rng.normal(size=400)), np.exp(2.0 * rng.normal(size=400)), rng.normal(size=400)])
    y = (X[:, 0] + X[:, 2] > 0.6).astype(int)
    rows = data.from_arrays(X, y)
    models = {}
    for projection in (None, 2):
        parameters = {"n_vectors": 6, "projection": projection, "max_iter": 5}
        models[projection] = train(rows, rows, parameters=parameters).model
    return models, X


@pytest.mark.parametrize("dtype", INTEGERS)
def test_without_calibration_rows_every_training_row_is_in_range(skewed, dtype):
    models, X = skewed
    program, promises = lowered(models[None], Format(dtype))
    assert program.covers(X).all()
    assert promises["range"] == "holds the 400 training rows"
    program, promises = lowered(models[2], Format(dtype))
    assert program.covers(X).all()
    assert "how many of them it holds was not counted" in promises["range"]


@pytest.mark.parametrize("dtype", INTEGERS)
def test_a_feature_without_negative_values_has_no_negative_range(skewed, dtype):
    models, _ = skewed
    program, _ = lowered(models[None], Format(dtype))
    assert np.all(program.range.low[:2] >= 0.0)
    assert program.range.low[2] < 0.0


def test_rows_outside_are_counted():
    """A finer grid may cut off the ends where it is closer to the model, and the export says how many rows."""
    case = make_integer_case(3, d=3)
    rows = np.vstack([np.tile(case.rows, (20, 1)), case.rows[:3] * 1000.0])
    program, promises = lowered(case.model, Format("q7", rows=rows))
    held = np.count_nonzero(program.covers(rows))
    assert 1000 <= held < 1003
    assert promises["range"] == f"holds {held} of the 1003 calibration rows that it was chosen on"


def test_a_value_that_the_type_cannot_hold_is_outside():
    case = make_integer_case(3, d=3, raw=True)
    rows = np.vstack([case.rows, [[70000.0, 128.0, 128.0]]])
    program, _ = lowered(case.model, Format("q15", "raw-int16", rows=rows))
    assert not program.covers(rows)[-1]


@pytest.mark.parametrize("name", INTEGER_KERNELS)
def test_every_promise_about_scores_and_labels_carries_its_condition(name):
    case = make_integer_case(1, name, d=4, n_classes=3)
    promises = dict(known(integer_export_of(case.model, "m", "q7", "f32", case.rows).lowered).promises)
    for subject in ("score error", "label"):
        assert "for every input in range" in promises[subject]
