from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from reference import Rows
from reference import cholesky as reference
from reference import kernels as reference_kernels
from reference import newton as reference_newton
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from sparsegen import progress
from sparsegen.errors import OptionError
from sparsegen.kernels import KERNELS, BoundKernel
from sparsegen.methods.cholesky import CholeskySVM
from sparsegen.methods.lssvm_cholesky import CholeskyLSSVM, least_squares
from sparsegen.methods.shared import diagonal
from sparsegen.methods.shared.estimator import SparseClassifier, sign_matrix
from sparsegen.solvers import newton
from sparsegen.verify import verify

Array = NDArray[np.float64]
Machine = type[CholeskySVM] | type[CholeskyLSSVM]
LOSSES = ("hinge", "squared_hinge")
METHODS: tuple[Machine, ...] = (CholeskySVM, CholeskyLSSVM)


def signs(y: NDArray[np.int64]) -> Array:
    return sign_matrix(y, int(y.max()) + 1)


def objective_of(model: SparseClassifier) -> float:
    return float(model.model_.card["fit"]["objective"])


@parametrize_with_checks([CholeskySVM(), CholeskySVM(loss="squared_hinge", order="pivoted"), CholeskyLSSVM()])
def test_scikit_learn_accepts_it(estimator: SparseClassifier, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("eta", [0.3, 0.01])
def test_vectors_are_the_papers_rows(method: Machine, eta: float, four_classes: Rows) -> None:
    X, y = four_classes
    rows, _ = reference.select(reference_kernels.gram("rbf", {"gamma": 0.5}, X, X), eta)
    model = method(eta=eta, gamma=0.5).fit(X, y)
    assert np.array_equal(model.vectors_, X[rows])
    assert np.array_equal(method(eta=eta, gamma=0.5, C=100.0).fit(X, y % 2).vectors_, X[rows])  # neither C nor labels
    assert model.dual_coef_.shape == (4, len(rows))


@pytest.mark.parametrize("method", METHODS)
def test_bound_takes_the_first_vectors_chosen(method: Machine, two_classes: Rows) -> None:
    for order in ("rows", "pivoted"):
        free = method(eta=0.01, order=order).fit(*two_classes).vectors_
        bound = method(5, eta=0.01, order=order).fit(*two_classes).vectors_
        assert len(free) > 5
        assert np.array_equal(bound, free[:5])
    assert method(120).fit(*two_classes).model_.n_vectors < 120


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_objective_is_the_papers_optimum(loss: str, C: float, two_classes: Rows) -> None:
    """[I08, eq. 16, 17] by SciPy, on coordinates [I08, eq. 8]."""
    X, y = two_classes[0][:50], two_classes[1][:50]
    model = CholeskySVM(eta=0.3, C=C, gamma=0.5, loss=loss).fit(X, y)
    H = reference_kernels.gram("rbf", {"gamma": 0.5}, X, model.vectors_)
    expected = reference_newton.optimum(H, signs(y)[:, 0], C if loss == "hinge" else 0.5 * C, loss)
    assert objective_of(model) == pytest.approx(expected, rel=1e-5)
    v, slack = model.dual_coef_[0], np.maximum(0.0, 1.0 - signs(y)[:, 0] * model.decision_function(X))
    primal = 0.5 * v @ v + (C * slack.sum() if loss == "hinge" else 0.5 * C * (slack**2).sum())
    assert objective_of(model) == pytest.approx(primal, rel=1e-9)


@pytest.mark.parametrize("C", [0.5, 20.0])
def test_l1_machine_is_the_svm_with_the_kernel_of_the_reduced_space(C: float, two_classes: Rows) -> None:
    """The dual [I08, eq. 19, 20] has the kernel h(x)'h(x')."""
    X, y = two_classes
    model = CholeskySVM(eta=0.1, C=C, gamma=0.5).fit(X, y)
    H = reference_kernels.gram("rbf", {"gamma": 0.5}, X, model.vectors_)
    svm = SVC(C=C, kernel="precomputed", tol=1e-8).fit(H @ H.T, y)
    assert np.allclose(model.decision_function(X), svm.decision_function(H @ H.T), atol=1e-4)


@pytest.mark.parametrize("loss", LOSSES)
def test_linear_osv_is_the_linear_svm_and_nosv_spans_the_same_space(loss: str, four_classes: Rows) -> None:
    X, y = four_classes[0], four_classes[1] % 2
    osv = CholeskySVM(kernel="linear", basis="axes", loss=loss, C=2.0).fit(X, y)
    assert np.array_equal(osv.vectors_, np.eye(3))
    if loss == "hinge":
        svm = SVC(C=2.0, kernel="linear", tol=1e-8).fit(X, y)
        assert np.allclose(osv.dual_coef_, svm.coef_, atol=1e-3)
    nosv = CholeskySVM(kernel="linear", loss=loss, eta=1e-9, C=2.0).fit(X, y)
    assert np.array_equal(nosv.vectors_, X[:3])


@pytest.mark.parametrize("C", [1e-2, 1.0, 1e6])
def test_least_squares_is_ridge_regression(C: float, four_classes: Rows) -> None:
    X, y = four_classes
    H, Y = reference_kernels.gram("rbf", {"gamma": 0.5}, X, X[:9]), signs(y)
    V, b, objective = least_squares(H, Y, C)
    ridge = Ridge(alpha=1.0 / C, solver="svd").fit(H, Y)
    assert np.allclose(V, ridge.coef_, rtol=1e-6, atol=1e-8)
    assert np.allclose(b, ridge.intercept_, rtol=1e-6, atol=1e-8)
    errors = Y - H @ V.T - b
    assert np.allclose(V, C * errors.T @ H, rtol=1e-5, atol=1e-6 * C)  # the gradient in v is zero
    assert np.allclose(errors.sum(axis=0), 0.0, atol=1e-8)  # and the one in b
    assert objective == pytest.approx(0.5 * (V**2).sum() + 0.5 * C * (errors**2).sum())


def test_least_squares_gradient_by_differences(two_classes: Rows) -> None:
    H, Y = reference_kernels.gram("rbf", {"gamma": 0.5}, two_classes[0], two_classes[0][:4]), signs(two_classes[1])
    V, b, objective = least_squares(H, Y, 3.0)
    for index in range(5):
        for step in (-1e-4, 1e-4):
            v, bias = V.copy(), b.copy()
            if index < 4:
                v[0, index] += step
            else:
                bias[0] += step
            moved = 0.5 * (v**2).sum() + 1.5 * ((Y - H @ v.T - bias) ** 2).sum()
            assert objective < moved < objective + 1e-4


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kernel", KERNELS)
def test_every_kernel_and_several_classes(method: Machine, kernel: str, four_classes: Rows) -> None:
    X, y = four_classes
    model = method(kernel=kernel, eta=0.01, C=10.0).fit(X, y)
    assert model.score(X, y) > (0.6 if kernel == "linear" else 0.75)
    assert len(np.unique(model.vectors_, axis=0)) == model.model_.n_vectors


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kernel", KERNELS)
def test_duplicates_and_constant_features_are_no_trouble(method: Machine, kernel: str) -> None:
    X = np.repeat([[0.0, 1.0, 1.0], [1.0, 1.0, 1.0], [2.0, 1.0, 1.0]], 8, axis=0)
    y = np.repeat([0, 1, 0], 8)
    y[0] = 1
    model = method(kernel=kernel, eta=1e-6, C=1e4).fit(X, y)
    assert model.model_.n_vectors == (2 if kernel == "linear" else 3)
    assert model.score(X, y) == (23 / 24 if kernel != "linear" else pytest.approx(15 / 24))


@pytest.mark.parametrize("method", METHODS)
def test_data_without_any_variation(method: Machine) -> None:
    X, y = np.zeros((10, 2)), np.array([0] * 7 + [1] * 3)
    for kernel in KERNELS:
        model = method(kernel=kernel).fit(X, y)
        assert (model.predict(X) == 0).all()
        assert model.model_.n_vectors == 1


@pytest.mark.parametrize("method", METHODS)
def test_one_row_of_a_class_and_separable_rows(method: Machine) -> None:
    X = np.array([[0.0], [0.1], [0.2], [3.0]])
    for y in ([0, 0, 0, 1], [0, 1, 1, 2]):
        assert method(eta=1e-3, gamma=2.0, C=1e6).fit(X, y).score(X, y) == 1.0


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_vectors": 121}, "121 vectors were asked for, but there are only 120 rows"),
        ({"eta": 1.0}, r"eta is 1, but K\(x, x\) is at most 1: no row is left; lower eta"),
        ({"basis": "axes"}, "basis 'axes' needs the linear kernel, but the kernel is 'rbf'"),
        ({"basis": "axes", "kernel": "linear", "n_vectors": 1}, "leave n_vectors out"),
    ],
)
def test_contradictions_are_one_sentence(
    method: Machine, options: dict[str, Any], message: str, two_classes: Rows
) -> None:
    with pytest.raises(OptionError, match=message):
        method(**options).fit(*two_classes)


@pytest.mark.parametrize("method", METHODS)
def test_same_bytes_whatever_the_seed(method: Machine, four_classes: Rows) -> None:
    one, two = (method(12, random_state=seed).fit(*four_classes).model_ for seed in (3, 4))
    assert one.vectors.tobytes() == two.vectors.tobytes()
    assert one.coef.tobytes() == two.coef.tobytes()
    assert method(12).fit(*four_classes).model_.to_bytes() == method(12).fit(*four_classes).model_.to_bytes()


def test_time_bound_ends_the_choice(two_classes: Rows, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(1000))
    monkeypatch.setattr(time, "monotonic", lambda: float(next(clock)))
    assert CholeskySVM(eta=1e-4, max_seconds=3.0).fit(*two_classes).model_.n_vectors == 3


def test_no_gram_matrix_of_all_rows_is_built(two_classes: Rows, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = np.repeat(two_classes[0], 5, axis=0), np.repeat(two_classes[1], 5)
    sizes: list[int] = []
    gram = BoundKernel.gram

    def counted(self: BoundKernel, A: Array, B: Array) -> Array:
        sizes.append(len(A) * len(B))
        return gram(self, A, B)

    monkeypatch.setattr(BoundKernel, "gram", counted)
    model = CholeskySVM(eta=0.3).fit(X, y)
    assert max(sizes) <= max(len(X) * model.model_.n_vectors, diagonal.DIAGONAL_ROWS**2)


def test_progress_counts_vectors(two_classes: Rows) -> None:
    remarks: list[str] = []

    class Reporter:
        def start(self, title: str, total: int) -> tuple[progress.Advance, Any]:
            remarks.append(f"{title}/{total}")
            return remarks.append, lambda: remarks.append("end")

    with progress.reporting(Reporter()):
        model = CholeskySVM(4, eta=1e-3).fit(*two_classes)
    assert remarks[0] == "choosing independent rows/4"
    assert len(remarks) == 2 + model.model_.n_vectors


def test_coefficients_short_of_the_optimum_are_announced(two_classes: Rows, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(newton, "MAX_NEWTON", 1)
    with pytest.warns(ConvergenceWarning, match="scale the features or lower C"):
        CholeskySVM(C=100.0).fit(*two_classes)


@pytest.mark.parametrize("method", METHODS)
def test_export_computes_what_python_computed(method: Machine, four_classes: Rows) -> None:
    X, y = four_classes
    for options in ({"eta": 0.05}, {"kernel": "linear", "basis": "axes"}):
        model = method(**options).fit(X, y).model_
        assert all(verdict.ok for verdict in verify(model, X, devices=["host"]))
