"""Float forms: the ways in which a model can be written in float32, and which of them training may end with.

A lowering takes the cheapest way whose rounding error is small. The error grows with the coefficients, which an
untrained model has only roughly: within some factor, every way that would be taken is a likely one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sparsegen.lowering.collapse_linear import collapse_linear
from sparsegen.lowering.fold_preprocessing import MAX_ERROR, ways
from sparsegen.lowering.locate_data import data_like
from sparsegen.lowering.program import Program
from sparsegen.lowering.prune import prune
from sparsegen.lowering.rounding import rounding_error
from sparsegen.lowering.square_up import square_up
from sparsegen.lowering.use_base_two import use_base_two
from sparsegen.model import SparseModel

FACTORS = (1.0, 2.0, 0.5, 4.0, 0.25, 8.0, 0.125, 16.0, 0.0625)
"""By which the errors of a trained model may differ from an untrained one's, the likeliest first."""


@dataclass(frozen=True)
class FloatForm:
    """One way to write a model."""

    program: Program
    error: float


def float_forms(model: SparseModel) -> list[FloatForm]:
    """Return every way to write a model, in the order in which the lowering tries them."""
    rows = data_like(model)
    ready = use_base_two(collapse_linear(prune(model)))
    with np.errstate(all="ignore"):  # a program that overflows has no finite error
        return [FloatForm(square_up(program, rows), rounding_error(program, rows)) for program in ways(ready, rows)]


def likely_forms(errors: Sequence[float]) -> tuple[int, ...]:
    """Return which forms may be taken, first the one that errors like these lead to."""
    return tuple(dict.fromkeys(_taken([error * factor for error in errors]) for factor in FACTORS))


def _taken(errors: Sequence[float]) -> int:
    """Return the form that the lowering takes."""
    return next((i for i, error in enumerate(errors) if error <= MAX_ERROR), int(np.argmin(errors)))
