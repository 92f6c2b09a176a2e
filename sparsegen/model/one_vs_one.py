"""LIBSVM's machines as models: two classes, or one machine per pair of classes on a shared table of vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen.arrays import Array
from sparsegen.errors import ModelError
from sparsegen.kernels import KERNELS, BoundKernel
from sparsegen.model.decision import LARGEST, VOTES, pairs
from sparsegen.model.sparse_model import Label, SparseModel
from sparsegen.model.transform import Transform


def pair_coefficients(dual_coef: Array, n_support: NDArray[np.integer[Any]]) -> Array:
    """Return a row of coefficients per pair of classes from LIBSVM's, (n_classes - 1, n_vectors).

    LIBSVM sorts its vectors by class. A vector of class i has a coefficient for each other class j: in row j - 1 where
    i < j, in row j otherwise.
    """
    ends = np.cumsum(n_support)
    of_class = [slice(end - n, end) for end, n in zip(ends.tolist(), n_support.tolist(), strict=True)]
    n_pairs = len(n_support) * (len(n_support) - 1) // 2
    coef = np.zeros((n_pairs, dual_coef.shape[1]))
    for pair, (i, j) in enumerate(zip(*pairs(n_pairs), strict=True)):
        coef[pair, of_class[i]] = dual_coef[j - 1, of_class[i]]
        coef[pair, of_class[j]] = dual_coef[i, of_class[j]]
    return coef


def libsvm_model(
    vectors: Array,
    dual_coef: Array,
    intercept: Array,
    n_support: NDArray[np.integer[Any]],
    kernel: BoundKernel,
    classes: Sequence[Label],
    *,
    transform: Transform | None = None,
    card: dict[str, Any] | None = None,
) -> SparseModel:
    """Return the model of arrays as LIBSVM has them; a score is positive for the first of its two classes.

    Of two classes, the first therefore becomes the model's second, and a score of 0 decides as in LIBSVM.
    """
    two = len(classes) == 2
    coef = dual_coef if two else pair_coefficients(dual_coef, n_support)
    return SparseModel(
        vectors=vectors,
        coef=coef[:, None, :],
        intercept=intercept,
        kernels=(kernel,),
        transform=Transform.identity(vectors.shape[1]) if transform is None else transform,
        classes=tuple(reversed(classes)) if two else tuple(classes),
        card=card or {},
        decision=LARGEST if two else VOTES,
    )


def libsvm_kernel(name: str, source: str, **values: float) -> BoundKernel:
    """Return the kernel that LIBSVM calls ``name`` with those of its parameters that it has."""
    families = {family.libsvm_name: family for family in KERNELS.values() if family.libsvm_name is not None}
    if name not in families:
        known = ", ".join(sorted(families))
        raise ModelError(f"{source} has the kernel {name!r:.40}, which has no export; train with one of: {known}")
    family = families[name]
    named = {family.scale_parameter if key == "gamma" else key: value for key, value in values.items()}
    missing = [key for key in family.parameters if key not in named]
    if missing:
        raise ModelError(f"{source} does not say the {missing[0]} of its kernel {name!r}; write the file anew")
    return family.bind(**{key: named[key] for key in family.parameters})
