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
FLOATS = {name: (model, FLOAT32) for name, model in EVERY.items()}
CASES = FLOATS | {name: (golden.model, golden.format) for name, golden in INTEGER.items()}


@pytest.mark.parametrize("case", CASES)
def test_names_are_all_that_is_added(case):
    model, numbers = CASES[case]
    lowered = lower(model, numbers)
    for loops in LOOPS:
        plain = TARGETS["c"].write(lowered, "m", loops)
        named = by_parts(lowered, "m", loops)
        source = named.files["m.c"].decode()
        assert NAME.sub("", source).encode() == plain.files["m.c"]
        assert set(NAME.findall(source)) <= set(PARTS)
        assert b"#line" not in plain.files["m.c"]
        assert {path for path in named.files if named.files[path] != plain.files[path]} == {"m.c"}


@pytest.mark.parametrize("case", CASES)
def test_every_table_has_a_part(case):
    model, numbers = CASES[case]
    for reads in READS[:1] if numbers == FLOAT32 else READS:
        lowered = lower(model, Format(numbers.dtype, reads))
        for table in c_code(lowered, "m").values["tables"]:
            parts = table_parts(lowered.program, table.name, table.size)
            assert sum(parts.values()) == table.size
            assert REST not in parts or table.name == "weights", table.name  # those no prediction reads


def test_rows_belong_to_two_parts():
    lowered = lower(INTEGER["integer_rbf"].model, INTEGER["integer_rbf"].format)
    program = lowered.program
    assert isinstance(program, IntegerProgram)
    # 4 vectors of 3 bytes, each with a norm of 4 bytes and a coefficient of 2
    assert table_parts(program, "rows", 4 * 12) == {"distances": 4 * (3 + 4), "sums": 4 * 12 - 28}
