"""Loops of a projection: every value comes once for every row, on every device, and costs no more than stated."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from integer_models import integer_export_of, quantized
from narrowing import known

from benchmarks.trust._together import IntegerCase, shared_inputs, simulated, together
from sparsegen.devices import DEVICES
from sparsegen.kernels import KERNELS
from sparsegen.lowering.group_features import Blocks
from sparsegen.model import SparseModel, Transform
from sparsegen.targets.c.projection_code import projection_code

COUNTS = [1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 23, 31, 32, 33, 64, 65, 127, 128, 145]


def projected_case(d: int, p: int, label=None, n_classes: int = 2) -> IntegerCase:
    """Return a small model of d pixels projected to p values; pixels with the same label are weighed alike."""
    rng = np.random.default_rng([d, p])
    label = np.arange(d) if label is None else label
    transform = Transform(np.full(d, 100.0), np.full(d, 1 / 64.0), rng.normal(size=(p, d))[:, label] / np.sqrt(d))
    rows = np.clip(np.rint(110.0 + 70.0 * rng.normal(size=(12, d))), 0, 255)
    rows[:2] = [[0.0], [255.0]]
    coef = rng.normal(size=(1 if n_classes == 2 else n_classes, 1, 2))
    kernel = KERNELS["rbf"].bind(gamma=0.3 / p)
    made = SparseModel(transform(rows[2:4]), coef, coef[:, 0, 0] / 3.0, (kernel,), transform, tuple(range(n_classes)))
    return IntegerCase(made, rows)


@cache
def code(d, p, dtype="q7", reads="raw-uint8", *, has_dsp=False, has_assembly=False):
    case = projected_case(d, p)
    program = quantized(case.model, dtype, reads, case.rows, finished=False)
    return known(projection_code(program, has_dsp=has_dsp, has_assembly=has_assembly))


@pytest.mark.parametrize(("dtype", "reads"), [("q7", "raw-uint8"), ("q15", "f32")])
@pytest.mark.parametrize("d", COUNTS)
def test_dsp_loops_weigh_every_value_once_in_every_row(dtype, reads, d):
    for p in (1, 3, 4, 6):
        loops = known(code(d, p, dtype, reads, has_dsp=True).dsp)
        size = 4 if dtype == "q7" else 2
        values = [
            start + word.value + i
            for start in range(0, loops.end, loops.step)
            for word in loops.inside
            for i in range(size)
        ]
        values += [loops.end + word.value + i for word in loops.after for i in range(size)]
        values += [loops.end + word.value for word in loops.tail]
        assert values == list(range(d))
        for word in (*loops.inside, *loops.after, *loops.tail):
            assert [(w.row, w.at) for w in word.weights] == [(i, i * d + word.value) for i in range(min(4, p))]
        firsts = [min(i, loops.last) for i in range(0, p, loops.n_rows)]
        assert {first + row for first in firsts for row in range(loops.n_rows)} == set(range(p))
        assert loops.has_rest == (firsts != list(range(0, p, loops.n_rows)))


@pytest.mark.parametrize(
    ("dtype", "reads", "sizes"), [("q7", "raw-uint8", (1, 1)), ("q15", "f32", (2, 2)), ("q15", "raw-uint8", (1, 2))]
)
@pytest.mark.parametrize("d", COUNTS)
def test_assembly_weighs_every_byte_of_every_value_once(dtype, reads, sizes, d):
    made = code(d, 2, dtype, reads, has_assembly=True)
    if made.avr is None:  # 16-bit products of many features: the sum of weights and excess could exceed 32 bits
        assert made.excess == 0
        assert made.largest * max((made.weights + 2**15).sum(axis=1).max(), 2**15 * d) >= 2**32
        return
    loops = known(made.avr)
    assert (len(loops.value_bytes), len(loops.weight_bytes)) == sizes
    assert loops.rounds * len(loops.inside) + len(loops.after) == d
    value, weight = 0xABCD & (2 ** (8 * sizes[0]) - 1), 0xEF12 & (2 ** (8 * sizes[1]) - 1)
    total = 0
    for product in loops.products:
        byte = (value >> 8 * loops.value_bytes.index(product.value)) & 255
        total += byte * ((weight >> 8 * loops.weight_bytes.index(product.weight)) & 255) << 8 * "ABCD".index(
            product.low
        )
        assert product.low + product.high + product.carried == "ABCD"["ABCD".index(product.low) :]
    assert total == value * weight
    assert len(loops.inside) * (sum(sizes) + sum(3 + len(product.carried) for product in loops.products)) < 63


@pytest.mark.parametrize(("has_dsp", "has_assembly", "p", "excess"), [
    (False, False, 4, True), (False, False, 3, False), (True, False, 4, False), (False, True, 1, True),
])  # fmt: skip
@pytest.mark.parametrize(("dtype", "reads"), [("q7", "raw-uint8"), ("q15", "f32")])
def test_weights_are_stored_so_that_loops_suit_them(dtype, reads, has_dsp, has_assembly, p, excess):
    made = code(20, p, dtype, reads, has_dsp=has_dsp, has_assembly=has_assembly)
    assert made.excess == (0 if not excess else {"q7": 128, "q15": 32768}[dtype])
    (stored,) = (table for table in made.tables if table.name == "projection")
    assert np.array_equal(stored.values.astype(stored.dtype).astype(np.int64) - made.excess, made.weights)
    assert stored.dtype.kind == ("u" if excess else "i")


@pytest.mark.parametrize("d", COUNTS)
@pytest.mark.parametrize(("dtype", "reads"), [("q7", "raw-uint8"), ("q7", "f32"), ("q15", "f32"), ("q15", "raw-uint8")])
def test_no_sum_exceeds_its_type(dtype, reads, d):
    """Neither the largest values times the stored weights nor times the excess: sanitizers see no wrap-around."""
    for has_assembly in (False, True):
        made = code(d, 5, dtype, reads, has_assembly=has_assembly)
        if made.excess:
            assert (made.largest * (made.weights + made.excess)).sum(axis=1).max() < 2**32
            assert made.excess * made.largest * made.number < 2**32


def test_sums_beyond_sixteen_signed_bits_take_no_dsp_loops():
    """Indices up to 4095 do; nine of them, added up, do not."""
    for side, fits in ((2, True), (3, False)):
        label = Blocks(18, 18, side, side).of_feature
        case = projected_case(324, 5, label)
        program = quantized(case.model, "q15", "f32", case.rows, finished=False)
        assert known(program.feature_groups).largest_sum == 4095 * side**2
        assert (known(projection_code(program, has_dsp=True, has_assembly=False)).dsp is not None) == fits


@pytest.mark.parametrize("name", ["host", "cortex-m0plus", "cortex-m4f", "atmega328p"])
@pytest.mark.parametrize(("dtype", "reads"), [("q7", "raw-uint8"), ("q15", "raw-uint8"), ("q15", "grid")])
def test_every_tail_of_every_loop_on_devices(name, dtype, reads):
    device = DEVICES[name]
    if reason := device.missing():
        pytest.skip(reason)
    shapes = [(3, 1), (8, 2), (17, 3), (23, 4), (35, 6), (145, 5)]
    cases = {f"m{d}_{p}": projected_case(d, p, n_classes=3 if p == 5 else 2) for d, p in shapes}
    exports = [integer_export_of(c.model, name, dtype, reads, c.rows, device.loops) for name, c in cases.items()]
    inputs = shared_inputs(exports)
    out = device.run(together(exports), inputs)
    np.testing.assert_array_equal(out.scores, simulated(exports, inputs))
    assert not out.labels.any()


@pytest.mark.parametrize("name", ["cortex-m0plus", "rv32imc"])
def test_dsp_loops_compute_the_same_without_the_extension(name):
    device = DEVICES[name]
    if reason := device.missing():
        pytest.skip(reason)
    cases = {f"m{d}_{p}": projected_case(d, p) for d, p in ((17, 4), (23, 6), (40, 5))}
    exports = [integer_export_of(c.model, name, "q7", "raw-uint8", c.rows, "dsp") for name, c in cases.items()]
    inputs = shared_inputs(exports)
    np.testing.assert_array_equal(device.run(together(exports), inputs).scores, simulated(exports, inputs))


COST = {"cortex-m0plus": 5.0, "cortex-m4f": 1.7, "cortex-m33": 1.7, "rv32imc": 4.8, "atmega328p": 14.0}
"""Instructions, or cycles on AVR, that one more product takes."""


@pytest.mark.parametrize("name", COST)
def test_a_product_costs_no_more_than_stated(name):
    device = DEVICES[name]
    if reason := device.missing():
        pytest.skip(reason)
    costs = []
    for d in (400, 784):
        case = projected_case(d, 12)
        export = integer_export_of(case.model, "m", "q7", "raw-uint8", case.rows, device.loops)
        found = device.measure(export, known(export.lowered).inputs(case.rows[:2]))
        costs.append(known(found.instructions if found.cycles is None else found.cycles))
    assert (costs[1] - costs[0]) / (384 * 12) <= COST[name]
