"""Regressors of scikit-learn that are linear in the features or in a kernel: ridge regression, and kernel ridge."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import ElasticNet, Lasso, LinearRegression, Ridge, RidgeCV

from sparsegen.errors import OptionError
from sparsegen.kernels import KERNELS, BoundKernel
from sparsegen.kernels.linear import LINEAR
from sparsegen.model import SparseModel
from sparsegen.training.converters import CONVERTERS, Converter, value_model_of
from sparsegen.training.fitted import dense, name_of

LINEAR_KINDS = (LinearRegression, Ridge, RidgeCV, Lasso, ElasticNet)
NAMES = {"linear": "linear", "rbf": "rbf", "laplacian": "laplacian", "polynomial": "poly", "poly": "poly"}
"""Kernels by what KernelRidge calls them."""
USUAL = {"gamma": None, "coef0": 1.0, "degree": 3}
"""What KernelRidge computes with where nobody says; without a gamma, it takes 1 by the number of features."""


def _linear(machine: Any) -> SparseModel:
    weights = _one_target(machine, dense(machine.coef_))
    return value_model_of(machine, weights, np.ones(1), float(np.ravel(machine.intercept_)[0]), LINEAR.bind())


def _kernel_ridge(machine: KernelRidge) -> SparseModel:
    coef = _one_target(machine, np.atleast_2d(np.asarray(machine.dual_coef_, dtype=np.float64).T))[0]
    return value_model_of(machine, dense(machine.X_fit_), coef, 0.0, _kernel(machine))


def _one_target(machine: Any, rows: Any) -> Any:
    """Return what has a row per target, where there is one target."""
    if len(rows) != 1:
        raise OptionError(f"{name_of(machine)} was fitted to {len(rows)} targets, but a model gives one; fit one each")
    return rows


def _kernel(machine: KernelRidge) -> BoundKernel:
    name = NAMES.get(machine.kernel) if isinstance(machine.kernel, str) else None
    if name is None or machine.kernel_params:
        raise OptionError(f"{name_of(machine)} has a kernel that has no export; choose one of: {', '.join(NAMES)}")
    family = KERNELS[name]
    usual = {**USUAL, "gamma": 1.0 / machine.n_features_in_}
    given = {key: getattr(machine, key) for key in usual}
    values = {key: usual[key] if given[key] is None else float(given[key]) for key in usual}
    return family.bind(**{key: value for key, value in values.items() if key in family.parameters})


CONVERTERS.register("linear values")(Converter(LINEAR_KINDS, _linear))
CONVERTERS.register("kernel ridge")(Converter((KernelRidge,), _kernel_ridge))
