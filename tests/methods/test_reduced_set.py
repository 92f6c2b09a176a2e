"""RS and MRS."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from reference import Rows
from reference import reduced_set as reference
from repeated_rows import expected_failures
from scipy.optimize import minimize
from sklearn.utils.estimator_checks import parametrize_with_checks

from sparsegen import progress
from sparsegen.errors import OptionError
from sparsegen.kernels import KERNELS, BoundKernel
from sparsegen.methods.mrs import MRS
from sparsegen.methods.rs import RS
from sparsegen.methods.shared import reduced_set
from sparsegen.methods.shared.estimator import SparseClassifier, sign_matrix
from sparsegen.methods.shared.reduced_set import ReducedSetObjective, fixed_point, reduce_set
from sparsegen.methods.shared.ridge import RIDGE
from sparsegen.methods.slmc import SLMC
from sparsegen.methods.svm import SVM
from sparsegen.verify import verify

Array = NDArray[np.float64]
PARAMS = {"gamma": 0.5, "coef0": 1.0, "degree": 2.0}


def bound(name: str) -> BoundKernel:
    return KERNELS[name].bind(**{key: value for key, value in PARAMS.items() if key in KERNELS[name].parameters})


def residual_of(model: RS) -> float:
    return float(model.model_.card["fit"]["residual"])


@pytest.fixture
def machine() -> tuple[Array, Array]:
    """An expansion of two outputs on 20 points."""
    rng = np.random.default_rng(5)
    return rng.normal(size=(20, 3)), rng.normal(size=(2, 20))


@parametrize_with_checks(
    [RS(4, n_init=1, max_iter=10), MRS(4, n_init=1, max_iter=10)], expected_failed_checks=expected_failures
)
def test_scikit_learn_accepts_it(estimator: SparseClassifier, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("name", KERNELS)
def test_objective_is_the_distance_at_the_best_coefficients(name: str, machine: tuple[Array, Array]) -> None:
    S, a = machine
    kernel, Z = bound(name), S[:2] + 0.3
    objective = ReducedSetObjective(S, a, kernel)
    params = dict(kernel.params)
    assert objective.norm == pytest.approx(reference.distance(name, params, S, a, Z, np.zeros((2, 2))), rel=1e-10)
    beta = objective.coefficients(Z)
    expected = reference.distance(name, params, S, a, Z, beta)
    assert objective(Z)[0] * objective.norm == pytest.approx(expected, rel=1e-4)

    def brute(flat: Array) -> float:
        return reference.distance(name, params, S, a, Z, flat.reshape(2, 2))

    assert expected <= float(minimize(brute, np.zeros(4)).fun) * (1.0 + 1e-5)


@pytest.mark.parametrize("name", KERNELS)
def test_gradient_is_the_limit_of_differences(name: str, machine: tuple[Array, Array]) -> None:
    objective = ReducedSetObjective(*machine, bound(name))
    Z = np.random.default_rng(6).normal(size=(2, 3))
    _, gradient = objective(Z)
    expected = np.empty_like(Z)
    for index in np.ndindex(Z.shape):
        step = np.zeros_like(Z)
        step[index] = 1e-5
        expected[index] = (objective(Z + step)[0] - objective(Z - step)[0]) / 2e-5
    assert np.allclose(gradient, expected, rtol=1e-4, atol=1e-7)


def test_small_blocks_are_one_block(machine: tuple[Array, Array], monkeypatch: pytest.MonkeyPatch) -> None:
    Z = machine[0][:4] + 0.1
    whole = ReducedSetObjective(*machine, bound("rbf"))(Z)
    monkeypatch.setattr(reduced_set, "BLOCK_BYTES", 32 * 4 * 3)
    parts = ReducedSetObjective(*machine, bound("rbf"))(Z)
    assert parts[0] == pytest.approx(whole[0], rel=1e-10)
    assert np.allclose(parts[1], whole[1], rtol=1e-9)


def test_fixed_point_is_the_books_and_stationary(machine: tuple[Array, Array]) -> None:
    S, a = machine[0], machine[1][:1]
    objective = ReducedSetObjective(S, a, bound("rbf"))
    Z = fixed_point(objective, 3, np.random.RandomState(0))
    for j in range(3):
        beta = objective.coefficients(Z[:j]) if j else np.zeros((1, 0))
        U, c = np.vstack([S, Z[:j]]), np.hstack([a, -beta])[0]
        assert np.allclose(reference.fixed_point(0.5, U, c, Z[j], 1), Z[j], atol=1e-4)
    left = [objective(Z[: j + 1])[0] for j in range(3)]
    assert 1.0 > left[0] > left[1] > left[2]


def test_fixed_point_of_several_outputs_is_stationary(machine: tuple[Array, Array]) -> None:
    objective = ReducedSetObjective(*machine, bound("rbf"))
    Z = fixed_point(objective, 1, np.random.RandomState(0))
    assert np.abs(objective(Z)[1]).max() < 1e-4


def test_fixed_point_never_runs_off() -> None:
    """Two points that nearly cancel: between them the undamped iteration divides by almost nothing."""
    S, a = np.array([[0.0], [0.1], [5.0]]), np.array([[1.0, -0.999, 1e-3]])
    objective = ReducedSetObjective(S, a, bound("rbf"))
    for seed in range(5):
        Z = fixed_point(objective, 2, np.random.RandomState(seed))
        assert np.abs(Z).max() < 10.0


@pytest.mark.parametrize("name", KERNELS)
def test_descent_ends_where_the_gradient_is_small(name: str, machine: tuple[Array, Array]) -> None:
    S, a = machine
    objective = ReducedSetObjective(S, a, bound(name))
    found = reduce_set(S, a, bound(name), 4, 2, 2000, 0.0, np.random.RandomState(0))
    _, before = objective(S[:4])
    value, after = objective(found.Z)
    assert value == pytest.approx(found.residual, abs=1e-9)
    if name != "laplacian":  # its minima are kinks
        assert np.abs(after).max() < 1e-2 * np.abs(before).max() or value < 1e-5
    assert np.allclose(found.beta, objective.coefficients(found.Z))


@pytest.mark.parametrize("kernel", KERNELS)
def test_more_vectors_and_more_starts_are_nearer(kernel: str, four_classes: Rows) -> None:
    options: dict[str, Any] = {"kernel": kernel, "random_state": 0, "max_iter": 30}
    two, eight = (residual_of(RS(m, **options).fit(*four_classes)) for m in (2, 8))
    assert eight < two
    assert residual_of(RS(2, n_init=1, **options).fit(*four_classes)) >= two


@pytest.mark.parametrize("method", [RS, MRS])
def test_all_support_vectors_give_the_svm(method: type[RS], four_classes: Rows) -> None:
    X, y = four_classes
    svm = SVM(gamma=0.5, C=5.0).fit(X, y)
    model = method(len(X), gamma=0.5, C=5.0).fit(X, y)
    assert model.model_.n_vectors == svm.model_.n_vectors
    atol = 1e-9 if method is RS else 0.05
    assert np.allclose(model.decision_function(X), svm.decision_function(X), atol=atol)


def test_half_of_the_support_vectors_stay_near_the_svm(two_classes: Rows) -> None:
    X, y = two_classes
    svm = SVM().fit(X, y)
    model = RS(ratio=0.5, random_state=0).fit(X, y)
    assert residual_of(model) < 1e-3
    assert np.mean(model.predict(X) == svm.predict(X)) > 0.97


@pytest.mark.parametrize("classes", ["two_classes", "four_classes"])
def test_mrs_is_slmc_on_the_vectors_of_rs(classes: str, request: pytest.FixtureRequest) -> None:
    X, y = request.getfixturevalue(classes)
    options: dict[str, Any] = {"C": 3.0, "random_state": 2, "n_init": 2}
    rs, mrs = RS(6, **options).fit(X, y), MRS(6, **options).fit(X, y)
    assert np.array_equal(rs.vectors_, mrs.vectors_)
    slmc = SLMC(init=rs.vectors_, optimize="coefficients", loss="hinge", C=3.0).fit(X, y)
    assert np.array_equal(mrs.dual_coef_, slmc.dual_coef_)
    assert np.array_equal(mrs.intercept_, slmc.intercept_)
    Y = sign_matrix(y, len(np.unique(y)))

    def objective(model: SparseClassifier) -> float:
        Kz = model.model_.kernels[0].gram(model.vectors_, model.vectors_) + RIDGE * np.eye(6)
        beta = model.dual_coef_
        slack = np.maximum(0.0, 1.0 - Y * model.decision_function(X).reshape(Y.shape))
        return float(0.5 * np.sum((beta @ Kz) * beta) + 3.0 * slack.sum())

    assert objective(mrs) <= objective(rs)


def test_ratio_is_a_share_of_the_svm(two_classes: Rows) -> None:
    support = SVM().fit(*two_classes).model_.n_vectors
    assert RS(ratio=0.25, max_iter=3).fit(*two_classes).model_.n_vectors == int(np.ceil(0.25 * support))
    assert RS(ratio=1e-9, max_iter=3).fit(*two_classes).model_.n_vectors == 1
    assert RS(max_iter=3).fit(*two_classes).model_.n_vectors == 16


@pytest.mark.parametrize("method", [RS, MRS])
def test_classes_share_their_vectors(method: type[RS], four_classes: Rows) -> None:
    model = method(8, random_state=0).fit(*four_classes)
    assert model.model_.vectors.shape == (8, 3)
    assert model.model_.coef.shape == (4, 1, 8)
    assert model.score(*four_classes) > (0.5 if method is RS else 0.7)


@pytest.mark.parametrize("kernel", ["rbf", "poly"])
@pytest.mark.parametrize("method", [RS, MRS])
def test_same_seed_same_bytes(method: type[RS], kernel: str, four_classes: Rows) -> None:
    one, two, other = (
        method(5, kernel=kernel, n_init=2, max_iter=8, random_state=s).fit(*four_classes) for s in (3, 3, 4)
    )
    assert one.model_.to_bytes() == two.model_.to_bytes()
    assert one.model_.vectors.tobytes() != other.model_.vectors.tobytes()


@pytest.mark.parametrize("method", [RS, MRS])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_vectors": 121}, "121 vectors were asked for, but there are only 120 rows"),
        ({"n_vectors": 5, "ratio": 0.1}, "n_vectors and ratio exclude each other"),
    ],
)
def test_contradictions_are_one_sentence(
    method: type[RS], options: dict[str, Any], message: str, two_classes: Rows
) -> None:
    with pytest.raises(OptionError, match=message):
        method(**options).fit(*two_classes)


@pytest.mark.parametrize("method", [RS, MRS])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("m", [1, 2, 10])
def test_duplicates_and_constant_features_are_no_trouble(method: type[RS], kernel: str, m: int) -> None:
    """Fewer distinct rows than vectors, the same row in both classes, a constant and an equal feature."""
    X = np.repeat([[0.0, 1.0, 1.0], [1.0, 1.0, 1.0], [2.0, 1.0, 1.0]], 8, axis=0)
    y = np.repeat([0, 1, 0], 8)
    y[0] = 1
    model = method(m, kernel=kernel, C=10.0, random_state=0, max_iter=20).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    assert model.model_.n_vectors <= 3
    if m == 10 and kernel != "linear":
        assert model.score(X, y) == 23 / 24


@pytest.mark.parametrize("method", [RS, MRS])
@pytest.mark.parametrize("kernel", KERNELS)
def test_data_without_any_variation(method: type[RS], kernel: str) -> None:
    X, y = np.zeros((10, 2)), np.array([0] * 7 + [1] * 3)
    assert (method(2, kernel=kernel, random_state=0).fit(X, y).predict(X) == 0).all()


def test_a_machine_that_cancels_to_nothing_is_a_constant() -> None:
    """Linear kernel, points whose weighted sum is zero: no direction is left to approximate."""
    S = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    found = reduce_set(S, np.ones((1, 4)), bound("linear"), 2, 1, 10, 1e-3, np.random.RandomState(0))
    assert found.Z.shape == (2, 2)
    assert not found.beta.any()


@pytest.mark.parametrize("method", [RS, MRS])
def test_separable_classes_and_a_class_of_one_row(method: type[RS]) -> None:
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(20, 2)), rng.normal(size=(20, 2)) + 20.0, [[-20.0, 20.0]]])
    y = np.repeat([0, 1, 2], (20, 20, 1))
    model = method(6, gamma=0.01, C=100.0, random_state=0).fit(X, y)
    assert model.score(X, y) == 1.0


def test_progress_is_told(two_classes: Rows) -> None:
    titles: list[str] = []

    class Reporter:
        def start(self, title: str, total: int) -> tuple[progress.Advance, Callable[[], None]]:
            titles.append(f"{title}/{total}")
            return lambda remark: None, lambda: None

    with progress.reporting(Reporter()):
        RS(3, n_init=2, max_iter=5, random_state=0).fit(*two_classes)
    assert titles == [
        "training reference SVM/1",
        "reducing the SVM, start 1 of 2/5",
        "reducing the SVM, start 2 of 2/5",
    ]


@pytest.mark.parametrize("method", [RS, MRS])
def test_the_c_export_agrees(method: type[RS], four_classes: Rows) -> None:
    X, y = four_classes
    model = method(6, n_init=1, random_state=0).fit(X, y).model_
    assert all(verdict.ok for verdict in verify(model, X, devices=["host"]))
