"""Write exponentials as powers of two, whose integer part costs a device nothing; log2(e) folds into the tables."""

from __future__ import annotations

from dataclasses import replace

from sparsegen.kernels.expression import in_base_two
from sparsegen.model import SparseModel


def use_base_two(model: SparseModel) -> SparseModel:
    """Return the model with every ``exp`` in its kernels written as ``2^``; its scores stay the same."""
    kernels = tuple(replace(kernel, expression=in_base_two(kernel.expression)) for kernel in model.kernels)
    return replace(model, kernels=kernels)
