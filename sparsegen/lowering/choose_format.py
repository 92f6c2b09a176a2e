"""Number formats: what ``--dtype`` and ``--input`` mean, and which format a model needs."""

from __future__ import annotations

from sparsegen.errors import OptionError, nearest
from sparsegen.lowering.agreement import Agreement, agreement
from sparsegen.lowering.formats import Format
from sparsegen.lowering.quantize import DTYPES, INPUTS, quantize
from sparsegen.model import SparseModel

SMALLEST_FIRST = ("q7", "q15")


def make_formats(dtypes: str, reads: str, *, early_exit: bool = False) -> list[Format]:
    """Return the formats that comma-separated dtypes name."""
    names = list(dict.fromkeys(name.strip() for name in dtypes.split(",") if name.strip()))
    if not names:
        raise OptionError(f"--dtype names no number format; choose from: {', '.join(DTYPES)}")
    for name in names:
        if name not in DTYPES:
            raise OptionError(f"--dtype {name!r} is unknown{nearest(name, DTYPES)}; choose from: {', '.join(DTYPES)}")
    if reads not in INPUTS:
        raise OptionError(f"--input {reads!r} is unknown{nearest(reads, INPUTS)}; choose from: {', '.join(INPUTS)}")
    if "f32" in names and (reads != "f32" or early_exit):
        raise OptionError("float32 exports read f32 and never stop early; choose --dtype q15 or q7 for that")
    return [Format(name, reads, early_exit=early_exit) for name in names]


def choose_dtype(model: SparseModel, numbers: Format, max_loss: float) -> tuple[str, list[Agreement]]:
    """Return the smallest format that loses at most ``max_loss`` points of accuracy, and how the ones tried did."""
    tried: list[Agreement] = []
    for dtype in SMALLEST_FIRST:
        try:
            program = quantize(model, dtype, numbers.input, numbers.rows)
        except OptionError:
            if numbers.input != "f32":
                raise
            return "f32", tried  # a kernel that integers do not have
        tried.append(agreement(program, model, numbers.rows, numbers.labels))
        if tried[-1].loss <= max_loss:
            return dtype, tried
    if numbers.input != "f32":
        raise OptionError(
            f"no integer format loses at most {max_loss:g} points ({tried[-1].dtype}: {tried[-1]}); "
            "allow more with --max-loss, or leave --input out"
        )
    return "f32", tried
