"""Sums of features that a projection weighs alike: every device computes what the simulator of single features does."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from c_programs import damaged, in_range_of
from integer_models import integer_export_of
from narrowing import known
from pooled_models import POOLED

from benchmarks.trust._together import extreme_inputs, integer_program, shared_inputs, simulated, together
from benchmarks.trust.stack import COMPILERS, LEVELS, promised
from sparsegen.devices import DEVICES

WAYS = [("q7", "raw-uint8"), ("q7", "grid"), ("q7", "f32"), ("q15", "raw-int16"), ("q15", "grid")]
ROUGHEST = ("ragged", "table_dropped", "blocks_dropped")
TABLES = {"table": "groups", "table_dropped": "groups", "blocks_dropped": "blocks", "chosen": "blocks"}


def exports(dtype, reads, loops, cases=tuple(POOLED)):
    made = {case: POOLED[case] for case in cases}
    found = [integer_export_of(of.model, f"m_{case}", dtype, reads, of.rows, loops) for case, of in made.items()]
    assert all(integer_program(export).feature_groups is not None for export in found)
    return found


@pytest.mark.parametrize("name", ["host", "cortex-m0plus", "cortex-m4f", "atmega328p"])
@pytest.mark.parametrize(("dtype", "reads"), WAYS)
def test_devices_equal_the_simulator(name, dtype, reads):
    device = DEVICES[name]
    if reason := device.missing():
        pytest.skip(reason)
    made = exports(dtype, reads, device.loops)
    batch = 4 if name == "atmega328p" else len(made)  # its 32 KB hold a few of them
    for some in (made[first : first + batch] for first in range(0, len(made), batch)):
        inputs = shared_inputs(some)[:: 5 if name == "atmega328p" else 1]
        out = device.run(together(some), inputs)
        np.testing.assert_array_equal(out.scores, simulated(some, inputs))
        assert not out.labels.any(), "a self-test failed"


@pytest.mark.parametrize(("dtype", "reads"), WAYS)
@pytest.mark.parametrize("case", ["ragged", "table_dropped", "blocks_dropped"])
def test_in_range_says_what_the_simulator_says(case, dtype, reads, tmp_path):
    made = POOLED[case]
    export = integer_export_of(made.model, "m", dtype, reads, made.rows)
    program = integer_program(export)
    inputs = np.vstack([program.inputs(made.rows), extreme_inputs(program, made.rows)])
    expected = program.in_range(inputs)
    assert expected.any()
    assert reads == "grid" or not expected.all()
    assert np.array_equal(in_range_of(export, tmp_path, inputs), expected)


def test_a_table_holds_one_column_for_each_group():
    for case, made in POOLED.items():
        export = integer_export_of(made.model, "m", "q7", "raw-uint8", made.rows)
        program = integer_program(export)
        groups = known(program.feature_groups)
        assert f"uint8_t m_projection[{program.n_seen * groups.number}]" in export.files["m.c"].decode()
        assert f"raw whole numbers, added up in {groups.number} groups, projected to" in export.files["m.h"].decode()
        assert ("m_groups[" in export.files["m.c"].decode()) == (TABLES.get(case) == "groups")
        assert ("m_blocks[" in export.files["m.c"].decode()) == (TABLES.get(case) == "blocks")
        assert "q[" not in export.files["m.c"].decode()


@pytest.mark.parametrize("reads", ["raw-uint8", "f32"])
def test_no_buffer_holds_single_features(reads):
    for made in POOLED.values():
        assert " q[" not in integer_export_of(made.model, "m", "q7", reads, made.rows).files["m.c"].decode()


@pytest.mark.parametrize("case", TABLES)
def test_the_self_test_notices_damage_in_what_finds_groups(case):
    device = DEVICES["host"]
    if reason := device.missing():
        pytest.skip(reason)
    made = POOLED[case]
    export = damaged(integer_export_of(made.model, "m", "q7", "raw-uint8", made.rows), TABLES[case])
    assert device.run(together([export]), shared_inputs([export])[:1]).labels.tolist() == [1]


@pytest.mark.parametrize("name", ["cortex-m0plus", "atmega328p"])
@pytest.mark.parametrize("reads", ["raw-uint8", "f32"])
def test_sums_are_counted_in_the_stack(name, reads):
    device = DEVICES[name]
    if reason := device.missing():
        pytest.skip(reason)
    made = POOLED["image"]
    export = integer_export_of(made.model, "m", "q7", reads, made.rows, device.loops)
    ram = known(device.measure(export, known(export.lowered).inputs(made.rows[:3])).ram)
    assert 72 < ram <= promised(export, "-Os").predict  # 36 sums of two bytes


@pytest.mark.parametrize("name", COMPILERS)
def test_no_compiler_takes_more_stack_than_the_header_states(name):
    compiler = COMPILERS[name]
    if shutil.which(compiler.command[0]) is None:
        pytest.skip(f"{compiler.command[0]} is not on the PATH")
    made = exports("q7", "f32", compiler.loops, ROUGHEST)
    for level in LEVELS:
        for export, found in zip(made, compiler.stacks(made, level), strict=True):
            stated = promised(export, level)
            assert found.predict <= stated.predict, f"{export.name} {level}"
            assert found.selftest <= stated.selftest, f"{export.name} {level}"
