from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from integer_models import quantized
from narrowing import known

from benchmarks.trust._together import integer_program, make_integer_case
from sparsegen.devices import DEVICES
from sparsegen.lowering.curves import LARGEST_VALUE
from sparsegen.lowering.formats import Format
from sparsegen.lowering.order_for_early_exit import UNIT_BITS, order_for_early_exit, remaining_change
from sparsegen.targets import TARGETS

DEVICE_LOOPS = [("host", "portable"), ("cortex-m4f", "dsp"), ("atmega328p", "avr")]


@pytest.mark.parametrize(("n_classes", "dtype"), [(2, "q7"), (5, "q7"), (5, "q7c8")])
def test_order_changes_no_score(n_classes, dtype):
    case = make_integer_case(3, m=9, n_classes=n_classes)
    program = quantized(case.model, dtype, "f32", case.rows)
    ordered = order_for_early_exit(program)
    inputs = program.inputs(case.rows)
    np.testing.assert_array_equal(ordered.scores(inputs), program.scores(inputs))
    weight = np.abs(ordered.coef).sum(axis=1).max(axis=0)
    assert np.all(np.diff(weight) <= 0)
    assert np.abs(ordered.stored_coef).max() <= ordered.numbers.largest_coef
    assert np.array_equal(ordered.stored_coef << (0 if ordered.shift is None else ordered.shift), ordered.coef)


@pytest.mark.parametrize("n_classes", [2, 5])
def test_nothing_that_remains_exceeds_its_bound(n_classes):
    case = make_integer_case(4, m=9, n_classes=n_classes)
    program = order_for_early_exit(quantized(case.model, "q15", "f32", case.rows))
    rest = remaining_change(program) << UNIT_BITS
    rng = np.random.default_rng(0)
    for _ in range(300):
        K = rng.choice([0, 1, LARGEST_VALUE // 3, LARGEST_VALUE], size=program.coef.shape[1:])
        for u in range(len(program.vectors)):
            change = (program.coef[:, :, u + 1 :] * K[:, u + 1 :]).sum(axis=(1, 2))
            if n_classes == 2:
                assert -rest[u, 0] <= change[0] <= rest[u, 1]
            else:
                assert change.max() - change.min() <= rest[u, 0]
    assert np.all(rest[-1] == 0)


@pytest.mark.parametrize("device, loops", DEVICE_LOOPS)
@pytest.mark.parametrize(("n_classes", "dtype"), [(2, "q7"), (5, "q7"), (5, "q7c8")])
def test_a_stop_never_changes_a_label(n_classes, dtype, device, loops):
    if (reason := DEVICES[device].missing()) is not None:
        pytest.skip(reason)
    case = make_integer_case(6, m=12, n_classes=n_classes)
    export = TARGETS["c"].export(case.model, "m", Format(dtype, "f32", early_exit=True, rows=case.rows), loops)
    program = integer_program(export)
    inputs = program.inputs(case.rows)
    out = DEVICES[device].run(export, inputs)
    np.testing.assert_array_equal(out.labels, program.predict_index(inputs))
    np.testing.assert_array_equal(out.scores, program.scores(inputs))


def test_a_clear_row_costs_less_than_the_worst():
    device = DEVICES["cortex-m0plus"]
    if (reason := device.missing()) is not None:
        pytest.skip(reason)
    case = make_integer_case(7, m=16)
    coef = case.model.coef.copy()
    coef[..., 0] = 50.0 * np.abs(coef).sum()  # near its vector nothing else counts
    model = replace(case.model, coef=coef)
    near = model.transform.offset + model.vectors[:1] / model.transform.scale
    rows = np.vstack([near, case.rows[:8]])
    costs = [
        known(device.measure(export, export.program.inputs(near)).instructions)
        for export in (
            TARGETS["c"].export(model, "m", Format("q15", "grid", early_exit=early, rows=rows))
            for early in (False, True)
        )
    ]
    assert costs[1] < 0.6 * costs[0]


def test_a_linear_kernel_has_nothing_to_stop():
    case = make_integer_case(8, "linear")
    with_exit, without = (
        TARGETS["c"].export(case.model, "m", Format("q7", "f32", early_exit=early, rows=case.rows)).files["m.c"]
        for early in (True, False)
    )
    assert with_exit == without


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("size", [1, 300])
def test_bounds_are_as_small_as_their_unit_allows(n_classes, size):
    """Each is the largest change of the remaining terms, by trying both ends of each, rounded up to the next unit."""
    case = make_integer_case(5, m=5, n_classes=n_classes, octaves=(0, 1))
    program = quantized(case.model, "q7", "f32", case.rows)
    program = replace(program, coef=program.coef // size)
    found = remaining_change(program)
    for u in range(5):
        rest = program.coef[:, :, u + 1 :].reshape(program.n_outputs, -1)
        if n_classes == 2:
            sums = [LARGEST_VALUE * int(part.sum()) for part in (-rest[rest < 0], rest[rest > 0])]
        else:
            sums = [LARGEST_VALUE * sum(max(column) - min(column) for column in rest.T.tolist())]
        assert found[u].tolist() == [min(-(-total // 2**16), 2**16 - 1) for total in sums]


def test_a_bound_never_exceeds_its_sixteen_bits():
    case = make_integer_case(5, m=300)
    program = quantized(case.model, "q7", "f32", case.rows)
    large = replace(program, coef=np.full_like(program.coef, 32767))
    assert remaining_change(large).max() == 2**16 - 1
    assert order_for_early_exit(quantized(make_integer_case(8, "linear").model, "q7", "f32")).is_linear


def test_vectors_of_equal_weight_keep_their_order():
    case = make_integer_case(5, m=6)
    program = quantized(case.model, "q7", "f32", case.rows)
    even = replace(program, coef=np.array([[[3, -3, 5, 3, -5, 3]]]))
    ordered = order_for_early_exit(even)
    assert ordered.coef[0, 0].tolist() == [5, -5, 3, -3, 3, 3]
    assert np.array_equal(ordered.vectors, program.vectors[[2, 4, 0, 1, 3, 5]])
