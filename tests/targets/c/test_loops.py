"""Loops as they are printed: every feature comes once, with its own value, whatever their number."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from golden_models import model, rbf
from integer_models import quantized

from benchmarks.trust._together import make_integer_case
from sparsegen.lowering.curves import FRACTION_BITS, HalfPower
from sparsegen.lowering.formats import Format
from sparsegen.targets import TARGETS
from sparsegen.targets.c.avr import avr_values
from sparsegen.targets.c.code import index_type
from sparsegen.targets.c.dsp import dsp_values
from sparsegen.targets.c.row_table import make_row_table
from sparsegen.targets.c.walk import SQUARES_STEP, STEP, WRITTEN_OUT, make_walk
from sparsegen.targets.render import c_int

COUNTS = [*range(1, 20), 23, 24, 25, 31, 32, 33, 64, 257, 258]


@cache
def program(n, dtype="q7", kernels=()):
    return quantized(
        model([(name, {}) for name in kernels] or [rbf(0.5 / n)], 2, n, (0, 1)), dtype, "grid", finished=False
    )


def walked(walk, lead):
    """Return the (feature, place in the table) that a walk reads, in order; then how far its pointer has moved."""
    read, pointer = [], 0
    for start in range(0, walk.end, walk.step):
        read += [(start + place.feature, pointer + place.value) for place in walk.inside]
        pointer += walk.step
    read += [(place.feature, pointer + place.value) for place in walk.after]
    return read, pointer + walk.advance


@pytest.mark.parametrize("step", [1, SQUARES_STEP, STEP])
@pytest.mark.parametrize(("written_out", "lead"), [(0, 0), (WRITTEN_OUT, 0), (0, 3)])
def test_a_walk_reads_every_value_once(step, written_out, lead):
    for n in COUNTS:
        walk = make_walk(n, step, written_out, lead)
        read, moved = walked(walk, lead)
        assert read == [(i, lead + i) for i in range(n)]
        assert moved == n + lead
        has_loop = n > written_out and n >= 2 * step
        assert bool(walk.end) == has_loop
        assert len(walk.inside) == (step if has_loop else 0)
        assert len(walk.after) == (n % step if has_loop else n)


@pytest.mark.parametrize("dtype", ["q7", "q15"])
@pytest.mark.parametrize("n", COUNTS)
def test_dsp_loops_read_every_feature_once(dtype, n):
    loops = dsp_values(program(n, dtype))
    size = 4 if dtype == "q7" else 2
    if n < size:
        assert loops is None
        return
    assert loops is not None
    assert (loops.size, loops.widens) == (size, dtype == "q7")
    assert loops.whole == size * (n // size) == size * loops.n_words
    assert loops.tail == tuple(range(loops.whole, n))
    assert loops.has_tail == bool(n % size)
    assert loops.words == tuple(range(0, loops.whole, size))
    assert loops.loops_over_squares == (dtype == "q7" or n > 16)
    assert loops.buffer_bytes == (2 * loops.whole if dtype == "q7" else 0)
    inside, after = ([word for words in part for word in words if word] for part in (loops.inside, loops.after))
    assert all(words.second for words in (*loops.inside, *loops.after[:-1]))  # only the last word may be alone
    read, value = [], 0
    for start in range(0, loops.end, loops.step):
        read += [(start + word.feature, value + word.value) for word in inside]
        value += loops.step
    assert value == loops.end
    read += [(word.feature, loops.end + word.value) for word in after]
    assert read == [(i, i) for i in range(0, loops.whole, size)]
    assert all(word.pair == word.feature // size for word in (*inside, *after))
    assert [(place.feature, loops.end + place.value) for place in loops.tail_values] == [(i, i) for i in loops.tail]
    assert loops.has_pairs == any(words.second for words in (*loops.inside, *loops.after))
    assert loops.step == (32 if dtype == "q7" and n >= 64 else 16)
    assert loops.round_places == (loops.step // 4 if dtype == "q7" else loops.step)
    assert bool(loops.end) == (n >= 32)


@pytest.mark.parametrize("dtype", ["q7", "q15"])
@pytest.mark.parametrize("n", COUNTS)
def test_avr_loops_read_every_feature_once(dtype, n):
    loops = avr_values(program(n, dtype))
    assert loops is not None
    per_round = 8 if dtype == "q7" else 2
    assert loops.has_bytes == (dtype == "q7")
    assert loops.rounds * len(loops.inside) + len(loops.after) == n
    assert len(loops.inside) == per_round
    assert loops.rounds == (n // per_round if n >= 2 * per_round else 0)
    assert loops.has_wide_sum == (n > 257)
    assert loops.has_wide_sum or n * 255**2 < 2**24


def test_avr_counts_rounds_in_one_register():
    assert avr_values(program(2 * 255, "q15")) is not None
    assert avr_values(program(2 * 255 + 1, "q15")) is not None
    assert avr_values(program(2 * 256, "q15")) is None


@pytest.mark.parametrize("octave", range(27))
def test_avr_shifts_bring_a_distance_to_its_exponent(octave):
    loops = avr_values(replace(program(3), curves=(HalfPower(octave),)))
    assert loops is not None
    left, right = len(loops.left_bits), len(loops.right_bits)
    whole = 8 if loops.whole_byte else 0
    borrowed = 8 if loops.borrows_byte else 0  # to the left, then a whole byte to the right
    moved = left - right - borrowed + (whole if loops.shifts_left else -whole)
    assert moved == FRACTION_BITS - octave
    assert right <= 4
    assert left < 8


def test_other_programs_take_the_portable_loops():
    absolute = program(4, kernels=("laplacian",))
    several = program(4, kernels=("rbf", "rbf"))
    sampled = program(4, kernels=("cauchy",))
    assert [avr_values(p) for p in (absolute, several, sampled)] == [None] * 3
    assert dsp_values(absolute) is None
    assert dsp_values(several) is not None
    assert dsp_values(sampled) is not None


@pytest.mark.parametrize("dtype", ["q7", "q15", "q7c8"])
@pytest.mark.parametrize("early_exit", [False, True])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 8])
def test_rows_of_the_table_are_laid_out_as_c_does(dtype, early_exit, n):
    narrow = dtype == "q7c8"
    n_outputs = 3 if narrow else 1
    case = make_integer_case(1, d=n, m=3, octaves=(0, 1), n_classes=3 if narrow else 2)
    made = quantized(case.model, dtype, "f32", case.rows)
    for follows in (False, True):
        table = make_row_table(made, Format(dtype, early_exit=early_exit), norm_follows_vector=follows)
        kinds = ("vector", "norm", "coef", "shift")
        names = [next((k for k in kinds if getattr(m, f"is_{k}")), "rest") for m in table.members]
        index_bytes = 2 if dtype == "q15" else 1
        in_front = not follows and (n * index_bytes) % 4
        expected = ["norm", "vector"] if in_front else ["vector", "norm"]
        rest = ["rest"] * early_exit
        assert names == expected + ([*rest, "coef", "shift"] if narrow else ["coef", *rest])
        coef_type = "i1" if narrow else "i2"
        fields = {
            "vector": (f"u{index_bytes}", n), "norm": ("u4", 1), "coef": (coef_type, 2 * n_outputs), "shift": ("u1", 2),
            "rest": ("u2", 1 if narrow else 2),
        }  # fmt: skip
        layout = np.dtype([(name, *fields[name]) for name in names], align=True)
        assert table.size == 3 * layout.itemsize
        assert (table.n_rows, len(table.rows)) == (3, 3)
        for u, row in enumerate(table.rows):
            values = dict(zip(names, row, strict=True))
            assert values["vector"].tolist() == made.vectors[u].tolist()
            assert values["norm"] == (made.vectors[u] ** 2).sum()
            shift = [0, 0] if made.shift is None else made.shift[:, u].tolist()
            assert values.get("shift", np.zeros(2)).tolist() == shift
            stored = values["coef"].astype(coef_type).tolist()  # which wraps what does not fit
            coef = [made.coef[o, k, u] for k in range(2) for o in range(n_outputs)]
            assert [c << s for c, s in zip(stored, np.repeat(shift, n_outputs), strict=True)] == coef


def test_a_linear_program_has_no_rows_and_distances_without_squares_no_norm():
    linear = make_row_table(program(3, kernels=("linear",)), Format("q7"), norm_follows_vector=True)
    assert (linear.n_rows, linear.size, list(linear.members)) == (0, 0, [])
    absolute = make_row_table(program(3, kernels=("laplacian",)), Format("q7"), norm_follows_vector=True)
    assert [member.is_norm for member in absolute.members] == [False, False]


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0"), (32767, "32767"), (32768, "32768L"), (-32767, "-32767"), (-32768, "-32768L")]
)
def test_constants_suit_an_int_of_sixteen_bits(value, text):
    assert c_int(value) == text
    assert index_type(abs(value)) == ("int" if abs(value) <= 32767 else "long")


@pytest.mark.parametrize(("n_classes", "n_rest"), [(2, 2), (3, 1)])
def test_rows_hold_bounds_where_a_prediction_may_stop(n_classes, n_rest):
    case = make_integer_case(1, m=3, n_classes=n_classes)
    stops, goes_on = (
        TARGETS["c"].export(case.model, "m", Format("q7", early_exit=early, rows=case.rows)).files["m.c"].decode()
        for early in (True, False)
    )
    assert f"uint16_t rest[{n_rest}];" in stops
    assert "rest[" not in goes_on
    assert "r->rest[" in stops and "break;" in stops
    assert "break;" not in goes_on
