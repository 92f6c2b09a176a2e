"""Integer C equals its simulator to the bit: on the host for random models, on devices for every tail of every loop."""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
import pytest
from golden_models import model, rbf, rows
from hypothesis import given, settings
from hypothesis import strategies as st
from integer_models import (
    INTEGER_FORMATS,
    INTEGER_KERNELS,
    INTEGERS,
    READS,
    SIXTEEN,
    TAILS,
    half_powers,
    integer_cases,
    integer_export_of,
    tail_model,
)

from benchmarks.trust._together import (
    extreme_inputs,
    integer_program,
    make_integer_case,
    shared_inputs,
    simulated,
    together,
)
from sparsegen.devices import DEVICES
from sparsegen.devices.host import Host
from sparsegen.lowering.formats import Format
from sparsegen.lowering.quantize import MAX_OCTAVE
from sparsegen.model import VOTES
from sparsegen.targets import TARGETS
from sparsegen.targets.c.avr import avr_values

DEVICES_TRIED = ("cortex-m0plus", "cortex-m4f", "rv32imc", "atmega328p")
AVR_TAILS = (1, 2, 3, 5, 8, 9, 16, 17, 33)


def require(device):
    reason = device.missing()
    if reason is not None:
        pytest.skip(f"{device.name}: {reason}")


def assert_equal(device, exports, inputs):
    """Every score and label of every row is the simulator's, and every self-test passes."""
    out = device.run(together(exports), inputs)
    expected = simulated(exports, inputs)
    wrong = np.argwhere(out.scores != expected)
    assert len(wrong) == 0, f"{len(wrong)} differ, first at row, output {wrong[0]}"
    assert not out.labels.any(), "a self-test failed"


def sanitized():
    found = next((name for name in ("gcc", "clang") if Host((name,)).missing() is None), None)
    if found is None:
        return DEVICES["host"]
    return Host((found,), ("-std=c99", "-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"))


@settings(max_examples=5, deadline=None)
@given(st.lists(integer_cases(), min_size=5, max_size=5), st.sampled_from(READS), st.sampled_from(INTEGER_FORMATS))
def test_the_host_equals_the_simulator_on_every_sample(cases, reads, dtype):
    """Under sanitizers, so that nothing overflows, shifts too far or reads beyond a row either."""
    require(DEVICES["host"])
    other = INTEGER_FORMATS[INTEGER_FORMATS.index(dtype) - 1]
    exports = []
    for i, case in enumerate(cases):
        of, at = case.model, case.rows
        if of.transform.projection is not None and reads.startswith("raw"):  # whose scales must suit whole numbers
            of, at = (made := make_integer_case(i, d=of.n_features, projected=True, raw=True)).model, made.rows
        used = other if i % 2 and reads != "grid" else dtype
        exports.append(integer_export_of(of, f"m{i}", used, reads, at))
    assert_equal(sanitized(), exports, shared_inputs(exports))


@cache
def tail_program(d, dtype, reads):
    of = tail_model(d, pixels=reads.startswith("raw"))
    return TARGETS["c"].lower(of, Format(dtype, reads, rows=rows(of)))


@cache
def tail_export(d, dtype, reads, loops):
    return TARGETS["c"].write(tail_program(d, dtype, reads), f"m{dtype}_{d}", loops)


@pytest.mark.parametrize("name", DEVICES_TRIED)
@pytest.mark.parametrize(("dtype", "reads"), [("q7", "grid"), ("q15", "grid"), ("q15", "raw-int16"), ("q7", "f32")])
def test_every_tail_of_every_loop_on_devices(name, dtype, reads):
    device = DEVICES[name]
    require(device)
    counts = TAILS if name != "atmega328p" else AVR_TAILS if reads == "grid" else (1, 9, 17)
    exports = [tail_export(d, dtype, reads, device.loops) for d in counts]
    assert_equal(device, exports, shared_inputs(exports))


@pytest.mark.parametrize(("dtype", "reads"), list(itertools.product(INTEGERS, ("raw-uint8", "raw-int16", "f32"))))
def test_every_reader_on_the_smallest_core(dtype, reads):
    device = DEVICES["cortex-m0plus"]
    require(device)
    exports = [tail_export(d, dtype, reads, device.loops) for d in (1, 2, 9, 16, 17)]
    assert_equal(device, exports, shared_inputs(exports))


MORE = {
    "projected": make_integer_case(1, d=21, projected=True, raw=True, n_classes=3),
    "laplacian": make_integer_case(2, "laplacian", d=19, n_classes=3),
    "linear": make_integer_case(3, "linear", d=11, n_classes=4),
    "votes": make_integer_case(6, d=9, n_classes=5, decision=VOTES),
    "linear_binary": make_integer_case(4, "linear", d=17),
    "three_kernels": make_integer_case(5, octaves=(2, 0, 5), d=6, n_classes=3),
    **{
        f"{name}_{d}": make_integer_case(9, name, d=d, octaves=(0, 0.7), n_classes=3)
        for name in INTEGER_KERNELS
        if name != "linear"
        for d in (5, 18)
    },
    "far": make_integer_case(6, far=100.0, octaves=(0, 30)),
    "huge": make_integer_case(7, size=1e12),
    "tiny": make_integer_case(8, size=1e-12, constant=True, m=1),
}


@cache
def lowered(kind, dtype):
    """Return the program of a model, which every device prints with its own loops."""
    case = MORE[kind]
    return TARGETS["c"].lower(case.model, Format(dtype, "f32", rows=case.rows))


@pytest.mark.parametrize("name", DEVICES_TRIED)
@pytest.mark.parametrize("dtype", [*INTEGERS, "q7c8"])
def test_every_kind_of_model_on_devices(name, dtype):
    device = DEVICES[name]
    require(device)
    exports = [TARGETS["c"].write(lowered(kind, dtype), f"m_{kind.replace('-', '_')}", device.loops) for kind in MORE]
    batch = 4 if name == "atmega328p" else len(exports)  # its 32 KB hold a few of them
    for first in range(0, len(exports), batch):
        some = exports[first : first + batch]
        assert_equal(device, some, shared_inputs(some))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_assembly_shifts_by_every_octave(dtype):
    """On AVR the exponent is shifted by hand, in another way for every octave."""
    device = DEVICES["atmega328p"]
    require(device)
    exports, programs = [], []
    for octave in range(MAX_OCTAVE + 1):
        of = model([rbf(2.0 ** ({"q7": 12, "q15": 26}[dtype] - octave))], 2, 2, (0, 1))
        exports.append(integer_export_of(of, f"m{octave}", dtype, "grid", rows(of), "avr"))
        programs.append(integer_program(exports[-1]))
        assert avr_values(programs[-1]) is not None
    assert len({half_powers(program)[0].octave for program in programs}) >= MAX_OCTAVE
    for part in (slice(14), slice(14, None)):
        some, first = exports[part], programs[part][0]
        at = np.unique(np.concatenate([program.vectors for program in programs[part]]), axis=0)
        shifts = [0, 1, 2, 3, 4, 5, 7, 9, 15, 16, 17, 30, 64, 100, 181, 255, 700, 1000, 2900, 5000, 8191, 20000]
        near = np.vstack([at + np.array([0, shift]) for shift in shifts])
        inputs = np.vstack([np.clip(near, 0, first.levels), extreme_inputs(first, at.astype(float))])
        assert_equal(device, some, inputs.astype(some[0].input_dtype))


@pytest.mark.parametrize("name", ["cortex-m3", "cortex-m7", "cortex-m33", "attiny85", "host"])
def test_the_other_devices(name):
    """Among them the ATtiny85, which has no multiplication, so that the assembly must not be used."""
    device = DEVICES[name]
    require(device)
    for dtype in INTEGERS:
        exports = [integer_export_of(SIXTEEN, "m", dtype, "grid", loops=device.loops)]
        assert_equal(device, exports, shared_inputs(exports))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_a_kernel_so_narrow_that_only_its_vector_sees_it(dtype):
    require(DEVICES["host"])
    case = make_integer_case(6, octaves=(0, 60))
    exports = [integer_export_of(case.model, "m", dtype, "grid", case.rows)]
    assert_equal(DEVICES["host"], exports, extreme_inputs(integer_program(exports[0]), case.rows))


@pytest.mark.parametrize("level", ["-O2", "-O3"])
@pytest.mark.parametrize("dtype", INTEGERS)
def test_clang_does_not_join_reading_and_weighing(dtype, level):
    """It did where both were inlined into the self-test: clang 14 then computed other scores for every tenth model."""
    clang = Host(("clang",), ("-std=c99", level))
    require(clang)
    exports = []
    for seed in range(24):
        case = make_integer_case(seed, "linear", d=2 + seed % 8, m=2, raw=True)
        exports.append(integer_export_of(case.model, f"m{seed}", dtype, "raw-int16", case.rows))
    assert_equal(clang, exports, shared_inputs(exports))
