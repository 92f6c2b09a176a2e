from __future__ import annotations

import numpy as np
import pytest
from reference import Rows, differences
from reference import multiple_kernels as reference
from three_kernels import GAMMAS, MU, fact, signs, stack

from sparsegen import SVM
from sparsegen.methods.mksvm import MKSVM, _Dual
from sparsegen.solvers.simplex import gap


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("solver", ["lp", "gradient"])
def test_mksvm_is_at_the_saddle_point(solver: str, several: bool, four_classes: Rows) -> None:
    """Every active kernel has the same, largest a' K a: the optimality condition of [H09, eq. 2]."""
    X, y = four_classes[0], four_classes[1] if several else four_classes[1] % 2
    model = MKSVM(solver=solver, gammas=GAMMAS, C=2.0, tol=1e-4, max_iter=200).fit(X, y)
    mu = np.zeros(3)
    active = [stack().index(kernel) for kernel in model.model_.kernels]
    mu[active] = fact(model, "kernel_weights")
    value, g = _Dual(X, signs(y), stack(), 2.0, 1e-6, lambda remark: None).value_and_gradient(mu)
    assert gap(mu, g) <= 5e-3 * value
    assert value == pytest.approx(fact(model, "objective"), rel=1e-3)
    K = reference.equivalent("mksvm", "rbf", GAMMAS, X[:60], X[:0], mu, 0.0)
    assert np.allclose(K, sum(w * k.gram(X[:60], X[:60]) for w, k in zip(mu, stack(), strict=True)))


def test_mksvm_gradient_is_the_limit_of_differences(four_classes: Rows) -> None:
    X, y = four_classes
    dual = _Dual(X, signs(y), stack(), 1.0, 1e-9, lambda remark: None)
    value, g = dual.value_and_gradient(MU)
    expected = differences(lambda mu: dual.train(mu)[0], MU, 1e-4)
    assert np.allclose(g, expected, rtol=1e-3, atol=1e-4 * value)


def test_mksvm_objective_is_the_brute_force_optimum(two_classes: Rows) -> None:
    X, y = two_classes[0][:40], two_classes[1][:40]
    value, _, _ = _Dual(X, signs(y), stack(), 1.5, 1e-8, lambda remark: None).train(MU)
    expected = reference.objective("mksvm", "rbf", GAMMAS, X, signs(y), X, MU, 1.5, "hinge", 0.0)
    assert value == pytest.approx(expected, rel=1e-5)


def test_mksvm_on_one_kernel_is_the_svm(four_classes: Rows) -> None:
    X, y = four_classes
    one, svm = MKSVM(n_kernels=1, gamma=0.5, tol=1e-2).fit(X, y), SVM(gamma=0.5).fit(X, y)
    assert one.model_.n_vectors == svm.model_.n_vectors
    assert np.allclose(one.decision_function(X), svm.decision_function(X), atol=2e-3)
