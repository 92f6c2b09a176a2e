"""Where a card says that K(Z, Z)^-1 is part of the coefficients, it is: ``Kz beta = Kzx Y alpha`` [W05, eq. 33, 35]."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from reference import Rows
from scipy.optimize import lsq_linear

from sparsegen.kernels import KERNELS
from sparsegen.methods import classifiers
from sparsegen.methods.rsvm import RSVM
from sparsegen.methods.shared.libsvm import full_svm
from sparsegen.methods.shared.ridge import RIDGE

Array = NDArray[np.float64]

C, GAMMA = 2.0, 0.7
WITH_INVERSE = {"slmc", "mrs", "mrsvm", "rs", "smkc1", "smkc2"}
OPTIONS: dict[str, dict[str, Any]] = {
    "slmc": {"loss": "squared_hinge", "max_iter": 5},
    "mrsvm": {"loss": "squared_hinge"},
    "smkc1": {"loss": "squared_hinge", "max_iter": 5, "gammas": (0.2, 1.5)},
    "smkc2": {"loss": "squared_hinge", "max_iter": 5, "gammas": (0.2, 1.5)},
    "rs": {"n_init": 1},
    "mrs": {"n_init": 1},
}


def alpha_of_squared_hinge(f: Array, signs: Array) -> Array:
    return np.asarray(2.0 * C * np.maximum(0.0, 1.0 - signs * f))


def alpha_of_hinge(Kzx: Array, pulled: Array, f: Array, signs: Array) -> Array:
    """Return alpha in [0, C] that explains the coefficients best: C inside the margin, 0 outside, free upon it."""
    margin = signs * f
    alpha = np.where(margin < 1.0 - 1e-4, C, 0.0)
    free = np.abs(margin - 1.0) <= 1e-4
    rest = pulled - Kzx @ (signs * alpha)
    alpha[free] = lsq_linear(Kzx[:, free] * signs[free], rest, bounds=(0.0, C), tol=1e-12).x
    return np.asarray(alpha)


@pytest.mark.parametrize("name", sorted(WITH_INVERSE))
def test_formula_holds(name: str, two_classes: Rows) -> None:
    X, y = two_classes
    signs = np.where(y == 1, 1.0, -1.0)
    method: Any = classifiers()[name]
    machine = method(5, C=C, gamma=GAMMA, random_state=0, **OPTIONS[name]).fit(X, y)
    model, f = machine.model_, machine.decision_function(X)
    assert model.card["coefficients"].startswith(machine.coefficient_formula)
    mu = np.array(model.card["fit"].get("kernel_weights", [1.0]))
    Kz = np.array([kernel.gram(model.vectors, model.vectors) for kernel in model.kernels]) + RIDGE * np.eye(5)
    Kzx = np.array([kernel.gram(model.vectors, X) for kernel in model.kernels])
    if name == "smkc1":  # one beta for the sum of the kernels, times the weight of each
        assert np.allclose(model.coef[0] / mu[:, None], model.coef[0, 0] / mu[0])
        Kz, Kzx = (np.tensordot(mu, each, axes=1)[None] for each in (Kz, Kzx))
        beta = model.coef[0, :1] / mu[0]
    else:
        beta = model.coef[0] / mu[:, None]
    pulled = np.einsum("kij,kj->ki", Kz, beta)
    if name == "rs":
        alpha = signs * full_svm(X, signs[:, None], KERNELS["rbf"].bind(gamma=GAMMA), C)[0][0]
    elif name == "mrs":
        alpha = alpha_of_hinge(Kzx[0], pulled[0], f, signs)
    else:
        alpha = alpha_of_squared_hinge(f, signs)
    assert np.allclose(pulled, Kzx @ (signs * alpha), rtol=1e-4, atol=1e-4 * np.abs(pulled).max())


def test_other_methods_do_not_say_so(two_classes: Rows) -> None:
    without = {"cholesky", "gsvc", "kmp", "mark", "minimal", "mksvm", "rsvm", "rvm", "smola", "spsvm", "svm"}
    assert [name for name in without if classifiers()[name].coefficient_formula] == []
    assert "coefficients" not in RSVM(5).fit(*two_classes).model_.card
