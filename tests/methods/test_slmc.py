from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from reference import Rows, differences
from reference import kernels as reference_kernels
from reference import slmc as reference
from sklearn.exceptions import ConvergenceWarning

from sparsegen import SLMC, SVM, progress
from sparsegen.errors import OptionError
from sparsegen.kernels import KERNELS, BoundKernel
from sparsegen.methods.shared import slmc_objective
from sparsegen.methods.shared.estimator import sign_matrix
from sparsegen.methods.shared.ridge import RIDGE
from sparsegen.methods.shared.slmc_objective import SlmcObjective
from sparsegen.methods.shared.start import start_projection, start_vectors
from sparsegen.solvers import blocks, newton
from sparsegen.solvers.descent import WINDOW
from sparsegen.solvers.newton import Loss

Array = NDArray[np.float64]
LOSSES = ("hinge", "squared_hinge")
PARAMS = {"gamma": 0.5, "coef0": 1.0, "degree": 2.0}


def bound(name: str) -> BoundKernel:
    return KERNELS[name].bind(**{key: value for key, value in PARAMS.items() if key in KERNELS[name].parameters})


def signs(y: NDArray[np.int64]) -> Array:
    return sign_matrix(y, int(y.max()) + 1)


def objective_of(model: SLMC) -> float:
    return float(model.model_.card["fit"]["objective"])


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("name", "weighed"), [*((name, False) for name in KERNELS), ("rbf", True)])
def test_objective_is_the_brute_force_optimum(name: str, weighed: bool, loss: str, four_classes: Rows) -> None:
    X, y = four_classes[0][:40], four_classes[1][:40]
    Y, Z, kernel = signs(y), X[:5] + 0.1, bound(name)
    C = np.random.default_rng(1).uniform(0.05, 3.0, 40) if weighed else 1.5
    value, _ = SlmcObjective(X, Y, kernel, Loss(loss, C))(Z, None)
    expected = reference.objective(name, dict(kernel.params), X, Y, Z, C, loss, RIDGE)
    assert value == pytest.approx(expected, rel=5e-6)


@pytest.mark.parametrize("projected", [False, True])
@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", KERNELS)
def test_gradient_is_the_limit_of_differences(
    name: str, loss: str, several: bool, projected: bool, four_classes: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(newton, "GAP", 1e-12)
    X, y = four_classes[0][:60], four_classes[1][:60]
    Y = signs(y if several else y % 2)
    rng = np.random.default_rng(3)
    P0 = rng.normal(size=(2, 3)) if projected else None
    P = None if P0 is None else P0 + 0.1 * rng.normal(size=(2, 3))
    Z = rng.normal(size=(4, 2 if projected else 3))
    C = rng.uniform(0.1, 4.0, 60) if several else 2.0  # rows weigh alike in half of the tests
    objective = SlmcObjective(X, Y, bound(name), Loss(loss, C), P0, 3.0)
    value, gradient = objective(Z, P)
    step = 1e-5
    in_Z = differences(lambda moved: objective(moved, P)[0], Z, step)
    expected = [in_Z.ravel()]
    if P is not None:
        expected.append(differences(lambda moved: objective(Z, moved)[0], P, step).ravel())
    assert np.allclose(gradient, np.concatenate(expected), rtol=1e-4, atol=1e-5 * value)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("block_rows", [1, 17, 159])
def test_small_blocks_are_one_block(loss: str, block_rows: int, four_classes: Rows) -> None:
    X, y = four_classes
    P0 = np.eye(3)[:2]
    whole = SlmcObjective(X, signs(y), bound("rbf"), Loss(loss, 1.0), P0, 1.0)
    parts = SlmcObjective(X, signs(y), bound("rbf"), Loss(loss, 1.0), P0, 1.0, block_rows)
    Z = X[:6, :2]
    (value, gradient), (value_parts, gradient_parts) = whole(Z, P0), parts(Z, P0)
    assert value_parts == pytest.approx(value, rel=1e-9)
    assert np.allclose(gradient_parts, gradient, rtol=1e-6, atol=1e-6 * np.abs(gradient).max())


def test_fit_in_blocks_is_the_fit(two_classes: Rows) -> None:
    whole, parts = (SLMC(5, block_rows=rows, random_state=0).fit(*two_classes) for rows in (None, 13))
    assert objective_of(parts) == pytest.approx(objective_of(whole), rel=1e-3)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kernel", KERNELS)
def test_moving_the_vectors_lowers_the_objective(kernel: str, loss: str, four_classes: Rows) -> None:
    options: dict[str, Any] = {"kernel": kernel, "loss": loss, "random_state": 0, "max_iter": 30}
    fixed, moved = (SLMC(5, optimize=what, **options).fit(*four_classes) for what in ("coefficients", "vectors"))
    # A linear machine spans the whole space with 5 vectors: nothing is left to gain there.
    assert objective_of(moved) < (1.0 + 1e-6 if kernel == "linear" else 0.97) * objective_of(fixed)
    assert moved.n_iter_ > 1 or kernel == "linear"


@pytest.mark.parametrize("loss", LOSSES)
def test_coefficients_only_is_the_exact_optimum_for_given_vectors(loss: str, four_classes: Rows) -> None:
    """MRSVM [W05, 6.2]."""
    X, y = four_classes
    Z = X[::20]
    model = SLMC(optimize="coefficients", init=Z, loss=loss, C=2.0, gamma=0.5).fit(X, y)
    assert np.array_equal(model.vectors_, Z)
    assert model.n_iter_ == 1
    expected = reference.objective("rbf", {"gamma": 0.5}, X, signs(y), Z, 2.0, "squared_hinge", RIDGE)
    if loss == "squared_hinge":
        assert objective_of(model) == pytest.approx(expected, rel=1e-8)
    inner = SlmcObjective(X, signs(y), bound("rbf"), Loss(loss, 2.0))
    _, _, beta, solution = inner._inner(Z, None)
    Kz = reference_kernels.gram("rbf", {"gamma": 0.5}, Z, Z) + RIDGE * np.eye(len(Z))
    Kzx = reference_kernels.gram("rbf", {"gamma": 0.5}, Z, X)
    eq_33 = np.linalg.solve(Kz, Kzx @ (signs(y) * solution.alpha)).T
    assert np.allclose(beta, eq_33, rtol=1e-6, atol=1e-6 * np.abs(beta).max())
    assert np.array_equal(model.dual_coef_, beta)


@pytest.mark.parametrize("C", [0.5, 5.0])
def test_support_vectors_as_vectors_give_the_svm(C: float, two_classes: Rows) -> None:
    """[W05, Example 1]: with the SVM's support vectors for Z, its solution is optimal."""
    X, y = two_classes
    svm = SVM(C=C, gamma=0.5, tol=1e-8).fit(X, y)
    model = SLMC(init=svm.vectors_, optimize="coefficients", loss="hinge", C=C, gamma=0.5).fit(X, y)
    beta = svm.dual_coef_[0]
    Kz = reference_kernels.gram("rbf", {"gamma": 0.5}, svm.vectors_, svm.vectors_)
    slack = np.maximum(0.0, 1.0 - signs(y)[:, 0] * svm.decision_function(X))
    assert objective_of(model) == pytest.approx(0.5 * beta @ Kz @ beta + C * slack.sum(), rel=1e-4)
    assert np.allclose(model.decision_function(X), svm.decision_function(X), atol=0.02)
    assert np.array_equal(model.predict(X), svm.predict(X))


@pytest.mark.parametrize("options", [{}, {"init": "random"}, {"loss": "hinge"}, {"projection": 2}, {"n_init": 2}])
def test_same_seed_same_bytes(options: dict[str, Any], four_classes: Rows) -> None:
    one, two, other = (SLMC(12, max_iter=8, random_state=s, **options).fit(*four_classes) for s in (3, 3, 4))
    assert one.model_.to_bytes() == two.model_.to_bytes()
    assert one.model_.vectors.tobytes() != other.model_.vectors.tobytes()


def test_several_starts_are_never_worse(four_classes: Rows) -> None:
    options: dict[str, Any] = {"init": "random", "max_iter": 15, "random_state": 1}
    found = [objective_of(SLMC(4, n_init=n, **options).fit(*four_classes)) for n in (1, 2, 4)]
    assert found[0] >= found[1] >= found[2]


def test_ratio_is_a_share_of_the_svm(two_classes: Rows) -> None:
    support = SVM().fit(*two_classes).model_.n_vectors
    model = SLMC(ratio=0.25, max_iter=3).fit(*two_classes)
    assert model.model_.n_vectors == int(np.ceil(0.25 * support))
    assert SLMC(ratio=1e-9, max_iter=1).fit(*two_classes).model_.n_vectors == 1


def test_number_of_vectors_by_default(two_classes: Rows, four_classes: Rows) -> None:
    assert SLMC(max_iter=1).fit(*two_classes).model_.n_vectors == 16
    X, y = four_classes
    many = np.arange(len(y)) % 8
    assert SLMC(max_iter=1).fit(X, many).model_.n_vectors == 24
    assert SLMC(max_iter=1).fit(X[:10], y[:10]).model_.n_vectors == 10


def test_classes_share_their_vectors(four_classes: Rows) -> None:
    model = SLMC(6, max_iter=20, random_state=0).fit(*four_classes).model_
    assert model.vectors.shape == (6, 3)
    assert model.coef.shape == (4, 1, 6)
    assert model.intercept.shape == (4,)


def test_projection_is_learnt_and_held(four_classes: Rows) -> None:
    X, y = four_classes
    model = SLMC(6, projection=2, random_state=0).fit(X, y)
    P = model.model_.transform.projection
    assert P is not None
    assert P.shape == (2, 3)
    assert model.vectors_.shape == (6, 2)
    firm = SLMC(6, projection=2, projection_penalty=1e6, random_state=0).fit(X, y).model_.transform.projection
    assert firm is not None
    assert np.allclose(firm @ firm.T, np.eye(2), atol=1e-2)
    assert np.abs(P - firm).max() > 10 * np.abs(firm @ firm.T - np.eye(2)).max()
    assert model.score(X, y) > 0.75


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_vectors": 121}, "121 vectors were asked for, but there are only 120 rows"),
        ({"n_vectors": 5, "ratio": 0.1}, "n_vectors and ratio exclude each other"),
        ({"projection": 3}, "projection to 3 dimensions was asked for, but there are only 2 features"),
        ({"init": np.zeros((4, 3))}, r"array with 2 columns, but its shape is \(4, 3\)"),
        ({"init": np.zeros(4)}, r"but its shape is \(4,\)"),
        ({"init": np.array(1.0)}, r"but its shape is \(\)"),
        ({"init": np.zeros((0, 2))}, r"but its shape is \(0, 2\)"),
        ({"init": [[np.nan, 0.0]]}, "init holds NaN"),
        ({"init": np.zeros((4, 2)), "n_vectors": 5}, "init holds 4 vectors; leave n_vectors and ratio out"),
        ({"init": np.zeros((4, 2)), "ratio": 0.5}, "init holds 4 vectors"),
        ({"init": np.zeros((4, 2)), "projection": 1}, "array with 1 columns"),
        ({"kernel": "rfb"}, "did you mean 'rbf'"),
    ],
)
def test_contradictions_are_one_sentence(options: dict[str, Any], message: str, two_classes: Rows) -> None:
    with pytest.raises(OptionError, match=message):
        SLMC(**options).fit(*two_classes)


def test_numpy_numbers_are_parameters(two_classes: Rows) -> None:
    numbers: dict[str, Any] = {"n_vectors": np.int64(3), "C": np.float32(2.0), "max_iter": np.int32(2)}
    model = SLMC(**numbers).fit(*two_classes).model_
    assert model.card["parameters"]["n_vectors"] == 3
    assert model.card["parameters"]["C"] == 2.0


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("init", ["kmeans", "random"])
def test_duplicates_and_constant_features_are_no_trouble(kernel: str, loss: str, init: str) -> None:
    """Fewer distinct rows than vectors, the same row in both classes, a constant and an equal feature."""
    X = np.repeat([[0.0, 1.0, 1.0], [1.0, 1.0, 1.0], [2.0, 1.0, 1.0]], 8, axis=0)
    y = np.repeat([0, 1, 0], 8)
    y[0] = 1
    model = SLMC(10, kernel=kernel, loss=loss, init=init, C=10.0, random_state=0, max_iter=20).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    assert model.score(X, y) == (23 / 24 if kernel != "linear" else pytest.approx(15 / 24))


def test_data_without_any_variation() -> None:
    X, y = np.zeros((10, 2)), np.array([0] * 7 + [1] * 3)
    for kernel in KERNELS:
        assert (SLMC(2, kernel=kernel, random_state=0).fit(X, y).predict(X) == 0).all()


@pytest.mark.parametrize("kernel", [name for name in KERNELS if "gamma" in KERNELS[name].parameters])
@pytest.mark.parametrize("scale", [1e-6, 1e3])
def test_scaled_data_give_the_scaled_classifier(kernel: str, scale: float, four_classes: Rows) -> None:
    X, y = four_classes
    options: dict[str, Any] = {"kernel": kernel, "random_state": 0, "max_iter": 10}
    gamma = 0.5
    scaled = gamma / scale ** (1 if kernel == "laplacian" else 2)
    one = SLMC(5, gamma=gamma, **options).fit(X, y)
    two = SLMC(5, gamma=scaled, **options).fit(scale * X, y)
    assert objective_of(two) == pytest.approx(objective_of(one), rel=1e-3)


def test_tolerance_is_a_share_whatever_the_size_of_the_objective(two_classes: Rows) -> None:
    """L-BFGS-B's own tolerance is absolute below 1, and would not move a vector here."""
    fixed, moved = (SLMC(4, C=1e-4, optimize=o, random_state=0).fit(*two_classes) for o in ("coefficients", "vectors"))
    assert moved.n_iter_ > 3
    assert objective_of(moved) < objective_of(fixed)
    assert SLMC(4, tol=0.5, random_state=0).fit(*two_classes).n_iter_ <= WINDOW + 1
    assert SLMC(4, tol=0.0, random_state=0).fit(*two_classes).n_iter_ > WINDOW + 1


def test_progress_counts_iterations(two_classes: Rows) -> None:
    remarks: list[str] = []

    class Reporter:
        def start(self, title: str, total: int) -> tuple[progress.Advance, Callable[[], None]]:
            remarks.append(f"{title}/{total}")
            return remarks.append, lambda: remarks.append("end")

    with progress.reporting(Reporter()):
        model = SLMC(3, max_iter=5, random_state=0).fit(*two_classes)
    assert remarks[0] == "training slmc/5"
    assert remarks[-1] == "end"
    assert len(remarks) == 2 + model.n_iter_


def test_coefficients_short_of_the_optimum_are_announced(two_classes: Rows, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(newton, "MAX_NEWTON", 1)
    with pytest.warns(ConvergenceWarning, match="scale the features or lower C"):
        SLMC(5, C=100.0, optimize="coefficients").fit(*two_classes)


def test_memory_bound_decides_the_block(two_classes: Rows, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 8 * slmc_objective.ARRAYS_PER_BLOCK * 5 * 50)
    X, y = two_classes
    objective = SlmcObjective(X, signs(y), bound("rbf"), Loss("hinge", 1.0))
    assert [len(block.value) for _, block in objective.gram_blocks(X[:5], None)] == [7] * 17 + [1]


def test_k_means_shares_vectors_by_the_size_of_classes() -> None:
    X = np.vstack([np.random.default_rng(k).normal(5.0 * k, 1.0, (n, 2)) for k, n in enumerate((60, 30, 10))])
    Y = np.where(np.repeat([0, 1, 2], (60, 30, 10))[:, None] == np.arange(3), 1.0, -1.0)
    Z = start_vectors(X, Y, 10, "kmeans", np.random.RandomState(0))
    nearest = np.argmin(np.abs(Z.mean(axis=1)[:, None] - 5.0 * np.arange(3)), axis=1)
    assert np.bincount(nearest).tolist() == [6, 3, 1]
    assert start_vectors(X, Y, 2, "kmeans", np.random.RandomState(0)).shape == (2, 2)


def test_projection_starts_on_what_separates_the_classes() -> None:
    """The wide direction says nothing about the class; the narrow one does."""
    rng = np.random.default_rng(0)
    y = np.repeat([-1.0, 1.0], 100)
    X = np.column_stack([3.0 * rng.standard_normal(200), 2.0 * y + 0.1 * rng.standard_normal(200)])
    P = start_projection(X, y[:, None], 1)
    assert P is not None
    assert abs(P[0, 1]) > 0.9
    assert np.isclose(P @ P.T, 1.0)
