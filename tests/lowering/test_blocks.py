"""Rows are scored in blocks, so that memory does not grow with their number."""

from __future__ import annotations

import numpy as np
import pytest
from integer_models import quantized

from benchmarks.trust._together import make_integer_case
from sparsegen.lowering import integer_program
from sparsegen.lowering.integer_program import IntegerProgram


@pytest.mark.parametrize(("name", "entries"), [("laplacian", 6 * 5), ("rbf", 2 * 6)])
@pytest.mark.parametrize("most", [1, 40, 70, 10**6])
def test_a_block_holds_no_more_entries_than_it_may(name, entries, most, monkeypatch):
    """Of differences for absolute distances, of kernel values otherwise; but one row at least."""
    case = make_integer_case(6, name, octaves=(0, 1) if name == "rbf" else (0,))
    program = quantized(case.model, "q7", "f32", case.rows)
    inputs = program.inputs(case.rows)
    whole, blocks, compute = program.scores(inputs), [], IntegerProgram.kernel_values

    def counted(self, q):
        blocks.append(len(q))
        return compute(self, q)

    monkeypatch.setattr(IntegerProgram, "kernel_values", counted)
    monkeypatch.setattr(integer_program, "BLOCK_ENTRIES", most)
    assert np.array_equal(program.scores(inputs), whole)
    each = max(1, most // entries)
    assert blocks == [min(each, len(inputs) - first) for first in range(0, len(inputs), each)]
