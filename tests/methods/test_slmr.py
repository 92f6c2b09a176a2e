"""SLMR: sparse regression, its gradient, its roads and what scikit-learn asks of it."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from reference import tube as reference
from sklearn.base import clone
from sklearn.datasets import make_friedman1
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from sklearn.utils.estimator_checks import parametrize_with_checks

from sparsegen.errors import DataError, OptionError
from sparsegen.kernels import KERNELS
from sparsegen.methods import METHODS, methods_for
from sparsegen.methods.shared.feature_map import map_rows
from sparsegen.methods.shared.regressor import SparseRegressor
from sparsegen.methods.shared.ridge import RIDGE
from sparsegen.methods.shared.slmr_objective import SlmrObjective
from sparsegen.methods.slmr import SLICES, SLMRegressor, slice_signs
from sparsegen.solvers.tube import Tube

Array = NDArray[np.float64]
Rows = tuple[Array, Array]
REPEATED = {
    "check_sample_weight_equivalence_on_dense_data": "there are no more vectors than rows by default, and repeated "
    "rows are more"
}


@pytest.fixture(scope="module")
def curve() -> Rows:
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (120, 1))
    return X, 20.0 + 5.0 * np.sinc(X[:, 0]) + 0.1 * rng.normal(size=120)


@pytest.fixture(scope="module")
def friedman() -> Rows:
    X, y = make_friedman1(400, noise=0.5, random_state=0)
    return StandardScaler().fit_transform(X), y


@parametrize_with_checks([SLMRegressor()], expected_failed_checks=lambda _: REPEATED)
def test_scikit_learn_accepts_it(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("name", methods_for("regression"))
def test_every_regression_method_is_a_regressor(name: str, friedman: Rows) -> None:
    method: Any = METHODS[name]
    X, y = friedman
    fitted = clone(method(8, random_state=0)).fit(X[:300], y[:300])
    assert isinstance(fitted, SparseRegressor)
    assert (fitted.model_.task, fitted.model_.decision, fitted.model_.classes) == ("regression", "value", ())
    assert fitted.score(X[300:], y[300:]) > 0.6
    assert np.array_equal(fitted.predict(X), fitted.model_.predict(X))
    assert pickle.loads(pickle.dumps(fitted)).model_ == fitted.model_
    assert method(8, random_state=0).fit(X[:300], y[:300]).model_ == fitted.model_


@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, np.inf), (0.2, np.inf), (0.1, 0.5)])
@pytest.mark.parametrize("mapped", [None, "scales", "projection"])
def test_gradient_by_finite_differences(epsilon: float, delta: float, mapped: str | None) -> None:
    rng = np.random.default_rng(1)
    X, m = rng.normal(size=(40, 3)), 4
    y = np.sin(X[:, 0]) + 0.3 * rng.normal(size=40)
    P = {None: None, "scales": rng.uniform(0.5, 2.0, 3), "projection": rng.normal(size=(2, 3))}[mapped]
    Z = rng.normal(size=(m, 3 if mapped != "projection" else 2))
    kernel = KERNELS["rbf"].bind(gamma=0.4)
    P0 = None if P is None else P + 0.1

    def made() -> SlmrObjective:
        weights = 1.0 + np.arange(40.0) % 3
        return SlmrObjective(X, y, kernel, Tube(weights, epsilon, delta), P0, 0.7, block_rows=11)

    value, gradient = made()(Z, P)
    theta = Z.ravel() if P is None else np.append(Z, P)

    def at(changed: Array) -> float:
        of = None if P is None else changed[Z.size :].reshape(P.shape)
        return made()(changed[: Z.size].reshape(Z.shape), of)[0]

    step = 1e-5
    moves = step * np.eye(len(theta))
    numeric = [(at(theta + move) - at(theta - move)) / (2 * step) for move in moves]
    assert np.allclose(gradient, numeric, rtol=1e-4, atol=1e-5 * np.abs(gradient).max())
    held = 0.0 if P is None or P0 is None else 0.5 * 0.7 * float(((P - P0) ** 2).sum())
    weights = 1.0 + np.arange(40.0) % 3
    seen = map_rows(P, X)
    twin = reference.objective_of_vectors("rbf", {"gamma": 0.4}, seen, y, Z, weights, RIDGE, epsilon, delta)
    assert value == pytest.approx(twin + held, rel=1e-6)


def test_all_rows_as_vectors_are_kernel_ridge_regression(curve: Rows) -> None:
    X, y = curve
    C, gamma = 5.0, 1.0
    fitted = SLMRegressor(C=C, gamma=gamma, init=X, optimize="coefficients").fit(X, y)
    # KernelRidge has no bias: the bias that was found is given to it, and mean and deviation are undone by hand.
    centre, spread = y.mean(), y.std()
    bias = (fitted.model_.intercept[0] - centre) / spread
    ridge = KernelRidge(alpha=1 / (2 * C), kernel="rbf", gamma=gamma).fit(X, (y - centre) / spread - bias)
    assert np.allclose(fitted.predict(X), centre + spread * (ridge.predict(X) + bias), atol=1e-3 * spread)


def test_few_vectors_do_what_many_support_vectors_do(friedman: Rows) -> None:
    X, y = friedman
    full = SVR(gamma=0.05, C=10 * y.std(), epsilon=0.1 * y.std()).fit(X[:300], y[:300])
    few = SLMRegressor(20, gamma=0.05, C=10.0, random_state=0).fit(X[:300], y[:300])
    assert len(few.vectors_) < 0.1 * len(full.support_)
    assert few.score(X[300:], y[300:]) > full.score(X[300:], y[300:]) - 0.03


@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_the_unit_of_the_target_changes_the_values_only(curve: Rows, factor: float) -> None:
    X, y = curve
    one = SLMRegressor(5, random_state=0, epsilon=0.05, max_iter=20).fit(X, y)
    other = SLMRegressor(5, random_state=0, epsilon=0.05, max_iter=20).fit(X, factor * y + 3 * factor)
    assert np.allclose(other.predict(X), factor * one.predict(X) + 3 * factor, rtol=1e-4)


def test_weights_are_repetitions(curve: Rows) -> None:
    X, y = curve
    counts = np.arange(len(y)) % 3
    options: dict[str, Any] = {"init": X[:6], "optimize": "coefficients", "gamma": 0.7, "epsilon": 0.1, "delta": 1.0}
    weighed = SLMRegressor(**options).fit(X, y, sample_weight=counts)
    repeated = SLMRegressor(**options).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    assert np.allclose(weighed.predict(X), repeated.predict(X), rtol=1e-8)
    assert weighed.model_.card["sample_weights"] == {"low": 1.0, "high": 2.0}
    with pytest.raises(DataError, match="sample_weight of row 0 is -1"):
        SLMRegressor().fit(X, y, sample_weight=-1.0 * np.ones(len(y)))


def test_minibatches_come_near_the_exact_descent(friedman: Rows) -> None:
    X, y = friedman
    options: dict[str, Any] = {"C": 10.0, "gamma": 0.05, "random_state": 0}
    exact = SLMRegressor(8, solver="exact", **options).fit(X, y)
    quick = SLMRegressor(8, solver="stochastic", steps=1500, **options).fit(X, y)
    facts = [fitted.model_.card["fit"] for fitted in (exact, quick)]
    assert [fact["solver"] for fact in facts] == ["exact", "stochastic"]
    assert facts[1]["objective"] < 1.1 * facts[0]["objective"]


@pytest.mark.parametrize("options", [{"projection": 2}, {"feature_scales": True}])
@pytest.mark.parametrize("solver", ["exact", "stochastic"])
def test_a_learnt_map_finds_the_features_that_matter(options: dict[str, Any], solver: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 10))
    y = np.sin(X[:, 0]) + X[:, 1] ** 2
    plain, mapped = (
        SLMRegressor(
            8, C=10.0, gamma=0.3, random_state=0, steps=1000, solver=solver, projection_penalty=0.1, **more
        ).fit(X[:200], y[:200])
        for more in ({}, options)
    )
    assert mapped.score(X[200:], y[200:]) > plain.score(X[200:], y[200:]) + 0.05


def test_slices_of_the_target_are_about_as_large() -> None:
    y = np.random.default_rng(0).normal(size=800)
    counts = (slice_signs(y) > 0).sum(axis=0)
    assert len(counts) == SLICES
    assert counts.min() > 90
    assert (slice_signs(y) > 0).sum(axis=1).tolist() == [1] * 800
    assert (slice_signs(np.repeat([1.0, 2.0], 50)) > 0).sum(axis=1).tolist() == [1] * 100
    assert slice_signs(np.ones(9)).max(axis=1).tolist() == [1.0] * 9


def test_a_target_that_never_changes() -> None:
    X = np.random.default_rng(0).normal(size=(20, 2))
    assert np.allclose(SLMRegressor(4, random_state=0).fit(X, np.full(20, 7.5)).predict(X), 7.5)


def test_what_cannot_be_done_is_a_sentence(curve: Rows) -> None:
    X, y = curve
    for options, reason in (
        ({"n_vectors": 121}, "121 vectors were asked for, but there are only 120 rows"),
        ({"projection": 1, "feature_scales": True}, "exclude each other"),
        ({"init": X[:3], "n_vectors": 4}, "init holds 3 vectors"),
        ({"kernel": "rbff"}, "did you mean 'rbf'"),
    ):
        with pytest.raises(OptionError, match=reason):
            SLMRegressor(**options).fit(X, y)
    with pytest.raises(DataError, match="which no device can give"):
        SLMRegressor().fit(X, 1e31 * y)
    with pytest.raises(OptionError, match="method 'slmr' is for regression, not for classification"):
        from sparsegen.training.train import make_estimator

        make_estimator("slmr", {})


def test_an_inner_problem_left_unsolved_is_told(monkeypatch: pytest.MonkeyPatch, curve: Rows) -> None:
    monkeypatch.setattr("sparsegen.solvers.tube.MAX_NEWTON", 1)
    with pytest.warns(ConvergenceWarning, match="could not be solved"):
        SLMRegressor(4, epsilon=0.3, optimize="coefficients", random_state=0).fit(*curve)
