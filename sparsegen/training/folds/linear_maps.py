"""Linear maps to fewer values: principal components and truncated singular vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.decomposition import PCA, IncrementalPCA, TruncatedSVD

from sparsegen.model import Transform
from sparsegen.training.folds import FOLDS, Affine


def _pca(pca: Any) -> Transform:
    W = pca.components_
    if pca.whiten:
        width = np.maximum(np.sqrt(pca.explained_variance_), np.finfo(np.float64).eps)  # as scikit-learn bounds it
        W = W / width[:, None]
    return Transform(pca.mean_, np.ones(W.shape[1]), W)


def _svd(svd: TruncatedSVD) -> Transform:
    W = svd.components_
    return Transform(np.zeros(W.shape[1]), np.ones(W.shape[1]), W)


FOLDS.register("pca")(Affine((PCA, IncrementalPCA), _pca))
FOLDS.register("svd")(Affine((TruncatedSVD,), _svd))
