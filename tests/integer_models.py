"""Models that integers must cope with; benchmarks/trust/_together.py runs many of them in one program."""

from __future__ import annotations

from typing import Any

import numpy as np
from golden_models import model, rbf, wave
from hypothesis import strategies as st

from benchmarks.trust._together import IntegerCase, make_integer_case
from sparsegen.kernels import KERNELS
from sparsegen.lowering import formats, integer_road
from sparsegen.lowering.calibrate import calibrate
from sparsegen.lowering.collapse_linear import collapse_linear
from sparsegen.lowering.curves import HalfPower
from sparsegen.lowering.formats import FORMATS, INPUT_KINDS, Format, IntegerFormat
from sparsegen.lowering.integer_program import IntegerProgram
from sparsegen.lowering.prune import prune
from sparsegen.lowering.quantize import quantize
from sparsegen.model import SparseModel
from sparsegen.targets import TARGETS, Export

INTEGERS = ("q7", "q15")
"""One for each width of the grid."""
INTEGER_FORMATS = tuple(numbers.name for numbers in formats.INTEGERS)
INTEGER_KERNELS = [name for name, kernel in KERNELS.items() if kernel.bind().falls or kernel.bind().is_linear]
"""Those that have an integer form."""
READS = ("f32", "raw-int16", "raw-uint8", "grid")
TAILS = (1, 2, 3, 5, 7, 8, 9, 16, 17, 31, 33, 71)
"""Feature counts around the steps of every unrolled loop."""


@st.composite
def integer_cases(draw: st.DrawFn, /, **fixed: Any) -> IntegerCase:
    name = draw(st.sampled_from(["rbf", *INTEGER_KERNELS]))
    octaves = [(0,), (0, 1), (2, 0, 5), (0, 30)]
    drawn = {
        "octaves": (0,) if name == "linear" else draw(st.sampled_from(octaves)),
        "m": draw(st.sampled_from([1, 2, 5, 9])),
        "d": draw(st.integers(1, 40)),
        "n_classes": draw(st.sampled_from([2, 2, 3, 4])),
        "projected": draw(st.booleans()),
        "size": draw(st.sampled_from([1.0, 1.0, 1e-12, 1e12])),
        "far": draw(st.sampled_from([1.0, 1.0, 100.0])),
        "centre": draw(st.sampled_from([0.0, 1.0, 1e4])),
        "constant": draw(st.booleans()),
        "raw": draw(st.booleans()),
    }
    return make_integer_case(draw(st.integers(0, 2**32 - 1)), name, **{**drawn, **fixed})


def integer_format(dtype: str) -> IntegerFormat:
    numbers = FORMATS[dtype]
    assert isinstance(numbers, IntegerFormat)
    return numbers


def half_powers(program: IntegerProgram) -> list[HalfPower]:
    """Return the curves of a program, all of Gaussian or Laplacian kernels."""
    curves = [curve for curve in program.curves if isinstance(curve, HalfPower)]
    assert len(curves) == len(program.curves)
    return curves


def integer_export_of(of: SparseModel, name: str, dtype: str, reads: str, rows=None, loops="portable") -> Export:
    return TARGETS["c"].export(of, name, Format(dtype, reads, rows=rows), loops)


SIXTEEN = model([rbf(0.05)], 16, 16, (0, 1))
"""The model of the figures: 16 vectors, 16 features, two classes."""


def tail_model(d: int, *, pixels: bool) -> SparseModel:
    """Return a small model of d features; ``pixels`` are whole numbers up to 255."""
    offset, scale = (np.full(d, 128.0), np.full(d, 1 / 64.0)) if pixels else (wave(d), None)
    kinds = [[rbf(0.7 / d)], [rbf(0.1 / d), rbf(0.4 / d)], [("laplacian", {"gamma": 0.5 / d})]]
    return model(kinds[d % 3] if d % 2 == 0 else kinds[0], 3, d, (0, 1, 2) if d == 9 else (0, 1),
                 offset=offset, scale=scale)  # fmt: skip


def quantized(of: SparseModel, dtype: str, reads: str, rows=None, *, finished=True) -> IntegerProgram:
    """Return the integer program of a model; one that is not finished keeps its rounded coefficients."""
    data = calibrate(of, rows)
    if finished:
        return integer_road(of, Format(dtype, reads), data)
    return quantize(collapse_linear(prune(of)), integer_format(dtype), INPUT_KINDS[reads], data)
