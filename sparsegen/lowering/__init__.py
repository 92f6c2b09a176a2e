"""Lowering: passes that turn a SparseModel into the program that a device runs and a target prints.

Each pass is one file and one verb. :func:`float_road` and :func:`integer_road` are the two lists of them.
"""

from __future__ import annotations

from dataclasses import replace

from sparsegen.errors import ModelError, SparsegenError
from sparsegen.lowering.agreement import agreement
from sparsegen.lowering.calibrate import Calibrated, calibrate
from sparsegen.lowering.check_magnitudes import check_magnitudes
from sparsegen.lowering.collapse_linear import collapse_linear
from sparsegen.lowering.coverage import coverage
from sparsegen.lowering.finish import finish
from sparsegen.lowering.fold_preprocessing import fold_preprocessing
from sparsegen.lowering.formats import FLOAT32, Format, IntegerFormat
from sparsegen.lowering.guarantee import guarantee
from sparsegen.lowering.integer_program import IntegerProgram
from sparsegen.lowering.leads import leads
from sparsegen.lowering.locate_data import data_like
from sparsegen.lowering.lowered import Lowered
from sparsegen.lowering.narrow_coefficients import narrow_coefficients
from sparsegen.lowering.order_for_early_exit import order_for_early_exit
from sparsegen.lowering.probabilities import float_probabilities, integer_probabilities
from sparsegen.lowering.program import Program
from sparsegen.lowering.prune import prune
from sparsegen.lowering.quantize import quantize
from sparsegen.lowering.selftest import float_selftest, integer_selftest
from sparsegen.lowering.square_up import square_up
from sparsegen.lowering.use_base_two import use_base_two
from sparsegen.lowering.value_agreement import value_agreement
from sparsegen.model import SparseModel
from sparsegen.model.decision import DECISIONS
from sparsegen.threads import one_thread


def lower(model: SparseModel, format: Format = FLOAT32, *, base_two: bool = True) -> Lowered:
    """Return the program that computes what ``model`` computes, in a number format.

    ``base_two`` writes the exponentials of a float program as powers of two, and as squares of each other, for targets
    that supply their own ``exp2``.
    """
    try:
        with one_thread():
            return _lower(model, format, base_two)
    except (ArithmeticError, ValueError) as error:  # NumPy's and Python's words for numbers that grew out of range
        if isinstance(error, SparsegenError):
            raise
        raise ModelError(
            f"the model's numbers are too large or too small for {format.dtype} ({str(error).rstrip('.')[:80]}); scale "
            "the features and train again"
        ) from error


def _lower(model: SparseModel, format: Format, base_two: bool) -> Lowered:
    if not isinstance(format.numbers, IntegerFormat):
        real = float_road(model, base_two=base_two)
        selftest = float_selftest(real, model)
        return Lowered(model, format, real, selftest, probabilities=float_probabilities(model, format))
    if not DECISIONS[model.decision].may_stop_early:
        format = replace(format, early_exit=False)
    check_magnitudes(model)
    data = calibrate(model, format.rows)
    program = integer_road(model, format, data)
    agree = agreement if model.has_classes else value_agreement
    proof = guarantee(program, model)
    return Lowered(
        model,
        format,
        program,
        integer_selftest(program, model),
        proof,
        coverage(program, data),
        agree(program, model, data.rows, format.labels, calibrated=data.has_data),
        leads(program, model, data.rows, proof.margin, calibrated=data.has_data) if model.has_classes else None,
        integer_probabilities(program, model, proof, format),
    )


def float_road(model: SparseModel, *, base_two: bool = False) -> Program:
    """Return the float program of a model, with everything that can be precomputed folded in."""
    rows = data_like(model)  # before vectors are collapsed into weights, which do not lie where the data lies
    model = prune(model)
    model = collapse_linear(model)
    if not base_two:
        return fold_preprocessing(model, rows)
    model = use_base_two(model)
    program = fold_preprocessing(model, rows)
    return square_up(program, rows)


def integer_road(model: SparseModel, format: Format, data: Calibrated) -> IntegerProgram:
    """Return the integer program of a model, with every scale chosen on data and so that nothing can overflow."""
    if not isinstance(format.numbers, IntegerFormat):
        raise TypeError(f"{format.dtype} is not an integer format")
    model = prune(model)
    model = collapse_linear(model)
    program = quantize(model, format.numbers, format.reads, data)
    program = finish(program, model, data.rows)
    program = narrow_coefficients(program, data.rows)
    return order_for_early_exit(program) if format.early_exit else program
