"""The float32 simulator: bit for bit what a compiler without fused products makes of the C."""

from __future__ import annotations

import numpy as np
import pytest
from golden_models import EVERY, rows

from sparsegen.devices.host import Host
from sparsegen.kernels.expression import Exp2, Sqrt, nodes
from sparsegen.lowering.program import Program
from sparsegen.lowering.simulate import float32_scores
from sparsegen.targets import TARGETS

HOST = Host(None, ("-std=c99", "-O2", "-ffp-contract=off"))


def has_function(program: Program) -> bool:
    """Return whether a kernel calls a function of the C, whose last bit may differ from NumPy's."""
    outers = [outer for part in program.parts for outer in part.outers]
    return any(isinstance(node, Exp2 | Sqrt) for outer in outers for node in nodes(outer))


@pytest.mark.parametrize("name", EVERY)
def test_scores_are_those_of_the_device(name):
    if HOST.missing() is not None:
        pytest.skip(str(HOST.missing()))
    export = TARGETS["c"].export(EVERY[name], "m")
    program = export.program
    assert isinstance(program, Program)
    X = rows(EVERY[name])
    device, simulated = HOST.run(export, X.astype(np.float32)).scores, float32_scores(program, X)
    if has_function(program):
        assert np.allclose(simulated, device, rtol=1e-5, atol=1e-5 * np.abs(device).max())
    else:
        assert np.array_equal(simulated, device)


def test_an_overflow_is_no_warning():
    program = TARGETS["c"].export(EVERY["poly"], "m").program
    assert isinstance(program, Program)
    assert not np.isfinite(float32_scores(program, np.full((1, program.n_features), 3e38))).all()
