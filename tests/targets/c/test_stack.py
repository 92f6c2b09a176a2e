"""The stack that a header states holds for every compiler and device, and is not silly."""

from __future__ import annotations

import shutil
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from golden_models import EVERY, INTEGER, model, rbf, rows, wave

from benchmarks.trust.stack import COMPILERS, LEVELS, promised
from sparsegen.devices import DEVICES
from sparsegen.lowering.formats import Format
from sparsegen.model import Calibration
from sparsegen.targets import TARGETS, Export

FLOATS = ("rbf_projected", "rbf_filled", "filled_far", "rbf_buffered", "matern32", "long_rows")
EARLY = ("integer_avr", "integer_laplacian")
MOST_TOO_MUCH = 2.8


@cache
def exports(loops: str) -> dict[str, Export]:
    """One of every kind, and some that once took more: clang's 704 bytes for scores inlined into the self-test."""
    found = {name: TARGETS["c"].export(EVERY[name], name) for name in FLOATS}
    found["inlined"] = TARGETS["c"].export(model([("cauchy", {})], 8, 8, (0, 1, 2)), "inlined")
    for name, kernels in {"simd_rbf": [rbf()], "simd_mixed": [rbf(), ("laplacian", {}), ("matern32", {})]}.items():
        found[name] = TARGETS["c"].export(model(kernels, 40, 20, (0, 1, 2)), name, loops="simd")
    scale = 10.0 ** (np.arange(20) % 5 - 2.0)
    for early_exit in (False, True):  # floats read by a function of its own
        apart = model([rbf(0.05)], 4, 20, (0, 1), projected=2, offset=3.0 / scale, scale=scale)
        wanted = Format("q15", rows=3.0 / scale + wave(30, 20) / scale, early_exit=early_exit)
        found[f"apart{early_exit:d}"] = TARGETS["c"].export(apart, f"apart{early_exit:d}", wanted, loops)
    for d in (96, 144):  # clang 14 unrolled the self-test's copy of such a row for Cortex-M0+: 648 bytes of 540
        wide = model([rbf(0.01)], 4, d, (0, 1))
        found[f"wide{d}"] = TARGETS["c"].export(wide, f"wide{d}", Format("q7", "grid", rows=wave(30, d)), loops)
    for n_classes, kind in ((2, "platt"), (3, "temperature"), (10, "temperature")):
        of = replace(model([rbf()], 4, 6, tuple(range(n_classes))), calibration=Calibration(kind, 2.0))
        for dtype in ("f32", "q7", "q15"):
            name = f"probable{n_classes}{dtype}"
            found[name] = TARGETS["c"].export(
                of, name, Format(dtype, reject=0.5), loops if dtype != "f32" else "portable"
            )
    for name, golden in INTEGER.items():
        wanted = Format(golden.format.dtype, golden.format.input, early_exit=name in EARLY)
        found[name] = TARGETS["c"].export(golden.model, name, wanted, loops)
    return found


@pytest.mark.parametrize("name", COMPILERS)
def test_no_compiler_takes_more_than_the_header_states(name: str) -> None:
    compiler = COMPILERS[name]
    if shutil.which(compiler.command[0]) is None:
        pytest.skip(f"{compiler.command[0]} is not on the PATH")
    made = list(exports(compiler.loops).values())
    for level in LEVELS:
        for export, found in zip(made, compiler.stacks(made, level), strict=True):
            assert not found.exceeds(promised(export, level)), f"{export.name} {level}: {found}"


@pytest.mark.parametrize("name", ["rbf_projected", "matern32", "integer_projected", "integer_powers"])
def test_devices_take_less_than_the_header_states_but_not_much_less(name: str) -> None:
    most = 0
    for device in (DEVICES["cortex-m0plus"], DEVICES["atmega328p"]):
        if reason := device.missing():
            pytest.skip(reason)
        export = exports(device.loops)[name]
        assert export.lowered is not None
        ram = device.measure(export, export.lowered.inputs(rows(export.lowered.model, 4))).ram
        assert ram is not None
        assert ram <= promised(export, "-Os").predict
        most = max(most, ram)
    assert promised(export, "-Os").predict <= MOST_TOO_MUCH * most
