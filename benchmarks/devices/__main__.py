"""Cycles (AVR) or instructions of one prediction on every device: our float32, q15 and q7 beside hand-written C.

The model is 16 vectors of 16 features, two classes, Gaussian kernel, random. Integer code, ours and by hand, reads
indices of the grid (``--input grid``); ``raw-int16`` and ``f32`` show what reading raw counts and floats adds. Every
other kernel that falls with its distance follows with the same vectors. Every row's score is first compared with the
simulator: a figure is printed for code that is right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import _report
from sparsegen.arrays import Array
from sparsegen.devices import DEVICES, Device, Measurement
from sparsegen.kernels import KERNELS
from sparsegen.lowering.curves import HalfPower, half_power_table
from sparsegen.lowering.formats import FLOAT32, Format
from sparsegen.lowering.integer_program import IntegerProgram
from sparsegen.model import SparseModel, Transform
from sparsegen.targets import TARGETS, Export
from sparsegen.targets.c.code import c_type
from sparsegen.targets.render import c_array, c_real

FAMILIES = ("atmega328p", "cortex-m0plus", "cortex-m3", "cortex-m4f", "cortex-m7", "cortex-m33", "rv32imc")
N_VECTORS, N_FEATURES, ROWS = 16, 16, 64
GAUSSIAN = "rbf"
REACH = {  # the most that one prediction may cost, from the project's goals
    ("atmega328p", "q7"): 6200,
    ("atmega328p", "q15"): 12500,
    ("cortex-m0plus", "q7"): 2500,
    ("cortex-m0plus", "q15"): 2500,
    ("cortex-m3", "q7"): 2000,
    ("cortex-m3", "q15"): 2000,
    ("cortex-m4f", "f32"): 1400,
    ("cortex-m4f", "q7"): 800,
    ("cortex-m4f", "q15"): 800,
}


@dataclass(frozen=True)
class Figure:
    """One export on one device."""

    device: str
    kernel: str
    code: str
    dtype: str
    reads: str
    cost: float
    unit: str
    flash: int | None
    ram: int | None
    wrong_rows: int
    reach: int | None


def main(arguments: Sequence[str]) -> str:
    """Return the table, or JSON."""
    options = _report.parser(__doc__ or "")
    options.add_argument("--device", nargs="+", choices=FAMILIES, default=list(FAMILIES))
    chosen = options.parse_args(arguments)
    model, X = make_model(chosen.seed)
    names = [name for name in chosen.device if DEVICES[name].missing() is None]
    figures = []
    for name in _report.track(names, "devices", len(names)):
        figures += figures_of(DEVICES[name], model, X)
        for kernel in other_kernels():
            figures += kernel_figures(DEVICES[name], *make_model(chosen.seed, kernel))
    if chosen.json:
        return _report.as_json([vars(figure) for figure in figures])
    skipped = [f"{name}: {DEVICES[name].missing()}" for name in chosen.device if name not in names]
    return "\n\n".join([_table(figures), *skipped])


def other_kernels() -> list[str]:
    """Return the kernels that fall with their distance, but for the Gaussian."""
    return [name for name, kernel in KERNELS.items() if kernel.bind().falls and name != GAUSSIAN]


def make_model(seed: int, kernel: str = GAUSSIAN) -> tuple[SparseModel, Array]:
    """Return the model that is measured, and rows for it."""
    scale = KERNELS[kernel].scale_parameter
    rng = np.random.default_rng(seed)
    model = SparseModel(
        vectors=rng.normal(size=(N_VECTORS, N_FEATURES)),
        coef=rng.normal(size=(1, 1, N_VECTORS)),
        intercept=np.array([0.1]),
        kernels=(KERNELS[kernel].bind(**({} if scale is None else {scale: 1.0 / 32.0})),),
        transform=Transform.identity(N_FEATURES),
        classes=(0, 1),
    )
    return model, rng.normal(size=(ROWS, N_FEATURES))


def figures_of(device: Device, model: SparseModel, X: Array) -> list[Figure]:
    """Return every figure of one device."""
    figures = [_figure(device, "sparsegen", TARGETS["c"].export(model, "model"), X)]
    figures.append(_figure(device, "by hand", float_reference(model), X))
    for dtype in ("q15", "q7"):
        for reads in ("grid", "raw-int16", "f32"):
            export = TARGETS["c"].export(model, "model", Format(dtype, reads, rows=X), device.loops)
            figures.append(_figure(device, "sparsegen", export, X))
        plain = TARGETS["c"].export(model, "model", Format(dtype, "grid", rows=X))
        figures.append(_figure(device, "by hand", integer_reference(plain), X))
    return figures


def kernel_figures(device: Device, model: SparseModel, X: Array) -> list[Figure]:
    """Return what a kernel costs in every number format."""
    formats = [FLOAT32, *(Format(dtype, "grid", rows=X) for dtype in ("q15", "q7"))]
    exports = [TARGETS["c"].export(model, "model", numbers, device.loops) for numbers in formats]
    return [_figure(device, "sparsegen", export, X) for export in exports]


def _figure(device: Device, code: str, export: Export, X: Array) -> Figure:
    lowered = export.lowered
    assert lowered is not None
    inputs, expected = lowered.inputs(X), lowered.reference(X)
    out = device.run(export, inputs)
    wrong = np.any(out.scores != expected.scores, axis=1) if expected.is_exact else out.labels != expected.labels
    measured = device.measure(export, inputs)
    cost, unit = _cost(measured)
    dtype, reads = lowered.format.dtype, lowered.format.input
    reads_raw = isinstance(lowered.program, IntegerProgram) and reads != "grid"
    is_goal = code == "sparsegen" and not reads_raw and lowered.model.kernels[0].is_gaussian
    reach = REACH.get((device.name, dtype)) if is_goal else None
    kernel, wrong_rows = lowered.model.kernels[0].name, int(np.count_nonzero(wrong))
    return Figure(device.name, kernel, code, dtype, reads, cost, unit, measured.flash, measured.ram, wrong_rows, reach)


def _cost(measured: Measurement) -> tuple[float, str]:
    if measured.cycles is not None:
        return measured.cycles, "cycles"
    return float(measured.instructions or np.nan), "instructions"


def float_reference(model: SparseModel) -> Export:
    """Return the hand-written float code around a model."""
    vectors = model.transform.offset + model.vectors / model.transform.scale
    lines = [
        "#define REFERENCE_FLOAT",
        "#define REFERENCE_INDEX float",
        "#define REFERENCE_SCORE float",
        f"static const float reference_gamma = {c_real(dict(model.kernels[0].params)['gamma'])};",
        f"static const float reference_intercept = {c_real(float(model.intercept[0]))};",
        f"static const REFERENCE_ROM float reference_coef[REFERENCE_VECTORS] = {c_array(model.coef.ravel())};",
        _vectors("float", vectors),
    ]
    return _reference(lines, TARGETS["c"].export(model, "reference"))


def integer_reference(export: Export) -> Export:
    """Return the hand-written integer code around the numbers of an export."""
    program = export.program
    assert isinstance(program, IntegerProgram)
    (curve,) = program.curves
    assert isinstance(curve, HalfPower)
    size, index = program.numbers.index_dtype.itemsize, c_type(program.numbers.index_dtype)
    norms = (program.vectors**2).sum(axis=1)
    lines = [
        f"#define REFERENCE_INDEX {index}",
        f"#define REFERENCE_PRODUCT {'uint16_t' if size == 1 else 'uint32_t'}",
        "#define REFERENCE_SCORE int32_t",
        f"#define REFERENCE_OCTAVE {curve.octave}",
        f"static const int32_t reference_intercept = {int(program.intercept[0])};",
        f"static const REFERENCE_ROM int16_t reference_coef[REFERENCE_VECTORS] = {c_array(program.coef.ravel())};",
        f"static const REFERENCE_ROM uint16_t reference_powers[17] = {c_array(half_power_table(curve.octave))};",
        f"static const REFERENCE_ROM uint32_t reference_norms[REFERENCE_VECTORS] = {c_array(norms)};",
        _vectors(index, program.vectors),
    ]
    return _reference(lines, export)


def _vectors(kind: str, vectors: NDArray[Any]) -> str:
    rows = ",\n".join(c_array(vector) for vector in vectors)
    return f"static const REFERENCE_ROM {kind} reference_vectors[REFERENCE_VECTORS][REFERENCE_FEATURES] = {{\n{rows}}};"


def _reference(lines: Sequence[str], like: Export) -> Export:
    head = [
        "#include <stdint.h>",
        "#if defined(__FLASH)",
        "#define REFERENCE_ROM __flash",
        "#else",
        "#define REFERENCE_ROM",
        "#endif",
        f"#define REFERENCE_VECTORS {N_VECTORS}",
        f"#define REFERENCE_FEATURES {N_FEATURES}",
    ]
    ends = [
        "void reference_scores(const REFERENCE_INDEX *x, REFERENCE_SCORE *scores);",
        "int reference_predict(const REFERENCE_INDEX *x);",
        "",
    ]
    types = [line for line in lines if line.startswith("#define")]
    values = [line for line in lines if not line.startswith("#define")]
    header = "\n".join(["#ifndef REFERENCE_H", "#define REFERENCE_H", *head, *types, *ends, "#endif", ""])
    source = (Path(__file__).parent / "reference.c").read_text()
    source = source.replace('#include "reference.h"\n', '#include "reference.h"\n\n' + "\n".join(values) + "\n")
    files = {"reference.h": header.encode(), "reference.c": source.encode()}
    return replace(like, name="reference", files=files, sources=("reference.c",))


def _table(figures: Sequence[Figure]) -> str:
    header = ["device", "kernel", "code", "format", "input", "cost", "to reach", "flash", "RAM", "rows wrong"]
    rows = [
        [
            f.device, f.kernel, f.code, f.dtype, f.reads, f"{f.cost:,.0f} {f.unit}",
            "" if f.reach is None else f"{f.reach:,}", f"{f.flash:,}", f"{f.ram:,}", str(f.wrong_rows),
        ]
        for f in figures
    ]  # fmt: skip
    return _report.markdown(header, rows)


if __name__ == "__main__":
    raise SystemExit(_report.run(main))
