"""Where a grid lies and how fine it is: by the rules that quantize states, feature by feature."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from golden_models import model, rbf, wave
from integer_models import INTEGERS, half_powers, integer_format, quantized
from narrowing import known

from benchmarks.trust._together import make_integer_case
from sparsegen.errors import OptionError
from sparsegen.lowering.calibrate import Box, calibrate
from sparsegen.lowering.formats import INPUT_KINDS
from sparsegen.lowering.input_range import as_read, own_steps
from sparsegen.lowering.quantize import MAX_OCTAVE, Grid, _grids, _place, _program, _project, largest_distance
from sparsegen.lowering.reader import make_reader


def placed(length, needed, wanted, middle=0.0, zero=None):
    """Return where a grid of one feature begins."""
    around, all_of_it = (Box(np.array([low]), np.array([high])) for low, high in (needed, wanted))
    place = _place(length, around, all_of_it, np.array([middle]), None if zero is None else np.array([zero]))
    return float(place[0])


@pytest.mark.parametrize(
    ("what", "arguments", "expected"),
    [
        ("long enough for all: both sides share the rest", (10.0, (1.0, 3.0), (0.0, 6.0)), -2.0),
        ("exactly as long as all", (6.0, (1.0, 3.0), (0.0, 6.0)), 0.0),
        ("too short for all: within what is needed", (4.0, (4.0, 7.0), (0.0, 8.0)), 3.0),
        ("too short for all: in the middle of what is wanted", (4.0, (3.0, 4.0), (0.0, 8.0)), 2.0),
        ("too short for all: begins no later than what is needed", (4.0, (0.0, 2.0), (0.0, 8.0)), 0.0),
        ("too short for all: ends no earlier than what is needed", (4.0, (5.0, 8.0), (0.0, 8.0)), 4.0),
        ("exactly as long as what is needed", (3.0, (4.0, 7.0), (0.0, 8.0)), 4.0),
        ("too short for what is needed: around the middle", (2.0, (0.0, 8.0), (0.0, 8.0), 5.0), 4.0),
        ("around the middle, but not below what is needed", (2.0, (0.0, 8.0), (0.0, 8.0), 0.5), 0.0),
        ("around the middle, but not above what is needed", (2.0, (0.0, 8.0), (0.0, 8.0), 7.8), 6.0),
        ("nothing negative: none of the rest goes below 0", (10.0, (1.0, 3.0), (1.0, 6.0), 0.0, 0.0), 0.0),
        ("nothing negative needed, but a vector is", (10.0, (1.0, 3.0), (-1.0, 6.0), 0.0, 0.0), -1.0),
        ("nothing negative, and short enough anyway", (6.0, (5.0, 8.0), (5.0, 8.0), 0.0, 0.0), 3.5),
        ("nothing positive: none of the rest goes above 0", (10.0, (-3.0, -1.0), (-6.0, -1.0), 0.0, 0.0), -10.0),
        ("nothing positive needed, but a vector is", (10.0, (-3.0, -1.0), (-6.0, 1.0), 0.0, 0.0), -9.0),
        ("0 itself is not negative", (10.0, (0.0, 3.0), (0.0, 6.0), 0.0, 0.0), 0.0),
        ("0 itself is not positive", (10.0, (-3.0, 0.0), (-6.0, 0.0), 0.0, 0.0), -10.0),
        ("both signs", (10.0, (-1.0, 3.0), (-1.0, 5.0), 0.0, 0.0), -3.0),
        ("0 of the raw feature lies at 2 for the kernels", (10.0, (3.0, 4.0), (3.0, 4.0), 0.0, 2.0), 2.0),
        ("a projection has no sign", (10.0, (1.0, 3.0), (1.0, 6.0), 0.0, None), -1.5),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_where_a_grid_begins(what, arguments, expected):
    assert placed(*arguments) == pytest.approx(expected), what


def grids(of, dtype, reads, rows=None):
    """Return the grids that quantize tries, and the box of what the kernels see."""
    data = calibrate(of, rows)
    kind, numbers = INPUT_KINDS[reads], integer_format(dtype)
    box = as_read(data.box, kind)
    own = own_steps(box, of.transform, numbers.projected_levels, kind)
    name = of.kernels[0].name
    form = "absolute" if name == "laplacian" else "square"
    falls = None
    if name in ("rbf", "laplacian"):
        falls = [dict(kernel.params)["gamma"] / np.log(2.0) for kernel in of.kernels]
    return _grids(of, form, falls, numbers, box, data, data.rows, own.step), Box.around(of.transform(data.rows))


def span_of(of, seen):
    both = np.vstack([of.vectors, seen.low, seen.high])
    return float((both.max(axis=0) - both.min(axis=0)).max())


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize(("name", "power"), [("rbf", 2), ("laplacian", 1)])
@pytest.mark.parametrize("gammas", [(3.0,), (2.0, 0.5), (40.0,)])
def test_steps_of_half_powers_are_the_coarsest_that_cover_and_three_finer(name, power, gammas, dtype):
    """A step more per octave: the widest kernel halves over 2^octave squared (or absolute) steps."""
    of = model([(name, {"gamma": gamma}) for gamma in gammas], 4, 3, (0, 1))
    tried, seen = grids(of, dtype, "f32", 0.7 * wave(40, 3))
    levels = tried[0].levels
    assert levels == (
        min(32767, int((2**31 // 3) ** 0.5)) if (dtype, power) == ("q15", 2) else integer_format(dtype).levels
    )
    span = span_of(of, seen)
    assert [grid.octave for grid in tried] == list(range(tried[0].octave, min(tried[0].octave + 4, MAX_OCTAVE + 1)))
    for grid in tried:
        assert min(gammas) * grid.step**power * 2.0**grid.octave == pytest.approx(np.log(2.0))
    if tried[0].octave < MAX_OCTAVE:
        assert tried[0].step * levels < span * 2.0 ** (1 / power), "one octave more would still cover"
    assert tried[0].step * levels >= span * (1 - 1e-6)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_steps_of_tables_begin_with_what_covers_everything(dtype):
    of = model([("cauchy", {"gamma": 0.5})], 4, 3, (0, 1))
    tried, seen = grids(of, dtype, "f32", 0.7 * wave(40, 3))
    first = tried[0].step
    assert first * tried[0].levels == pytest.approx(span_of(of, seen), rel=1e-6)
    assert [grid.step / first for grid in tried] == pytest.approx([2.0 ** (-i / 2) for i in range(4)])
    assert {grid.octave for grid in tried} == {0}


@pytest.mark.parametrize("name", ["rbf", "cauchy"])
def test_without_rows_no_grid_cuts_off_what_is_needed(name):
    """Nothing tells how many rows would be lost; vectors far away may be cut off."""
    of = model([(name, {"gamma": 2.0})], 4, 3, (0, 1))
    of = replace(of, vectors=np.vstack([of.vectors[:-1], np.full(3, 2.0)]))
    of = replace(of, card={"ranges": {"low": [-1.0] * 3, "high": [1.0] * 3}})
    tried, _ = grids(of, "q7", "f32")
    with_rows, _ = grids(of, "q7", "f32", np.vstack([np.full((1, 3), -1.0), np.full((1, 3), 1.0), wave(9, 3)]))
    assert 1 <= len(tried) < len(with_rows) == 4
    assert [grid.step for grid in tried] == [grid.step for grid in with_rows[: len(tried)]]
    assert all(grid.step * grid.levels >= 2.0 for grid in tried)
    assert with_rows[len(tried)].step * tried[0].levels < 2.0
    for grid in tried:
        assert np.all(grid.low <= -1.0)
        assert np.all(grid.low + grid.step * grid.levels >= 1.0 - 1e-9)


def test_where_no_grid_covers_the_coarsest_is_taken():
    of = model([rbf(2.0**40)], 4, 3, (0, 1))
    of = replace(of, card={"ranges": {"low": [-1.0] * 3, "high": [1.0] * 3}})
    tried, _ = grids(of, "q7", "f32")
    assert [grid.octave for grid in tried] == [0]


def test_no_octave_is_longer_than_32_bits_allow():
    assert 16 * 2**MAX_OCTAVE < 2**31 <= 16 * 2 ** (MAX_OCTAVE + 1)
    tried, _ = grids(model([rbf(1e-3)], 4, 3, (0, 1)), "q15", "f32", wave(40, 3))
    assert [grid.octave for grid in tried] == [MAX_OCTAVE]


@pytest.mark.parametrize(("levels", "refused"), [(15.9, True), (16.1, False)])
def test_a_grid_of_fewer_than_sixteen_levels_is_refused(levels, refused):
    """The longest octave has a finest step; over the span of the data it must give 16 levels."""
    rows = np.array([[0.0], [1.0]])
    of = replace(model([rbf()], 1, 1, (0, 1)), vectors=np.array([[0.5]]))
    gamma = np.log(2.0) * levels**2 / 2.0**MAX_OCTAVE
    of = replace(of, kernels=model([rbf(gamma)], 1, 1, (0, 1)).kernels)
    if refused:
        with pytest.raises(OptionError, match="so wide"):
            grids(of, "q15", "f32", rows)
    else:
        assert grids(of, "q15", "f32", rows)[0]


@pytest.mark.parametrize(("fall", "refused"), [(0.9e-3, True), (1.1e-3, False)])
def test_a_table_that_falls_less_than_a_thousandth_is_refused(fall, refused):
    """1 / (1 + gamma d) over the largest distance: two features, each as far as the data spans."""
    rows = np.array([[0.0, 0.0], [2.0, 1.0]])
    of = model([("cauchy", {"gamma": fall / (2 * 2.0**2)})], 1, 2, (0, 1))
    of = replace(of, vectors=np.array([[0.5, 0.5]]))
    if refused:
        with pytest.raises(OptionError, match="so wide"):
            grids(of, "q15", "f32", rows)
    else:
        assert grids(of, "q15", "f32", rows)[0]


def test_one_kernel_that_falls_is_enough():
    rows = np.array([[0.0, 0.0], [2.0, 1.0]])
    of = model([("cauchy", {"gamma": 1e-9}), ("cauchy", {"gamma": 1.0})], 1, 2, (0, 1))
    assert grids(of, "q15", "f32", rows)[0]


def test_a_projected_grid_has_a_margin_for_rounded_features():
    """The margin is 1.2 steps of each raw feature, summed as independent errors are."""
    case = make_integer_case(3, d=6, projected=True, raw=True)
    of, rows = case.model, case.rows
    T = of.transform
    seen = T(rows)
    low, high = seen.min(axis=0), seen.max(axis=0)
    steps = own_steps(as_read(Box.around(rows), INPUT_KINDS["raw-int16"]), T, 255, INPUT_KINDS["raw-int16"]).step
    margin = [
        1.2 * sum((known(T.projection)[i, j] * T.scale[j] * steps[j]) ** 2 for j in range(6)) ** 0.5 for i in range(3)
    ]
    tried, _ = grids(of, "q7", "raw-int16", rows)
    span = span_of(of, Box(low - margin, high + margin))
    coarsest = tried[0]
    assert span <= coarsest.step * coarsest.levels < span * 2**0.5
    assert np.all(coarsest.low <= low - margin)


# ---- Programs --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("reads", ["f32", "grid"])
@pytest.mark.parametrize("name", ["rbf", "laplacian", "cauchy"])
def test_vectors_are_rounded_to_the_nearest_index(name, reads, dtype):
    """Features of both signs of scale; the kernel's grid and the raw one meet at both ends."""
    case = make_integer_case(4, name, d=5, m=5)
    T = case.model.transform
    assert (T.scale < 0.0).any() and (T.scale > 0.0).any()
    program = quantized(case.model, dtype, reads, case.rows, finished=False)
    low, step = program.kernel_grid
    raw_ends = T(np.vstack([program.low, program.low + program.levels * program.step]))
    ends = np.vstack([low, low + program.levels * step])
    np.testing.assert_allclose(np.sort(raw_ends, axis=0), ends, rtol=1e-9, atol=1e-9 * step)
    real = T(program.low + program.vectors * program.step)
    inside = np.clip(case.model.vectors, ends[0], ends[1])
    assert np.abs(real - inside).max() <= step * (0.5 + 1e-6)
    assert program.n_features == 5 and program.classes == case.model.classes


def test_what_lies_beyond_the_grid_is_moved_to_its_end():
    case = make_integer_case(4, d=2, m=3)
    of = replace(case.model, transform=model([rbf()], 1, 2, (0, 1)).transform)
    of = replace(of, vectors=np.array([[-9.0, 0.26], [9.0, 0.74], [0.5, 0.5]]))
    grid = Grid(np.zeros(2), 0.1, 10, 3)
    box, kind = Box(np.zeros(2), np.ones(2)), INPUT_KINDS["f32"]
    own = own_steps(box, of.transform, 255, kind)
    program = known(_program(of, "square", [1.0], integer_format("q7"), kind, box, own, grid))
    assert program.vectors.tolist() == [[0, 3], [10, 7], [5, 5]]
    assert (program.levels, half_powers(program)[0].octave) == (10, 3)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("reads", ["f32", "raw-int16"])
def test_a_projection_uses_the_bits_there_are(reads, dtype):
    """Weights are as exact as their type and 32 bits allow; the sum meets the grid half a step early, to round."""
    case = make_integer_case(7, d=8, projected=True, raw=True)
    T, P = case.model.transform, known(case.model.transform.projection)
    program = quantized(case.model, dtype, reads, case.rows, finished=False)
    made, (low, step) = known(program.projection), program.kernel_grid
    exact = P * T.scale * program.step / step
    start = (P @ ((program.low - T.offset) * T.scale) - low) / step + 0.5
    assert np.abs(made.weights - exact * 2**made.shift).max() <= 0.5
    assert np.abs(made.bias - start * 2**made.shift).max() <= 0.5
    largest = np.iinfo(np.int8 if dtype == "q7" else np.int16).max
    reach = (np.abs(exact).sum(axis=1) * program.reader.levels + np.abs(start) + made.levels + 1).max()
    assert np.abs(made.weights).max() <= largest
    assert 2 * 2**made.shift * reach <= 2**31
    doubled = 2 ** (made.shift + 1)
    assert np.abs(exact).max() * doubled > largest or 2 * doubled * reach > 2**31 - 1
    assert made.levels == program.levels


@pytest.mark.parametrize(("weight", "shift"), [(127.0, 0), (127.1, None), (63.5, 1), (63.6, 0), (1e-9, 10)])
def test_a_projection_that_does_not_fit_has_no_program(weight, shift):
    of = model([rbf()], 1, 1, (0, 1), projected=1)
    reader = make_reader(INPUT_KINDS["f32"], np.zeros(1), np.ones(1), 255)
    grid = Grid(np.zeros(1), 1.0, 2**20 - 2, 0)
    made = _project(of.transform, np.array([[weight]]), reader, np.zeros(1), np.ones(1), 127, grid)
    assert (None if made is None else made.shift) == shift


@pytest.mark.parametrize(
    ("what", "weights", "raw_low", "first", "levels"),
    [
        ("a long sum of both signs", 5.0 * (-1.0) ** np.arange(60.0), 0.0, 0.0, 32767),
        ("a long sum of one sign", np.full(60, -5.0), 0.0, 0.0, 32767),
        ("a start far below", np.array([0.01]), -1e9, 0.0, 32767),
        ("a start far above", np.array([0.01]), 0.0, -1e7, 32767),
        ("a long grid", np.array([0.01]), 0.0, 0.0, 2**26),
    ],
)
def test_a_shift_is_the_largest_for_which_every_sum_fits_half_of_32_bits(what, weights, raw_low, first, levels):
    """The terms of both signs, the start and an index beyond the grid may all come together."""
    n = len(weights)
    of = model([rbf()], 1, n, (0, 1), projected=1, offset=np.full(n, 1.0), scale=np.full(n, 2.0))
    step, low = np.full(n, 0.25), np.full(n, raw_low)
    reader = make_reader(INPUT_KINDS["f32"], low, step, 4095)
    made = known(_project(of.transform, weights[None], reader, low, step, 32767, Grid(np.array([first]), 0.5, levels)))
    start = (sum(w * (raw_low - 1.0) * 2.0 for w in weights) - first) / 0.5 + 0.5
    farthest = sum(abs(w) for w in weights) * 4095 + abs(start) + levels + 1
    fitting = [shift for shift in range(25) if 2 * 2**shift * farthest <= 2**31 - 1]
    assert made.shift == max(fitting) < 24, what
    assert np.abs(made.weights - weights * 2.0**made.shift).max() <= 0.5
    assert abs(int(made.bias[0]) - start * 2.0**made.shift) <= 0.51


def test_a_shift_has_at_most_24_bits():
    of = model([rbf()], 1, 1, (0, 1), projected=1)
    reader = make_reader(INPUT_KINDS["f32"], np.zeros(1), np.ones(1), 255)
    grid = Grid(np.zeros(1), 1.0, 20, 0)
    made = known(_project(of.transform, np.array([[1e-6]]), reader, np.zeros(1), np.ones(1), 127, grid))
    assert made.shift == 24


@pytest.mark.parametrize(("form", "expected"), [("square", 90**2 + 50**2), ("absolute", 140)])
def test_the_largest_distance_is_to_the_farther_end_of_every_feature(form, expected):
    assert largest_distance(np.array([[10, 50], [40, 60]]), 100, form) == expected
    assert largest_distance(np.array([[90, 50], [40, 60]]), 100, form) == expected


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("projected", [False, True])
def test_a_linear_program_is_the_weighted_sum_of_its_features(projected, dtype):
    case = make_integer_case(5, "linear", d=4, n_classes=3, projected=projected)
    program = quantized(case.model, dtype, "grid", case.rows)
    corners = np.array(np.meshgrid(*[[0, program.reader.levels]] * 4)).reshape(4, -1).T
    X = program.low + corners * program.step
    wanted = case.model.scores(X)
    found = program.scores(corners.astype(program.input_dtype)) * program.unit
    assert np.abs(found - wanted).max() < 3e-4 * np.abs(wanted).max() * (1 + 4 * (dtype == "q15"))
    assert np.array_equal(program.range.high, np.full(4, program.reader.levels))
    assert program.vectors.shape == (0, 4)
