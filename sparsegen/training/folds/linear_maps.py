"""Linear maps to fewer values."""

from __future__ import annotations

import numpy as np
from sklearn.decomposition import PCA

from sparsegen.model import Transform
from sparsegen.training.folds import FOLDS, Fold, affine


def _pca(pca: PCA) -> Transform:
    W = pca.components_
    if pca.whiten:
        width = np.maximum(np.sqrt(pca.explained_variance_), np.finfo(np.float64).eps)  # as scikit-learn bounds it
        W = W / width[:, None]
    return Transform(pca.mean_, np.ones(W.shape[1]), W)


FOLDS.register("pca")(Fold((PCA,), affine(_pca)))
