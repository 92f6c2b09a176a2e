"""quantize: every scale from the model and its range; what integers cannot do is refused in one sentence."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from golden_models import model, rbf, wave
from integer_models import INTEGER_KERNELS, INTEGERS, READS, SIXTEEN, half_powers, integer_format, quantized
from narrowing import known

from benchmarks.trust._together import make_integer_case
from sparsegen.errors import ModelError, OptionError
from sparsegen.kernels import KERNELS
from sparsegen.lowering.calibrate import calibrate
from sparsegen.lowering.coefficients import score_error
from sparsegen.lowering.formats import INPUT_KINDS
from sparsegen.lowering.guarantee import guarantee, reading_error
from sparsegen.lowering.quantize import MAX_OCTAVE
from sparsegen.lowering.read_integers import make_whole_reader
from sparsegen.lowering.reader import make_reader
from sparsegen.model import SparseModel


def with_card(of, card):
    return replace(of, card=card)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("name", INTEGER_KERNELS)
def test_scores_are_close_to_the_model(name, dtype):
    case = make_integer_case(1, name, n_classes=3, d=6, m=8)
    program = quantized(case.model, dtype, "f32", case.rows)
    wanted = case.model.scores(case.rows)
    assert score_error(program, case.rows, wanted) < {"q7": 0.02, "q15": 5e-4}[dtype] * np.abs(wanted).max()
    assert program.coef.dtype == np.int64
    assert np.abs(program.coef).max() <= 32767


@pytest.mark.parametrize("dtype", INTEGERS)
def test_a_step_halves_the_kernel_after_a_power_of_two(dtype):
    case = make_integer_case(2)
    program = quantized(case.model, dtype, "f32", case.rows)
    step, gamma = program.kernel_grid[1], dict(case.model.kernels[0].params)["gamma"]
    assert gamma * step**2 * 2 ** half_powers(program)[0].octave == pytest.approx(np.log(2.0))
    assert program.vectors.min() >= 0
    assert program.vectors.max() <= program.levels <= integer_format(dtype).levels


def test_indices_of_many_features_are_fewer_so_that_squares_fit():
    program = quantized(model([rbf(0.01)], 3, 40, (0, 1)), "q15", "grid")
    assert 40 * program.levels**2 <= 2**31 - 1 < 40 * (program.levels + 1) ** 2


def test_several_kernels_are_doublings_of_the_widest():
    of = model([rbf(1.0), rbf(0.25), rbf(4.0)], 3, 2, (0, 1))
    assert [curve.doubling for curve in half_powers(quantized(of, "q7", "f32"))] == [2, 0, 4]
    assert [curve.doubling for curve in half_powers(quantized(model([rbf(0.7)], 3, 2, (0, 1)), "q7", "f32"))] == [0]


def test_doublings_beyond_the_last_octave_are_not_counted():
    """A kernel 2^60 times narrower is 1 on its vector and 0 elsewhere; a shift by 60 would be undefined in C."""
    of = model([rbf(1.0), rbf(2.0**60)], 3, 2, (0, 1))
    program = quantized(of, "q7", "grid", finished=False)
    widest, narrow = half_powers(program)
    assert narrow.doubling == widest.octave + 4
    at, beside = program.vectors[:1], program.vectors[:1] + np.array([1, 0])
    assert program.kernel_values(at)[0, 1, 0] > 32000
    assert program.kernel_values(beside)[0, 1, 0] == 0
    assert np.isfinite(guarantee(program, of).error).all()


@pytest.mark.parametrize(
    ("kernels", "sentence"),
    [
        ([("poly", {"degree": 3})], "the kernel poly has no integer form; export it as float32"),
        ([rbf(), ("linear", {})], "the kernel rbf, linear has no integer form; export it as float32"),
        ([("linear", {}), ("linear", {})], "the kernel linear has no integer form; export it as float32"),
    ],
)
def test_kernels_without_an_integer_form_are_one_sentence(kernels, sentence):
    with pytest.raises(OptionError) as refused:
        quantized(model(kernels, 3, 2, (0, 1)), "q7", "f32")
    assert str(refused.value) == sentence


def test_a_kernel_that_hardly_falls_is_one_sentence():
    with pytest.raises(OptionError, match="so wide that integers see no distances; export it as float32"):
        quantized(model([rbf(1e-12)], 3, 2, (0, 1)), "q15", "f32")


def test_a_wide_kernel_uses_the_longest_octave_there_is():
    of = model([rbf(1e-3)], 5, 2, (0, 1))
    program = quantized(of, "q15", "f32")
    assert half_powers(program)[0].octave == MAX_OCTAVE
    rows = wave(50, 2)
    assert score_error(program, rows, of.scores(rows)) < 1e-3


def test_a_projection_that_does_not_fit_is_one_sentence():
    case = make_integer_case(0, d=6, projected=True)
    huge = replace(case.model.transform, projection=1e9 * known(case.model.transform.projection))
    with pytest.raises(OptionError, match="the projection's factors are too far apart for integers"):
        quantized(replace(case.model, transform=huge), "q7", "raw-uint8", case.rows)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_a_long_sum_of_one_sign_keeps_a_projection_within_32_bits(sign):
    of = model([rbf(0.01)], 3, 60, (0, 1), projected=1)
    of = replace(of, transform=replace(of.transform, projection=np.full((1, 60), 0.1 * sign)))
    program = quantized(of, "q15", "f32", wave(50, 60))
    low, high = guarantee(program, of).intervals["projected value"]
    assert -(2**31) <= low <= high < 2**31


# ---- The box ---------------------------------------------------------------------------------------------------------


def test_the_box_is_the_cards_or_around_the_vectors():
    card = {"ranges": {"low": [0.0] * 16, "high": [2.0] * 16}}
    assert calibrate(with_card(SIXTEEN, card), None).box.high.tolist() == [2.0] * 16
    box = calibrate(SIXTEEN, None).box
    assert np.all(box.low < SIXTEEN.vectors.min(axis=0))
    assert np.all(box.high > SIXTEEN.vectors.max(axis=0))


@pytest.mark.parametrize(
    "ranges",
    [
        {},
        {"low": [0.0] * 16},
        {"low": [0.0] * 15, "high": [1.0] * 15},
        {"low": [2.0] * 16, "high": [1.0] * 16},
        {"low": ["a"] * 16, "high": [1.0] * 16},
        {"low": [[0.0], [1.0, 2.0]], "high": [1.0] * 16},
        {"low": {"a": 1}, "high": [1.0] * 16},
        {"low": None, "high": None},
        {"low": 0.0, "high": 1.0},
        {"low": [None] * 16, "high": [1.0] * 16},
        {"low": [-1e308] * 16, "high": [1e308] * 16},
        {"low": [0.0] * 16, "high": [10**400] * 16},
    ],
    ids=str,
)
def test_a_card_whose_ranges_do_not_fit_is_one_sentence(ranges):
    with pytest.raises(ModelError, match=r"the ranges? .*in its card"):
        with_card(SIXTEEN, {"ranges": ranges})


@pytest.mark.parametrize("reads", READS)
@pytest.mark.parametrize("name", INTEGER_KERNELS)
def test_a_box_without_width_still_gives_a_program(name, reads):
    """One vector, and all rows in its place."""
    of = SparseModel(
        np.array([[3.0, 5.0]]),
        np.array([[[2.0]]]),
        np.array([-1.0]),
        (KERNELS[name].bind(),),
        model([rbf()], 1, 2, (0, 1)).transform,
        (0, 1),
    )
    rows = np.array([[3.0, 5.0], [3.0, 5.0]])
    for dtype in INTEGERS:
        program = quantized(of, dtype, reads, rows)
        scores = program.scores(program.inputs(rows)) * program.unit
        assert np.abs(scores - of.scores(rows)).max() < 2e-3 * np.abs(of.scores(rows)).max()


def test_a_constant_feature_and_one_vector():
    case = make_integer_case(8, m=1, constant=True)
    program = quantized(case.model, "q7", "f32", case.rows)
    assert program.vectors.shape == (1, 5)
    assert score_error(program, case.rows, case.model.scores(case.rows)) < 0.05


# ---- Readers ---------------------------------------------------------------------------------------------------------


def test_bytes_that_are_their_own_indices_are_read_as_they_are():
    low, step = np.zeros(3), np.ones(3)
    assert make_reader(INPUT_KINDS["raw-uint8"], low, step, 255).is_identity
    assert not make_reader(INPUT_KINDS["raw-uint8"], low, 2 * step, 255).is_identity
    assert not make_reader(INPUT_KINDS["raw-uint8"], low + 1, step, 255).is_identity
    assert not make_reader(INPUT_KINDS["raw-int16"], low, step, 255).is_identity
    case = make_integer_case(9, projected=True, raw=True)
    assert quantized(case.model, "q7", "raw-uint8", case.rows).reader.is_identity


@pytest.mark.parametrize("reads", ["raw-int16", "raw-uint8"])
@pytest.mark.parametrize("levels", [255, 4095, 32767])
@pytest.mark.parametrize("span", [3.0, 255.0, 65535.0])
def test_a_reader_rounds_every_value_of_its_type(reads, levels, span):
    kind = np.iinfo(np.int16 if reads == "raw-int16" else np.uint8)
    low, step = np.array([kind.min + 1.0]), np.array([span / levels])
    reader = make_whole_reader(INPUT_KINDS[reads], low, step, levels)
    x = np.arange(kind.min, kind.max + 1)[:, None]
    exact = np.clip((x - low) / step, 0, levels)
    assert np.abs(reader(x) - exact).max() <= 0.5 + 0.13 + (levels > 255)
    assert reader.multiplier.max() <= 32767


@pytest.mark.parametrize("dtype", ["q7", "q15"])
@pytest.mark.parametrize("kernel", [rbf(0.2), ("linear", {})])
def test_pixels_share_one_step_where_that_loses_next_to_nothing(kernel, dtype):
    """Their ranges differ a little; beside features that each have a step, scores and the bound stay as close."""
    of = model([kernel], 4, 30, (0, 1), projected=3)
    rng = np.random.default_rng(0)
    X = np.clip(rng.normal(size=(200, 30)), -1.0, rng.uniform(0.9, 1.0, 30))
    program = quantized(of, dtype, "f32", X)
    assert program.shares_steps
    spread = X * np.linspace(0.2, 1.0, 30)
    assert not quantized(of, dtype, "f32", spread).shares_steps
    reading = np.abs(program.reader(program.inputs(X)) - (X - program.low) / program.step)
    assert reading.max() <= reading_error(program).max() <= 0.5 + 1 / 32
    assert program.covers(X).all()


def test_the_same_model_gives_the_same_program():
    first, second = (quantized(SIXTEEN, "q7", "f32") for _ in range(2))
    assert np.array_equal(first.coef, second.coef)
    assert np.array_equal(first.vectors, second.vectors)
    assert (first.curves, first.unit) == (second.curves, second.unit)
