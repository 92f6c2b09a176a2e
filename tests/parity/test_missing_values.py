"""A NaN counts as the same number in Python, in C of every format on every kind of processor, and in ONNX."""

from __future__ import annotations

import subprocess
from dataclasses import replace

import numpy as np
import pytest
from c_programs import compile_c, compiler, in_range_of, runs_with
from golden_models import EVERY, filled, model, rbf, rows, wave
from numpy.testing import assert_allclose, assert_array_equal

from sparsegen.devices import DEVICES
from sparsegen.devices._toolchain import write_files
from sparsegen.devices.host import Host
from sparsegen.errors import DataError, ModelError
from sparsegen.firmware.boards import BOARDS
from sparsegen.firmware.program import make_firmware
from sparsegen.lowering import lower
from sparsegen.lowering.calibrate import Box
from sparsegen.lowering.formats import INTEGERS, Format
from sparsegen.lowering.integer_program import IntegerProgram
from sparsegen.targets import TARGETS
from sparsegen.verify import verify

APART = filled(
    model([rbf(0.1)], 4, 6, (0, 1, 2), offset=100.0 * wave(6), scale=0.5 + np.arange(6) / 3), 100.0 * wave(6) + 0.5
)
PROJECTED = filled(model([rbf()], 4, 18, (0, 1), projected=3), wave(18, step=0.4))
LINEAR = filled(model([("linear", {})], 3, 5, (0, 1, 2)), np.full(5, -0.25))
KINDS = {"apart": APART, "projected": PROJECTED, "linear": LINEAR}


def by_hand(of, X):
    return np.where(np.isnan(X), of.transform.fill, X)


@pytest.mark.parametrize("name", ["rbf_filled", "filled_far", "filled_projected"])
def test_python_fills(name):
    of, X = EVERY[name], rows(EVERY[name])
    assert np.isnan(X).any()
    expected = replace(of, transform=replace(of.transform, fill=None)).scores(by_hand(of, X))
    assert_array_equal(of.scores(X), expected)
    assert_allclose(of.predictor().scores(X), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("reads", ["f32", "raw-int16", "grid"])
@pytest.mark.parametrize("numbers", INTEGERS, ids=lambda numbers: numbers.name)
def test_integers_see_what_they_would_of_the_number(numbers, reads, kind):
    """Whatever the program reads; and a row of nothing but NaN is in range, and within the guarantee."""
    of, X = KINDS[kind], rows(KINDS[kind])
    made = lower(of, Format(numbers.name, reads, rows=X))
    program, proof = made.program, made.guarantee
    assert isinstance(program, IntegerProgram)
    assert proof is not None
    held = np.where(np.isnan(X), np.float32(of.transform.fill), X)
    assert_array_equal(program.scores(program.inputs(X)), program.scores(program.inputs(held)))
    assert_array_equal(program.covers(X), program.covers(held))
    if reads == "f32":
        assert np.isnan(program.inputs(X)).any()
        assert kind == "projected" or program.in_range(program.inputs(np.full((1, of.n_features), np.nan))).all()
        covered = program.covers(X)
        assert covered.any()
        off = np.abs(program.scores(program.inputs(X)) * program.unit - of.scores(X))[covered]
        assert np.all(off <= proof.error)


@pytest.mark.parametrize("dtype", ["q15", "q7"])
def test_the_guarantee_counts_that_a_float_does_not_hold_the_number(dtype):
    """2^24 + 1.03 is 2^24 + 2 as float32: about a step of the grid away."""
    of = model([rbf(0.05)], 3, 2, (0, 1), offset=np.full(2, 2.0**24))
    plain, lost = lower(of, Format(dtype)), lower(filled(of, np.full(2, 2.0**24 + 1.03)), Format(dtype))
    assert plain.guarantee is not None
    assert lost.guarantee is not None
    nan = np.full((1, 2), np.nan)
    off = np.abs(lost.reference(nan).scores * lost.reference(nan).unit - lost.model.scores(nan))
    assert np.all(off <= lost.guarantee.error)
    assert np.all(lost.guarantee.error > plain.guarantee.error)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ["f32", "q15", "q7"])
@pytest.mark.parametrize("device", ["host", "cortex-m0plus", "cortex-m4f", "atmega328p"])
def test_devices(device, dtype, kind):
    if (reason := DEVICES[device].missing()) is not None:
        pytest.skip(reason)
    of, X = KINDS[kind], rows(KINDS[kind])
    numbers = Format(dtype) if dtype == "f32" else Format(dtype, rows=X)
    (verdict,) = verify(of, X, devices=[device], numbers=numbers)
    assert verdict.agrees, verdict


FLAGS = [("-O3", "-ffast-math"), ("-O2", "-ffinite-math-only"), ("-O2", "-mfpmath=387")]


@pytest.mark.parametrize("dtype", ["f32", "q7"])
@pytest.mark.parametrize("flags", FLAGS, ids=" ".join)
@pytest.mark.parametrize("name", ["gcc", "clang"])
def test_no_compiler_flag_hides_a_nan(name, flags, dtype, tmp_path):
    """Neither in a row nor in the examples of the self-test, though a compiler may take it that no float is NaN."""
    command = compiler(name)
    if not runs_with(command, flags, tmp_path):
        pytest.skip(f"this computer has no use for {' '.join(flags)}")
    of, X = APART, rows(APART)
    lowered = lower(of, Format(dtype) if dtype == "f32" else Format(dtype, rows=X))
    export = TARGETS["c"].write(lowered, "m")
    found = Host(command, ("-std=c99", *flags)).run(export, lowered.inputs(X))
    expected = lowered.reference(X)
    assert_allclose(found.scores, expected.scores, rtol=0, atol=1e-5 if dtype == "f32" else 0)
    write_files(export, tmp_path)
    made = compile_c(command, "-std=c99", *flags, tmp_path / "m.c", tmp_path / "example_main.c", "-o", tmp_path / "m")
    assert made.returncode == 0, made.stderr
    assert "self-test ok" in subprocess.run([tmp_path / "m"], capture_output=True, text=True, check=True).stdout


def cut_off():
    """A program whose range ends before what a NaN of the second feature counts as, as finer grids may."""
    made = lower(APART, Format("q7", rows=rows(APART)))
    assert isinstance(made.program, IntegerProgram)
    high = made.program.range.high.copy()
    high[1] = 100.0 * wave(6)[1]  # half less than it counts as
    return replace(made, program=replace(made.program, range=Box(made.program.range.low, high)))


@pytest.mark.parametrize("kind", [*KINDS, "cut off"])
def test_in_range_takes_a_nan_for_its_number(kind, tmp_path):
    of, X = KINDS.get(kind, APART), rows(KINDS.get(kind, APART))
    lowered = cut_off() if kind == "cut off" else lower(of, Format("q7", rows=X))
    export, program = TARGETS["c"].write(lowered, "m"), lowered.program
    assert isinstance(program, IntegerProgram)
    assert ("missing[6]" in export.files["m.c"].decode()) == (kind == "cut off")
    inputs = program.inputs(np.vstack([X, np.full((1, of.n_features), np.nan), by_hand(of, X) + 1e6]))
    inputs[3, 0] = np.inf
    expected = program.in_range(inputs)
    assert expected.any()
    assert not expected[3]
    assert np.isnan(inputs[expected]).any()
    assert_array_equal(in_range_of(export, tmp_path, inputs), expected)


@pytest.mark.parametrize("dtype", ["f32", "q7"])
def test_the_self_test_has_a_row_of_nothing_but_nan(dtype):
    made = lower(APART, Format(dtype)).selftest
    assert np.isnan(made.inputs[-1]).all()
    assert not np.isnan(made.inputs[:-1]).any()


def test_what_the_header_says():
    header = TARGETS["c"].export(LINEAR, "m").files["m.h"].decode()
    assert "missing value: a NaN counts as -0.25\n" in header
    assert "A NaN counts as the missing value that is stated above." in header
    header = TARGETS["c"].export(LINEAR, "m", Format("q7", "raw-int16")).files["m.h"].decode()
    assert "NaN" not in header
    wide = filled(model([rbf(0.02)], 3, 40, (0, 1)), np.linspace(-1.0, 2.0, 40))
    assert "a NaN counts as a number of its feature, from -1.0 to 2.0\n" in (
        TARGETS["c"].export(wide, "m").files["m.h"].decode()
    )


@pytest.mark.filterwarnings("ignore:invalid value")
def test_infinity_is_still_refused_and_so_is_nan_without_a_number_for_it():
    with pytest.raises(DataError, match="feature 2 is not a finite number"):
        verify(APART, np.array([[np.nan, np.inf, 0.0, 0.0, 0.0, 0.0]]), devices=["host"])
    plain = replace(APART, transform=replace(APART.transform, fill=None))
    with pytest.raises(DataError, match="feature 1 is not a finite number"):
        verify(plain, np.array([[np.nan, 1.0, 0.0, 0.0, 0.0, 0.0]]), devices=["host"])


@pytest.mark.parametrize(("fill", "dtype"), [(1e39, "f32"), (1e35, "f32"), (1e35, "q7")])
def test_a_number_that_no_device_holds_is_one_sentence(fill, dtype):
    with pytest.raises(ModelError, match=r"too large|beyond|does not fit in float32|self-test") as caught:
        TARGETS["c"].export(filled(model([rbf()], 3, 2, (0, 1)), np.full(2, fill)), "m", Format(dtype))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("given", [None, rows(APART)], ids=["own examples", "rows"])
def test_examples_of_firmware_are_numbers(given):
    """C has no constant for a NaN; the self-test in the same program has its bits."""
    lowered = TARGETS["c"].lower(APART, Format("q7"))
    main = make_firmware(lowered, BOARDS["uno"], given)["main.c"].decode()
    assert "nan" not in main.lower()
