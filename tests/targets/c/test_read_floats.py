"""Floats in C: every pattern of bits is read as the simulator reads it, everywhere, and quickly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from golden_models import SMALL, model, rbf
from narrowing import known

from benchmarks.trust._together import integer_program
from sparsegen.devices import DEVICES
from sparsegen.lowering.formats import Format
from sparsegen.lowering.read_floats import FloatReader
from sparsegen.model import Transform
from sparsegen.targets import TARGETS, Export

ROWS = {
    "around 0": ("q7", [-1.0, 1.0]),
    "not negative": ("q7", [0.0, 16.0]),
    "far away": ("q7", [990.0, 1010.0]),
    "16 bits": ("q15", [-1.0, 1.0]),
    "16 bits, far away": ("q15", [-1010.0, -990.0]),
}


def export_of(dtype: str, ends: list[float], loops: str) -> Export:
    """Return a program that adds the index of one float, of two scales, with weights that tell them apart."""
    of = replace(model([("linear", {})], 1, 2, (0, 1)), transform=Transform(np.zeros(2), np.array([1.0, 0.01])))
    of = replace(of, vectors=np.array([[1.0, 1.0]]), coef=np.ones((1, 1, 1)))
    rows = np.array(ends)[:, None] * np.array([1.0, 100.0])
    return TARGETS["c"].export(of, "m", Format(dtype, rows=rows), loops)


def hostile(export: Export) -> np.ndarray:
    """Return rows of random bits, of what is special, and from both sides of every border between indices."""
    program, rng = integer_program(export), np.random.default_rng(0)
    levels, n = program.reader.levels, 300
    random = rng.integers(0, 2**32, (n, 2), dtype=np.uint32).view(np.float32)
    powers = (np.arange(0, 256, dtype=np.uint32) << 23 | rng.integers(0, 2**23, 256, dtype=np.uint32)).view(np.float32)
    powers = np.concatenate([powers, -powers])[:, None] * np.ones(2, dtype=np.float32)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 1e-45, -1e-45, 3.4e38, -3.4e38], dtype=np.float32)
    indices = rng.permutation(np.linspace(-1, levels + 2, n).round())[:, None] - 0.5
    borders = (program.low + indices * program.step).astype(np.float32)
    near = [np.nextafter(borders, np.float32(to)) for to in (-np.inf, np.inf)]
    return np.vstack([random, powers, rng.choice(special, (100, 2)), borders, *near])


@pytest.mark.parametrize("device", ["host", "cortex-m0plus", "cortex-m4f", "rv32imc", "atmega328p"])
def test_every_pattern_is_read_as_simulated(device):
    on = DEVICES[device]
    if reason := on.missing():
        pytest.skip(reason)
    for what, (dtype, ends) in ROWS.items():
        export = export_of(dtype, ends, on.loops)
        reader = integer_program(export).reader
        assert isinstance(reader, FloatReader)
        assert reader.is_wide == (what not in ("around 0", "not negative"))
        inputs = hostile(export)
        assert np.array_equal(on.run(export, inputs).scores, integer_program(export).scores(inputs)), what


@pytest.mark.parametrize("device", ["host", "cortex-m4f", "atmega328p"])
@pytest.mark.parametrize("scale", [1.0, 1e-3])
def test_loops_of_a_device_read_as_simulated_too(device, scale):
    """A narrow kernel around 2 points, whose score changes with every index near them."""
    on = DEVICES[device]
    if reason := on.missing():
        pytest.skip(reason)
    of = replace(model([rbf(1.0)], 2, 2, (0, 1)), transform=Transform(np.array([3.0, 0.0]), np.array([1.0, scale])))
    rows = of.transform.offset + np.random.default_rng(0).uniform(-1.0, 1.0, (50, 2)) / of.transform.scale
    export = TARGETS["c"].export(of, "m", Format("q15", rows=rows), on.loops)
    program = integer_program(export)
    assert isinstance(program.reader, FloatReader)
    assert program.reader.is_wide
    inputs = np.vstack([hostile(export), program.inputs(rows)])
    assert np.array_equal(on.run(export, inputs).scores, program.scores(inputs))
    assert len(np.unique(program.scores(inputs))) > 300


@pytest.mark.parametrize(
    ("device", "dtype", "most"),
    [
        ("cortex-m0plus", "q7", 40),
        ("cortex-m3", "q7", 34),
        ("atmega328p", "q7", 200),
        ("cortex-m0plus", "q15", 56),
        ("atmega328p", "q15", 250),
    ],
)
def test_a_feature_costs_little_to_read(device, dtype, most):
    """Beside a program that is given indices; every feature has its own scale, as after a standard scaler."""
    on = DEVICES[device]
    if reason := on.missing():
        pytest.skip(reason)
    d = 24
    rng = np.random.default_rng(0)
    of = model([rbf(0.5 / d)], 4, d, (0, 1), scale=10.0 ** rng.uniform(-2, 2, d))
    rows = rng.normal(size=(20, d)) / of.transform.scale
    costs = []
    for reads in ("f32", "grid"):
        export = TARGETS["c"].export(of, "m", Format(dtype, reads, rows=rows), on.loops)
        measured = on.measure(export, known(export.lowered).inputs(rows))
        costs.append(known(measured.instructions if measured.cycles is None else measured.cycles))
    assert costs[0] - costs[1] <= most * d


def test_what_all_features_share_is_no_table():
    of = SMALL["linear"]
    ends = np.vstack([-np.ones(4), np.ones(4)])
    shared = TARGETS["c"].export(replace(of, transform=Transform.identity(4)), "m", Format("q7", rows=ends))
    own = TARGETS["c"].export(
        replace(of, transform=Transform.identity(4)), "m", Format("q7", rows=ends * [1, 2, 3, 40])
    )
    for name in ("exponent", "start", "multiplier"):
        assert f"m_{name}[" not in shared.files["m.c"].decode()
        assert f"m_{name}[4]" in own.files["m.c"].decode()
    assert own.table_bytes - shared.table_bytes == 4 * (1 + 2 + 2)
    whole = TARGETS["c"].export(
        replace(of, transform=Transform.identity(4)), "m", Format("q7", "raw-int16", rows=ends * 999)
    )
    for name in ("shift", "bias", "multiplier"):
        assert f"m_{name}[" not in whole.files["m.c"].decode()
