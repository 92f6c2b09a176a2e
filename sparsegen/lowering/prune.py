"""Drop what makes no difference to a prediction: vectors without weight, and duplicate vectors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sparsegen.model import SparseModel


def prune(model: SparseModel) -> SparseModel:
    """Return the model with equal vectors merged and those without weight dropped; its scores stay the same."""
    _, first, owner = np.unique(model.vectors, axis=0, return_index=True, return_inverse=True)
    coef = np.zeros((*model.coef.shape[:2], len(first)))
    for u, copy_of in enumerate(owner.ravel()):
        coef[:, :, copy_of] += model.coef[:, :, u]
    used = np.flatnonzero(coef.any(axis=(0, 1)))
    if len(used) == 0:  # a constant classifier keeps one vector, so that every table has an entry
        used = np.array([0])
    order = used[np.argsort(first[used])]
    return replace(model, vectors=model.vectors[first[order]], coef=coef[:, :, order])
