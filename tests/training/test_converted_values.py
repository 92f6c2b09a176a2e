"""scikit-learn's regressors, converted: the same values, to rounding, from raw features."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.compose import TransformedTargetRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import ElasticNet, Lasso, LinearRegression, Ridge, RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR, NuSVR

from sparsegen import data, from_sklearn
from sparsegen.errors import ModelError, OptionError
from sparsegen.training.compress import compress

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4)) * [1.0, 10.0, 0.1, 1.0]
Y = 5.0 + np.sin(X[:, 0]) + 0.1 * X[:, 1]
MACHINES = [
    SVR(C=3.0), SVR(kernel="poly", degree=2, coef0=1.0), SVR(kernel="linear"), SVR(gamma=0.2), NuSVR(nu=0.4),
    KernelRidge(kernel="rbf", gamma=0.3), KernelRidge(kernel="rbf"), KernelRidge(), KernelRidge(kernel="laplacian"),
    KernelRidge(kernel="poly", degree=2, gamma=0.1), LinearRegression(), LinearRegression(fit_intercept=False),
    Ridge(2.0), RidgeCV(), Lasso(0.01), ElasticNet(0.01),
]  # fmt: skip


@pytest.mark.parametrize("machine", MACHINES, ids=str)
def test_values_are_scikit_learns(machine: Any) -> None:
    pipeline = make_pipeline(StandardScaler(), machine).fit(X, Y)
    model = from_sklearn(pipeline)
    assert model.task == "regression"
    assert np.allclose(model.predict(X), pipeline.predict(X), rtol=1e-9, atol=1e-9)
    assert model.card["method"] == f"sklearn {type(machine).__name__}"


def test_what_has_no_export_is_a_sentence() -> None:
    both = np.column_stack([Y, Y])
    for machine, reason in (
        (TransformedTargetRegressor(LinearRegression()).fit(X, Y), "TransformedTargetRegressor cannot be converted"),
        (LinearRegression().fit(X, both), "was fitted to 2 targets"),
        (KernelRidge().fit(X, both), "was fitted to 2 targets"),
        (KernelRidge(kernel="cosine").fit(X, Y), "has a kernel that has no export"),
        (SVR(kernel="sigmoid").fit(X, Y), "sigmoid"),
        (SVR(), "SVR is not fitted"),
    ):
        with pytest.raises(OptionError, match=reason):
            from_sklearn(machine)


def test_only_classifiers_are_compressed() -> None:
    rows = data.from_arrays(X, Y)
    with pytest.raises(ModelError, match="gives values, and only classifiers are compressed"):
        compress(from_sklearn(SVR().fit(X, Y)), rows, rows, 4)
