"""A linear kernel needs one vector per output, whatever training used: sum_u coef_u (z_u . x) = (sum_u coef_u z_u) . x.

A projection folds into these vectors too, where that saves constants: z . P s = (P^T z) . s.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sparsegen.model import SparseModel


def collapse_linear(model: SparseModel) -> SparseModel:
    """Return the model with its vectors summed per output, where its only kernel is linear and that saves vectors."""
    if len(model.kernels) != 1 or not model.kernels[0].is_linear:
        return model
    if model.n_vectors > model.n_outputs:
        weights = model.coef[:, 0, :] @ model.vectors
        model = replace(model, vectors=weights, coef=np.eye(model.n_outputs)[:, None, :])
    T = model.transform
    if T.projection is not None and model.n_vectors * model.n_features <= T.projection.size + model.vectors.size:
        model = replace(model, vectors=model.vectors @ T.projection, transform=replace(T, projection=None))
    return model
