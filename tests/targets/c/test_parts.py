"""The C with its parts named is the exported C, with a name before each part and nothing else."""

from __future__ import annotations

import re

import pytest
from golden_models import EVERY, INTEGER
from integer_models import READS

from sparsegen.lowering import lower
from sparsegen.lowering.formats import FLOAT32, Format
from sparsegen.lowering.integer_program import IntegerProgram
from sparsegen.targets import TARGETS
from sparsegen.targets.c.package import LOOPS, c_code
from sparsegen.targets.c.parts import PARTS, REST, by_parts, table_parts

NAME = re.compile(r'^ *#line 1 "(\w+)"\n', re.MULTILINE)
INTEGERS = {name: (golden.model, golden.format) for name, golden in INTEGER.items()}
CASES = {name: (model, FLOAT32) for name, model in EVERY.items()} | INTEGERS
WAYS = [(name, loops) for name in CASES for loops in LOOPS]


@pytest.mark.parametrize(("case", "loops"), WAYS, ids=[f"{name}-{loops}" for name, loops in WAYS])
def test_names_are_all_that_is_added(case, loops):
    model, numbers = CASES[case]
    lowered = lower(model, numbers)
    plain = TARGETS["c"].write(lowered, "m", loops)
    named = by_parts(lowered, "m", loops)
    source = named.files["m.c"].decode()
    assert NAME.sub("", source).encode() == plain.files["m.c"]
    assert set(NAME.findall(source)) <= set(PARTS)
    assert b"#line" not in plain.files["m.c"]
    assert {path for path in named.files if named.files[path] != plain.files[path]} == {"m.c"}


@pytest.mark.parametrize("loops", ["portable", "dsp"])
@pytest.mark.parametrize("reads", READS)
def test_every_table_has_a_part(reads, loops):
    for case, (model, numbers) in CASES.items():
        if reads != "f32" and numbers == FLOAT32:
            continue
        lowered = lower(model, numbers if numbers == FLOAT32 else Format(numbers.dtype, reads))
        tables = c_code(lowered, "m", loops).values["tables"]
        for table in tables:
            parts = table_parts(lowered.program, table.name, table.size)
            assert sum(parts.values()) == table.size
            # the probabilities' table is not read by a prediction
            assert REST not in parts or table.name == "weights", (case, table.name)


def test_rows_belong_to_two_parts():
    lowered = lower(INTEGER["integer_rbf"].model, INTEGER["integer_rbf"].format)
    program = lowered.program
    assert isinstance(program, IntegerProgram)
    # 4 vectors of 3 bytes, each with a norm of 4 bytes and a coefficient of 2
    assert table_parts(program, "rows", 4 * 12) == {"distances": 4 * (3 + 4), "sums": 4 * 12 - 28}
