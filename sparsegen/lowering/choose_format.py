"""The smallest number format that a model can do with."""

from __future__ import annotations

from sparsegen.errors import OptionError
from sparsegen.lowering.agreement import Agreement, agreement
from sparsegen.lowering.formats import Format
from sparsegen.lowering.quantize import quantize
from sparsegen.model import SparseModel

SMALLEST_FIRST = ("q7", "q15")


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
            "allow a larger loss, or let the export read float32",
            change={"max_loss": "", "input": "f32"},
        )
    return "f32", tried
