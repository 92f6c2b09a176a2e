"""The C of a detector in integers: a row out of range may look normal to predict, and in_range catches it."""

from __future__ import annotations

import numpy as np
import pytest
from c_programs import in_range_of, run_c
from golden_models import BALL

from sparsegen.lowering import lower
from sparsegen.lowering.formats import Format
from sparsegen.lowering.integer_program import IntegerProgram
from sparsegen.targets import TARGETS

INSIDE = [[100.0, 100.0], [190.0, 100.0], [100.0, 20.0]]
BEYOND = [[30_000.0, 100.0], [100.0, -20_000.0], [30_000.0, 100.0]]
"""A broken sensor: one feature as no row of training had it, the other as usual."""


@pytest.mark.parametrize("reads", ["f32", "raw-int16"])
def test_in_range_catches_what_predict_calls_normal(reads, tmp_path):
    lowered, X = lower(BALL, Format("q7", reads)), np.array([*INSIDE, *BEYOND])
    assert BALL.predict(X).tolist() == ["normal"] * 3 + ["anomaly"] * 3  # the real-valued model sees them
    export, rows = TARGETS["c"].write(lowered, "m"), lowered.inputs(X)
    found = in_range_of(export, tmp_path, rows)  # which also writes the files
    constants = ", ".join(f"{value:.1f}f" if reads == "f32" else str(value) for value in rows.ravel().tolist())
    main = f"""
#include "m.c"
#include <stdio.h>
int main(void)
{{
    static const m_input_t x[] = {{{constants}}};
    int i;

    for (i = 0; i < {len(X)}; ++i) {{ printf("%s\\n", m_label(m_predict(x + i * M_FEATURES))); }}
    return 0;
}}
"""
    called = run_c(main, tmp_path).decode().split()
    assert called == ["normal"] * 6  # to predict a value beyond the grid is its nearest end
    assert found.tolist() == [1, 1, 1, 0, 0, 0]
    assert "ask m_in_range first, and treat the others as anomalies" in export.files["m.h"].decode()


def test_a_grid_has_no_index_for_what_is_beyond_it():
    lowered = lower(BALL, Format("q7", "grid"))
    assert isinstance(lowered.program, IntegerProgram)
    assert not lowered.program.covers(np.array(BEYOND)).any()
    header = TARGETS["c"].write(lowered, "m").files["m.h"].decode()
    assert "has no index: treat it as an anomaly before you compute one" in header
