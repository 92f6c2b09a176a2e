"""From a fitted scikit-learn estimator to the SparseModel that decides the same.

Everything in front of the kernels that is affine is folded into the model's transform, so the model takes raw features.
`converters` has one file per kind of classifier, `folds` one per kind of what may stand in front of one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sparsegen.model import SparseModel
from sparsegen.training.converters import convert


def from_sklearn(estimator: Any) -> SparseModel:
    """Return the model that decides as a fitted estimator does, from raw features.

    Takes sparsegen's own estimators, two-class SVC and NuSVC, OneVsRestClassifier over them, linear classifiers,
    calibrated ones and searches, and pipelines that end in one of these, behind scalers, PCA, selectors of features,
    SimpleImputer, ColumnTransformer, or Nystroem where the classifier is linear; and for values SVR, NuSVR,
    KernelRidge and linear regressors of one target. Probabilities are kept where they are
    a logistic function or the softmax of the scores; where they are not, a warning says so.
    """
    model = convert(estimator)
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        return model
    return replace(model, card={**model.card, "feature_names": [str(name) for name in names]})
