from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from reference import Rows
from reference import kernels as reference_kernels
from reference import lp_slack as reference
from repeated_rows import expected_failures
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from sparsegen import SVM, progress
from sparsegen.errors import OptionError
from sparsegen.kernels import KERNELS
from sparsegen.methods.minimal import MinimalSVM, coordinates, draw_rows, merge_equal_rows
from sparsegen.methods.shared.estimator import SparseClassifier
from sparsegen.verify import verify

Array = NDArray[np.float64]
SOLVERS = ("reweighted", "momentum")


def fact(model: MinimalSVM, name: str) -> float:
    return float(model.model_.card["fit"][name])


def signs(y: NDArray[np.int64]) -> Array:
    return np.where(y == 1, 1.0, -1.0)


@parametrize_with_checks(
    [MinimalSVM(), MinimalSVM(solver="momentum", max_iter=300)], expected_failed_checks=expected_failures
)
def test_scikit_learn_accepts_it(estimator: SparseClassifier, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("C", [0.5, 5.0])
def test_p_one_is_the_svm(kernel: str, C: float, two_classes: Rows) -> None:
    X, y = two_classes
    svm = SVM(C=C, kernel=kernel, tol=1e-6).fit(X, y)
    model = MinimalSVM(C=C, p=1.0, kernel=kernel).fit(X, y)
    assert model.n_iter_ == 1
    assert np.allclose(model.decision_function(X), svm.decision_function(X), atol=5e-3)
    slow = MinimalSVM(C=C, p=1.0, kernel=kernel, solver="momentum", max_iter=20_000, tol=1e-7).fit(X, y)
    assert fact(slow, "objective") == pytest.approx(fact(model, "objective"), rel=0.02)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("p", [0.3, 0.7])
def test_objective_is_the_papers_and_below_the_svms(solver: str, p: float, two_classes: Rows) -> None:
    X, y = two_classes
    model = MinimalSVM(C=2.0, p=p, kernel="linear", solver=solver).fit(X, y)
    svm = SVM(C=2.0, kernel="linear").fit(X, y)
    w = np.append(model.vectors_[0], model.intercept_)
    of_svm = np.append(svm.dual_coef_ @ svm.vectors_, svm.intercept_)
    assert model.dual_coef_.tolist() == [[1.0]]
    assert fact(model, "objective") == pytest.approx(reference.objective(w, X, signs(y), 2.0, p))
    assert fact(model, "objective") < reference.objective(of_svm, X, signs(y), 2.0, p)


@pytest.mark.parametrize("C", [1.0, 20.0])
def test_conditions_of_optimality(C: float, two_classes: Rows) -> None:
    """[Z18, eq. 11, 12, 15, 17, 18], with xi + 1/s for xi."""
    X, y = two_classes
    s, p = 100.0, 0.5
    model = MinimalSVM(C=C, p=p, gamma=0.5, sharpness=s, tol=1e-9, max_iter=100).fit(X, y)
    K = reference_kernels.gram("rbf", {"gamma": 0.5}, X, model.vectors_)
    row_of = [int(np.flatnonzero((vector == X).all(axis=1))[0]) for vector in model.vectors_]
    alpha = np.zeros(len(X))
    alpha[row_of] = model.dual_coef_[0] * signs(y)[row_of]
    margins = signs(y) * (K @ model.dual_coef_[0] + model.intercept_[0])
    slack = np.maximum(0.0, 1.0 - margins)
    assert alpha.min() >= 0.0
    assert abs(alpha @ signs(y)) < 1e-6 * alpha.sum()
    assert alpha[margins > 1.01].max() == 0.0
    inside = slack > 0.01
    assert inside.any()
    assert np.allclose(alpha[inside], p * C * (slack[inside] + 1.0 / s) ** (p - 1.0), rtol=0.02)
    assert np.all(alpha <= p * C * (slack + 1.0 / s) ** (p - 1.0) * 1.02)


@pytest.mark.parametrize("C", [1.0, 10.0])
def test_fewer_rows_have_slack_than_in_the_svm(C: float, two_classes: Rows) -> None:
    X, y = two_classes
    svm, minimal = (MinimalSVM(C=C, p=p).fit(X, y) for p in (1.0, 0.5))
    assert fact(minimal, "rows_with_slack") < fact(svm, "rows_with_slack")
    assert minimal.model_.n_vectors <= svm.model_.n_vectors
    assert minimal.score(X, y) > svm.score(X, y) - 0.03


def clouds(distance: float, seed: int) -> tuple[Array, NDArray[np.int64]]:
    """Two clouds of 60 rows; at distance 2 they are as good as separable."""
    rng = np.random.default_rng(seed)
    y = np.arange(120) % 2
    return rng.normal(size=(120, 3)) + distance * np.outer(2 * y - 1, [1.0, 1.0, 0.5]), y


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("distance", [2.0, 0.5])
@pytest.mark.parametrize("C", [0.1, 1.0, 10.0, 100.0])
def test_momentum_reaches_what_reweighting_reaches(C: float, distance: float, kernel: str) -> None:
    for seed in range(2):
        fast, slow = (MinimalSVM(C=C, kernel=kernel, solver=name).fit(*clouds(distance, seed)) for name in SOLVERS)
        assert fact(slow, "objective") <= 1.01 * fact(fast, "objective"), seed


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("C", [0.3, 3.0])
def test_solvers_come_close_to_each_other(kernel: str, C: float, two_classes: Rows) -> None:
    fast, slow = (MinimalSVM(C=C, kernel=kernel, solver=solver, max_iter=5000).fit(*two_classes) for solver in SOLVERS)
    assert fact(slow, "objective") == pytest.approx(fact(fast, "objective"), rel=0.05)
    assert slow.score(*two_classes) == pytest.approx(fast.score(*two_classes), abs=0.1)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "laplacian"])
def test_svm_is_where_both_solvers_start(kernel: str, two_classes: Rows) -> None:
    X, y = two_classes
    svm = SVM(C=2.0, kernel=kernel, tol=1e-6).fit(X, y)
    first = MinimalSVM(C=2.0, kernel=kernel, max_iter=1).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="lower learning_rate"):
        still = MinimalSVM(C=2.0, kernel=kernel, max_iter=1, solver="momentum", learning_rate=1e-12).fit(X, y)
    for model, drift in ((first, 5e-3), (still, 2e-2)):  # momentum ends with a projection
        assert np.allclose(model.decision_function(X), svm.decision_function(X), atol=drift)


def test_zero_is_where_both_solvers_start(two_classes: Rows) -> None:
    """Slack 1 for every row: reweighting begins with a hinge of the slope of xi^p there."""
    X, y = two_classes
    one = MinimalSVM(C=2.0, init="zero", max_iter=1).fit(X, y)
    hinge = SVM(C=2.0 * 0.5 * 1.01**-0.5, tol=1e-6).fit(X, y)
    assert np.allclose(one.decision_function(X), hinge.decision_function(X), atol=5e-3)
    with pytest.warns(ConvergenceWarning, match="lower learning_rate"):
        still = MinimalSVM(solver="momentum", kernel="linear", init="zero", learning_rate=1e-12, max_iter=1).fit(X, y)
    assert np.abs(still.decision_function(X)).max() < 1e-6


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kernel", KERNELS)
def test_every_kernel_and_several_classes(solver: str, kernel: str, four_classes: Rows) -> None:
    X, y = four_classes
    model = MinimalSVM(C=3.0, kernel=kernel, solver=solver).fit(X, y)
    assert model.score(X, y) > (0.5 if kernel == "linear" else 0.75)
    if kernel == "linear":
        assert np.array_equal(model.dual_coef_, np.eye(4))
    else:
        assert len(np.unique(model.vectors_, axis=0)) == model.model_.n_vectors < len(X)
        assert {v.tobytes() for v in model.vectors_} <= {x.tobytes() for x in X}


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kernel", KERNELS)
def test_duplicates_and_constant_features_are_no_trouble(solver: str, kernel: str) -> None:
    X = np.repeat([[0.0, 1.0, 1.0], [1.0, 1.0, 1.0], [2.0, 1.0, 1.0]], 8, axis=0)
    y = np.repeat([0, 1, 0], 8)
    y[0] = 1
    model = MinimalSVM(C=100.0, kernel=kernel, solver=solver).fit(X, y)
    assert model.model_.n_vectors == (1 if kernel == "linear" else 3)
    assert model.score(X, y) == (23 / 24 if kernel != "linear" else pytest.approx(15 / 24))


@pytest.mark.parametrize("solver", SOLVERS)
def test_data_without_any_variation(solver: str) -> None:
    X, y = np.zeros((10, 2)), np.array([0] * 7 + [1] * 3)
    for kernel in KERNELS:
        assert (MinimalSVM(kernel=kernel, solver=solver).fit(X, y).predict(X) == 0).all()


@pytest.mark.parametrize("solver", SOLVERS)
def test_one_row_of_a_class_and_separable_rows(solver: str) -> None:
    X = np.array([[0.0], [0.1], [0.2], [3.0]])
    for y in ([0, 0, 0, 1], [0, 2, 2, 1]):
        model = MinimalSVM(gamma=2.0, C=100.0, solver=solver, max_iter=3000).fit(X, y)
        assert model.predict(X)[3] == 1
        assert len(set(y)) > 2 or fact(model, "rows_with_slack") == 0


@pytest.mark.parametrize("solver", SOLVERS)
def test_more_features_than_rows(solver: str) -> None:
    """The machine lies in the span of the rows and is that of their coordinates there."""
    rng = np.random.default_rng(5)
    y = np.arange(24) % 2
    X = rng.normal(size=(24, 60)) + 0.2 * signs(y)[:, None]
    rows, basis = coordinates(X)
    assert np.allclose(rows @ basis.T, X)
    wide, narrow = (MinimalSVM(C=0.02, kernel="linear", solver=solver).fit(A, y) for A in (X, rows))
    assert wide.vectors_.shape == (1, 60)
    assert np.allclose(wide.vectors_, narrow.vectors_ @ basis.T)
    w = np.append(wide.vectors_[0], wide.intercept_)
    assert fact(wide, "objective") == pytest.approx(reference.objective(w, X, signs(y), 0.02, 0.5))


def test_candidates_bound_the_gram_matrix(four_classes: Rows) -> None:
    X, y = four_classes
    options: dict[str, Any] = {"n_candidates": 40, "random_state": 1}
    for extra in ({"solver": "momentum", "max_iter": 100}, {"kernel": "laplacian"}):
        one, two, other = (MinimalSVM(**{**options, **extra, "random_state": s}).fit(X, y).model_ for s in (1, 1, 2))
        assert one.n_vectors <= 40
        assert one.to_bytes() == two.to_bytes()
        assert one.vectors.tobytes() != other.vectors.tobytes()
    assert MinimalSVM(n_candidates=40).fit(X, y).model_.n_vectors > 40  # LIBSVM's own kernel: no matrix, all rows


def test_draw_has_every_class() -> None:
    owner = np.array([0] * 50 + [1] + [2] * 20)
    for seed in range(5):
        rows = draw_rows(owner, 4, np.random.RandomState(seed))
        assert len(rows) == len(set(rows.tolist())) == 4
        assert set(owner[rows].tolist()) == {0, 1, 2}
        assert np.all(np.diff(rows) > 0)
    with pytest.raises(OptionError, match="n_candidates is 2, but there are 3 classes; raise it"):
        draw_rows(owner, 2, np.random.RandomState(0))


def test_equal_rows_are_merged() -> None:
    X = np.array([[1.0], [2.0], [1.0], [3.0]])
    coef = np.array([[1.0, 2.0, 3.0, 0.0], [0.5, 0.0, 0.0, 0.0]])
    assert merge_equal_rows(X, coef).tolist() == [[4.0, 2.0, 0.0, 0.0], [0.5, 0.0, 0.0, 0.0]]
    assert not merge_equal_rows(X, np.zeros((2, 4))).any()


@pytest.mark.parametrize("solver", SOLVERS)
def test_same_bytes(solver: str, four_classes: Rows) -> None:
    one, two = (MinimalSVM(solver=solver, max_iter=50, random_state=3).fit(*four_classes).model_ for _ in range(2))
    assert one.to_bytes() == two.to_bytes()


def test_bounds_on_iterations_and_time(two_classes: Rows, monkeypatch: pytest.MonkeyPatch) -> None:
    assert MinimalSVM(max_iter=2).fit(*two_classes).n_iter_ <= 2
    assert MinimalSVM(solver="momentum", max_iter=7).fit(*two_classes).n_iter_ == 7
    clock = iter(range(1000))
    monkeypatch.setattr(time, "monotonic", lambda: float(next(clock)))
    assert MinimalSVM(solver="momentum", max_seconds=5.0).fit(*two_classes).n_iter_ == 4


def test_rate_that_is_too_large_is_announced(two_classes: Rows) -> None:
    with pytest.warns(ConvergenceWarning, match="lower learning_rate"):
        MinimalSVM(solver="momentum", learning_rate=100.0, kernel="linear").fit(*two_classes)


@pytest.mark.parametrize(
    ("name", "value"), [("p", 0.0), ("p", 1.5), ("momentum", 1.0), ("n_candidates", 1), ("init", "one")]
)
def test_parameters_are_checked(name: str, value: Any, two_classes: Rows) -> None:
    with pytest.raises(ValueError, match=name):
        MinimalSVM(**{name: value}).fit(*two_classes)


def test_progress_counts_machines(four_classes: Rows) -> None:
    remarks: list[str] = []

    class Reporter:
        def start(self, title: str, total: int) -> tuple[progress.Advance, Any]:
            remarks.append(f"{title}/{total}")
            return remarks.append, lambda: remarks.append("end")

    with progress.reporting(Reporter()):
        MinimalSVM().fit(*four_classes)
    assert remarks[0] == "training minimal svm/4"
    assert len(remarks) == 6


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_export_computes_what_python_computed(solver: str, kernel: str, four_classes: Rows) -> None:
    X, y = four_classes
    model = MinimalSVM(solver=solver, kernel=kernel).fit(X, y).model_
    assert all(verdict.ok for verdict in verify(model, X, devices=["host"]))


@pytest.mark.parametrize("max_iter", [1, 6, 300])
@pytest.mark.parametrize("init", ["svm", "zero"])
def test_a_descent_cut_short_on_separable_rows_gives_a_machine(init: str, max_iter: int) -> None:
    X, y = clouds(2.0, 0)
    model = MinimalSVM(C=1000.0, gamma=0.1, solver="momentum", init=init, max_iter=max_iter).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
