"""RSVM and MRSVM."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from reference import Rows
from reference import kernels as reference_kernels
from reference import newton as reference_newton
from reference import slmc as reference_slmc
from repeated_rows import expected_failures
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from sparsegen.errors import OptionError
from sparsegen.kernels import KERNELS
from sparsegen.methods import rsvm
from sparsegen.methods.mrsvm import MRSVM
from sparsegen.methods.rsvm import RSVM
from sparsegen.methods.shared.estimator import SparseClassifier, sign_matrix
from sparsegen.methods.shared.ridge import RIDGE
from sparsegen.methods.slmc import SLMC
from sparsegen.methods.svm import SVM
from sparsegen.solvers import blocks, newton
from sparsegen.verify import verify

Array = NDArray[np.float64]
LOSSES = ("hinge", "squared_hinge")
METHODS = (RSVM, MRSVM)


def objective_of(model: RSVM) -> float:
    return float(model.model_.card["fit"]["objective"])


@parametrize_with_checks([RSVM(), MRSVM()], expected_failed_checks=expected_failures)
def test_scikit_learn_accepts_it(estimator: SparseClassifier, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kernel", KERNELS)
def test_coefficients_are_the_optimum_of_each_objective(kernel: str, loss: str, four_classes: Rows) -> None:
    X, y = four_classes[0][:40], four_classes[1][:40]
    Y = sign_matrix(y, 4)
    options: dict[str, Any] = {"kernel": kernel, "degree": 2, "C": 1.5, "gamma": 0.5, "loss": loss, "random_state": 0}
    plain, exact = RSVM(5, **options).fit(X, y), MRSVM(5, **options).fit(X, y)
    params = dict(plain.model_.kernels[0].params)
    psi = reference_kernels.gram(kernel, params, X, plain.vectors_)
    expected = sum(reference_newton.optimum(psi, column, 1.5, loss) for column in Y.T)
    assert objective_of(plain) == pytest.approx(expected, rel=5e-6)
    expected = reference_slmc.objective(kernel, params, X, Y, exact.vectors_, 1.5, loss, RIDGE)
    assert objective_of(exact) == pytest.approx(expected, rel=5e-6)


@pytest.mark.parametrize("method", METHODS)
def test_vectors_are_rows_and_both_methods_take_the_same(method: type[RSVM], four_classes: Rows) -> None:
    """[W05, 7.1]: RSVM and MRSVM use the same vectors."""
    X, y = four_classes
    model = method(7, random_state=3).fit(X, y)
    assert {tuple(row) for row in model.vectors_} <= {tuple(row) for row in X}
    assert np.array_equal(model.vectors_, RSVM(7, random_state=3).fit(X, y).vectors_)


@pytest.mark.parametrize("loss", LOSSES)
def test_mrsvm_is_slmc_with_its_vectors_at_rest(loss: str, four_classes: Rows) -> None:
    model = MRSVM(7, loss=loss, C=2.0, random_state=3).fit(*four_classes)
    twin = SLMC(7, init="random", optimize="coefficients", loss=loss, C=2.0, random_state=3).fit(*four_classes)
    assert np.array_equal(model.vectors_, twin.vectors_)
    assert np.array_equal(model.dual_coef_, twin.dual_coef_)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("loss", LOSSES)
def test_fit_in_blocks_is_the_fit(method: type[RSVM], loss: str, four_classes: Rows) -> None:
    whole, parts = (method(5, loss=loss, block_rows=rows, random_state=0).fit(*four_classes) for rows in (None, 13))
    assert objective_of(parts) == pytest.approx(objective_of(whole), rel=1e-7)


def test_memory_bound_decides_the_block(two_classes: Rows, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 8 * rsvm.ARRAYS_PER_BLOCK * 5 * 50)
    sizes: list[list[int]] = []

    def note(psi: blocks.RowBlocks[Any], *rest: Any) -> newton.Solution:
        sizes.append([len(block) for _, block in psi])
        return newton.solve(psi, *rest)

    monkeypatch.setattr(rsvm, "solve", note)
    RSVM(5).fit(*two_classes)
    assert sizes == [[50, 50, 20]]


@pytest.mark.parametrize("method", METHODS)
def test_number_of_vectors(method: type[RSVM], two_classes: Rows, four_classes: Rows) -> None:
    support = SVM().fit(*two_classes).model_.n_vectors
    assert method(ratio=0.25).fit(*two_classes).model_.n_vectors == int(np.ceil(0.25 * support))
    assert method().fit(*two_classes).model_.n_vectors == 16
    assert method().fit(four_classes[0][:10], four_classes[1][:10]).model_.n_vectors == 10


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_vectors": 121}, "121 vectors were asked for, but there are only 120 rows"),
        ({"n_vectors": 5, "ratio": 0.1}, "n_vectors and ratio exclude each other"),
    ],
)
def test_contradictions_are_one_sentence(
    method: type[RSVM], options: dict[str, Any], message: str, two_classes: Rows
) -> None:
    with pytest.raises(OptionError, match=message):
        method(**options).fit(*two_classes)


@pytest.mark.parametrize("method", METHODS)
def test_all_rows_classify_as_the_svm(method: type[RSVM], four_classes: Rows) -> None:
    X, y = four_classes
    model = method(len(X), gamma=0.5, C=5.0, random_state=0).fit(X, y)
    svm = SVM(gamma=0.5, C=5.0, tol=1e-8).fit(X, y)
    if method is MRSVM:  # the SVM itself [W05, section 3]
        assert np.allclose(model.decision_function(X), svm.decision_function(X), atol=0.02)
    assert abs(model.score(X, y) - svm.score(X, y)) < 0.1


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("loss", LOSSES)
def test_same_seed_same_bytes(method: type[RSVM], loss: str, four_classes: Rows) -> None:
    one, two, other = (method(8, loss=loss, random_state=s).fit(*four_classes) for s in (3, 3, 4))
    assert one.model_.to_bytes() == two.model_.to_bytes()
    assert one.model_.vectors.tobytes() != other.model_.vectors.tobytes()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kernel", KERNELS)
def test_duplicates_and_constant_features_are_no_trouble(method: type[RSVM], kernel: str, loss: str) -> None:
    X = np.repeat([[0.0, 1.0, 1.0], [1.0, 1.0, 1.0], [2.0, 1.0, 1.0]], 8, axis=0)
    y = np.repeat([0, 1, 0], 8)
    y[0] = 1
    model = method(20, kernel=kernel, loss=loss, C=100.0, random_state=0).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    assert model.score(X, y) == (23 / 24 if kernel != "linear" else pytest.approx(15 / 24))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kernel", KERNELS)
def test_data_without_any_variation(method: type[RSVM], kernel: str) -> None:
    X, y = np.zeros((10, 2)), np.array([0] * 7 + [1] * 3)
    assert (method(2, kernel=kernel, random_state=0).fit(X, y).predict(X) == 0).all()


@pytest.mark.parametrize("method", METHODS)
def test_separable_classes_and_a_class_of_one_row(method: type[RSVM]) -> None:
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(20, 2)), rng.normal(size=(20, 2)) + 20.0, [[-20.0, 20.0]]])
    y = np.repeat([0, 1, 2], (20, 20, 1))
    assert method(12, gamma=0.001, C=1000.0, random_state=0).fit(X, y).score(X, y) == 1.0


def test_coefficients_short_of_the_optimum_are_announced(two_classes: Rows, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(newton, "MAX_NEWTON", 1)
    with pytest.warns(ConvergenceWarning, match="scale the features or lower C"):
        RSVM(5, C=100.0).fit(*two_classes)


@pytest.mark.parametrize("method", METHODS)
def test_the_c_export_agrees(method: type[RSVM], four_classes: Rows) -> None:
    X, y = four_classes
    model = method(9, random_state=0).fit(X, y).model_
    assert all(verdict.ok for verdict in verify(model, X, devices=["host"]))
