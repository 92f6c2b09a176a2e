"""AVR assembly at every level: inlined by -O1, -O2 or -O3, it left avr-gcc without a pointer register."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from golden_models import rows
from integer_models import INTEGERS, SIXTEEN, integer_export_of, tail_model
from pooled_models import POOLED

from benchmarks.trust._together import make_integer_case, shared_inputs, simulated, together
from sparsegen.devices import DEVICES, _avr_program


@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2", "-O3", "-Os"])
def test_every_level_gives_the_same(level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    device = DEVICES["atmega328p"]
    if reason := device.missing():
        pytest.skip(reason)
    monkeypatch.setattr(_avr_program, "OPTIMISE", level)
    models = [tail_model(1, pixels=False), tail_model(9, pixels=False), SIXTEEN]
    wanted = [(of, dtype) for of in models for dtype in INTEGERS]
    exports = [integer_export_of(of, f"m{i}", dtype, "f32", rows(of), "avr") for i, (of, dtype) in enumerate(wanted)]
    assert all(b"_ASM" in export.files[f"{export.name}.c"] for export in exports)
    cases = [make_integer_case(1, d=21, projected=True, raw=True), POOLED["ragged"]]
    projected = [
        integer_export_of(case.model, f"p{i}_{dtype}", dtype, "raw-uint8", case.rows, "avr")
        for (i, case), dtype in itertools.product(enumerate(cases), INTEGERS)
    ]
    for some in (exports, projected):  # 32 KB do not hold all of them at -O0
        inputs = shared_inputs(some)[:20]
        out = device.run(together(some), inputs)
        np.testing.assert_array_equal(out.scores, simulated(some, inputs))
        assert not out.labels.any()
