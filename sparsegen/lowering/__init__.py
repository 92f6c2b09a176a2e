"""Lowering: passes that turn a SparseModel into a Program, the form that export targets print.

Each pass is one file and one verb. They run in the order of :func:`lower`.
"""

from __future__ import annotations

from sparsegen.lowering.collapse_linear import collapse_linear
from sparsegen.lowering.fold_preprocessing import fold_preprocessing
from sparsegen.lowering.locate_data import data_like
from sparsegen.lowering.program import Program
from sparsegen.lowering.prune import prune
from sparsegen.lowering.square_up import square_up
from sparsegen.lowering.use_base_two import use_base_two
from sparsegen.model import SparseModel


def lower(model: SparseModel, *, base_two: bool = False) -> Program:
    """Return the program that computes what ``model`` computes, with all that can be precomputed folded in.

    ``base_two`` writes exponentials as powers of two, and as squares of each other, for targets that bring their own.
    """
    rows = data_like(model)  # before vectors are collapsed into weights, which do not lie where the data lies
    model = collapse_linear(prune(model))
    if not base_two:
        return fold_preprocessing(model, rows)
    return square_up(fold_preprocessing(use_base_two(model), rows), rows)
