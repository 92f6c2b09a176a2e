"""``sample_weight`` and ``class_weight`` in every method: a whole weight repeats the row, weights of one do nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from reference import Rows, differences
from reference import newton as reference_newton
from reference import rvm as reference_rvm
from repeated_rows import DRAWS, LIBSVM, WHY_NOT

from sparsegen import SLMC, SVM
from sparsegen.errors import OptionError
from sparsegen.kernels import KERNELS, BoundKernel
from sparsegen.methods import classifiers
from sparsegen.methods.gsvc import GSVC
from sparsegen.methods.minimal import MinimalSVM
from sparsegen.methods.shared.estimator import Expansion, SingleKernelClassifier, SparseClassifier, sign_matrix
from sparsegen.methods.shared.row_weights import RowWeights
from sparsegen.methods.shared.stochastic import MinibatchObjective
from sparsegen.solvers import rvm
from sparsegen.solvers.lp_slack import LpSlack
from sparsegen.solvers.newton import Loss

Array = NDArray[np.float64]
DRAWN = [name for name, reason in WHY_NOT.items() if reason == DRAWS]


def rows(n: int = 40) -> Rows:
    """Three classes in the plane that overlap."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    return X, (X[:, 0] + 0.5 * rng.normal(size=n) > 0.2).astype(int) + (X[:, 1] > 0.6)


def machine(method: str, **given: Any) -> SparseClassifier:
    """A short fit that does not depend on where k-means starts, with a LIBSVM that is exact where it can be."""
    known = classifiers()[method]().get_params()
    start = np.random.default_rng(1).normal(size=(5, 2))
    wanted: dict[str, Any] = {"init": start} if known.get("init") == "kmeans" else {"n_vectors": 6}
    wanted |= {"n_init": 1, "n_kernels": 2, "max_iter": 200 if method == "rvm" else 20}
    if method in ("svm", "mksvm"):
        wanted["tol"] = 1e-6
    estimator = classifiers()[method](
        **{name: value for name, value in wanted.items() if name in known}, random_state=0
    )
    return estimator.set_params(**given)


@pytest.mark.parametrize("method", [name for name in classifiers() if name not in DRAWN])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_a_whole_weight_repeats_the_row_and_zero_removes_it(method: str, class_weight: str | None) -> None:
    X, y = rows()
    counts = np.random.default_rng(2).integers(0, 4, len(X))
    weighed = machine(method, class_weight=class_weight).fit(X, y, sample_weight=counts)
    repeated = machine(method, class_weight=class_weight).fit(X.repeat(counts, axis=0), y.repeat(counts))
    tolerance = 5e-3 if WHY_NOT.get(method) == LIBSVM else 1e-6
    np.testing.assert_allclose(weighed.decision_function(X), repeated.decision_function(X), atol=tolerance)
    plain = machine(method).fit(X, y).decision_function(X)
    assert np.abs(weighed.decision_function(X) - plain).max() > 0.05, "weights do something"


@pytest.mark.parametrize("method", classifiers())
def test_rows_of_weight_zero_do_not_count_and_weights_of_one_do_nothing(method: str) -> None:
    X, y = rows()
    counted = np.arange(len(X)) % 3 > 0
    model = machine(method).fit(X[counted], y[counted]).model_
    for found in (
        machine(method).fit(X[counted], y[counted], sample_weight=np.ones(counted.sum())),
        machine(method).fit(X, y, sample_weight=counted),
        machine(method, class_weight={0: 1.0, 2: 1}).fit(X[counted], y[counted]),
    ):
        np.testing.assert_array_equal(found.vectors_, model.vectors)
        np.testing.assert_array_equal(found.model_.coef, model.coef)
        np.testing.assert_array_equal(found.intercept_, model.intercept)


@pytest.mark.parametrize("method", [name for name in classifiers() if name not in DRAWN])
def test_a_class_weight_is_the_weight_of_its_rows_losses(method: str) -> None:
    """A sample weight also says where rows lie: with vectors that stay and a given gamma that is no matter."""
    X, y = rows()
    by_class = np.array([0.4, 2.5, 7.0])
    stays = {"optimize": "coefficients"} if "optimize" in classifiers()[method]().get_params() else {}
    one = machine(method, gamma=0.7, class_weight={0: 0.4, 1: 2.5, 2: 7.0}, **stays).fit(X, y)
    other = machine(method, gamma=0.7, **stays).fit(X, y, sample_weight=by_class[y])
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), atol=1e-8)
    np.testing.assert_array_equal(one.class_weight_, by_class)


@pytest.mark.parametrize("method", ["rsvm", "mrsvm"])
def test_heavy_rows_are_drawn_more_often(method: str) -> None:
    X, y = rows()
    heavy = np.where(np.arange(len(X)) < 6, 1e6, 1.0)
    found = machine(method).fit(X, y, sample_weight=heavy).vectors_
    assert {tuple(z) for z in found} == {tuple(x) for x in X[:6]}
    like_any = machine(method, class_weight={0: 1e6}).fit(X, y).vectors_
    np.testing.assert_array_equal(like_any, machine(method).fit(X, y).vectors_)


def test_the_first_row_of_gsvc_is_a_heavy_one() -> None:
    X, y = rows()
    heavy = np.where(np.arange(len(X)) == 17, 1e9, 1.0)
    found = GSVC(n_vectors=3, random_state=3).fit(X, y, sample_weight=heavy).vectors_
    assert tuple(X[17]) in {tuple(z) for z in found}


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_rsvm_with_weights_is_at_the_optimum_of_its_twin(loss: str) -> None:
    X, y = rows()
    y = y % 2
    weights = np.random.default_rng(5).uniform(0.05, 6.0, len(X))
    fitted = machine("rsvm", loss=loss, C=2.0).fit(X, y, sample_weight=weights)
    features = fitted.model_.kernels[0].gram(X, fitted.vectors_)
    signs = sign_matrix(y, 2)[:, 0]
    expected = reference_newton.optimum(features, signs, 2.0 * weights, loss)
    reached = reference_newton.primal(
        fitted.dual_coef_[0], float(fitted.intercept_[0]), features, signs, 2.0 * weights, loss
    )
    assert reached == pytest.approx(expected, rel=1e-5)
    assert fitted.model_.card["fit"]["objective"] == pytest.approx(reached, rel=1e-6)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_minibatch_gradients_with_weights_are_the_limits_of_differences(loss: str) -> None:
    X, y = rows(30)
    Y, weights = sign_matrix(y, 3), np.random.default_rng(5).uniform(0.1, 6.0, 30)
    kernel, C = KERNELS["rbf"].bind(gamma=0.7), 2.0 * weights
    batches = MinibatchObjective(X, Y, kernel, Loss(loss, C), X[:4] + 0.1)
    batches.A = np.random.default_rng(6).normal(size=(4, 3)).astype(np.float32)
    b = weights @ Y / weights.sum()

    def value(A: Array) -> float:
        slack = np.maximum(0.0, 1.0 - Y * (kernel.gram(X, X[:4] + 0.1) @ A + b))
        own = slack if loss == "hinge" else slack**2
        held = np.einsum("uk,uv,vk->", A, kernel.gram(X[:4] + 0.1, X[:4] + 0.1), A)
        return float((C @ own).sum() + 0.5 * held) / float(C.mean() * 30)

    found = batches.gradients(np.arange(30))[1]
    np.testing.assert_allclose(found, differences(value, batches.A.astype(np.float64)), atol=2e-4)


@pytest.mark.parametrize("p", [0.3, 1.0])
def test_pull_of_a_weighted_slack_is_the_limit_of_differences(p: float) -> None:
    rng = np.random.default_rng(3)
    margins, C = rng.normal(size=8), rng.uniform(0.1, 5.0, 8)
    loss = LpSlack(C, p, 20.0)
    found = differences(lambda at: -loss.smooth_value(at), margins)
    np.testing.assert_allclose(loss.smooth_pull(margins), found, rtol=1e-5, atol=1e-7)
    slack = np.maximum(0.0, 1.0 - margins)
    assert loss.value(margins) == pytest.approx(float(np.sum(C * slack**p)))


def test_momentum_with_weights_reaches_what_reweighted_machines_reach() -> None:
    X, y = rows()
    fits = [
        MinimalSVM(p=1.0, solver=solver, class_weight={0: 4.0}).fit(X, y % 2) for solver in ("momentum", "reweighted")
    ]
    one, other = (fit.model_.card["fit"]["objective"] for fit in fits)
    assert one == pytest.approx(other, rel=2e-2)


def test_the_mode_and_evidence_of_observed_rows_are_those_of_their_twin() -> None:
    rng = np.random.default_rng(4)
    Phi, t, c = rng.normal(size=(20, 3)), (rng.random(20) > 0.5).astype(float), rng.uniform(0.2, 5.0, 20)
    Phi[:, -1] = 1.0
    alpha = np.array([0.5, 2.0])
    mode = rvm.find_mode(Phi, t, alpha, np.zeros(3), c)
    A = np.append(alpha, rvm.BIAS_PRECISION)
    np.testing.assert_allclose(mode.w, reference_rvm.mode(Phi, t, A, c), atol=1e-6)
    assert mode.evidence == pytest.approx(reference_rvm.evidence(Phi, t, A, c), rel=1e-8)
    assert mode.evidence != pytest.approx(reference_rvm.evidence(Phi, t, A), rel=1e-2)


def rare_rows(n: int, n_rare: int, seed: int) -> Rows:
    """Ordinary rows around zero, and rare ones at the edge of them."""
    rng = np.random.default_rng(seed)
    y = (np.arange(n + n_rare) >= n).astype(int)
    return rng.normal(size=(n + n_rare, 4)) + 1.5 * y[:, None], y


@pytest.mark.parametrize("method", ["slmc", "svm", "spsvm", "cholesky", "minimal"])
def test_balanced_weights_find_the_six_among_896(method: str) -> None:
    X, y = rare_rows(896, 6, seed=1)
    X_test, y_test = rare_rows(4000, 400, seed=2)

    def recalls(class_weight: str | None) -> Array:
        known = classifiers()[method]().get_params()
        size: dict[str, Any] = {"n_vectors": 8} if "n_vectors" in known else {}
        found = classifiers()[method](**size, class_weight=class_weight, random_state=0).fit(X, y).predict(X_test)
        return np.array([np.mean(found[y_test == k] == k) for k in (0, 1)])

    plain, balanced = recalls(None), recalls("balanced")
    assert plain[1] < 0.3
    assert balanced[1] > plain[1] + 0.4
    assert balanced.mean() > plain.mean() + 0.15


def test_probabilities_follow_the_weights() -> None:
    X, y = rare_rows(300, 30, seed=3)
    heavy = np.where(y == 1, 10.0, 1.0)
    plain, weighed, by_row = (
        SVM(probability=True, gamma=0.3, class_weight=class_weight, random_state=0).fit(X, y, sample_weight=weight)
        for class_weight, weight in ((None, None), ({1: 10.0}, None), (None, heavy))
    )
    found = [machine.predict_proba(X)[:, 1] for machine in (plain, weighed, by_row)]
    assert found[0].mean() == pytest.approx(30 / 330, abs=0.03), "the share of the rare rows"
    assert np.average(found[1], weights=heavy) == pytest.approx(300 / 600, abs=0.1), "as if each of them were ten"
    np.testing.assert_allclose(found[2], found[1], rtol=1e-6)
    groups = np.arange(330) % 30
    some = np.where(np.arange(330) % 7 == 0, 0.0, 1.0)
    again = SVM(probability=True, random_state=0).fit(X, y, sample_weight=some, groups=groups)
    other = SVM(probability=True, random_state=0).fit(X[some > 0], y[some > 0], groups=groups[some > 0])
    np.testing.assert_array_equal(again.predict_proba(X), other.predict_proba(X))


def test_a_method_without_a_use_for_weights_refuses_them() -> None:
    class Unweighed(SVM):
        method = "unweighed"
        unweighted = "it looks at one row of each class"

    X, y = rows()
    sentence = "method 'unweighed' cannot weigh rows: it looks at one row of each class"
    with pytest.raises(OptionError, match=sentence):
        Unweighed(class_weight="balanced").fit(X, y)
    with pytest.raises(OptionError, match=sentence):
        Unweighed().fit(X, y, sample_weight=np.arange(len(X)))
    assert Unweighed().fit(X, y, sample_weight=np.ones(len(X))).score(X, y) > 0.5


def test_a_method_that_does_not_say_is_refused_when_it_is_made() -> None:
    with pytest.raises(OptionError, match="_train of Silent takes no weights of rows; let it take them"):

        class Silent(SingleKernelClassifier):
            def _train(  # type: ignore[override]
                self, X: Array, Y: Array, kernel: BoundKernel, rng: np.random.RandomState
            ) -> Expansion:
                raise AssertionError


def test_the_card_tells_the_weights() -> None:
    X, y = rows()
    names = np.array(["a", "b", "c"])[y]
    card = SLMC(4, max_iter=2, class_weight="balanced").fit(X, names).model_.card
    sizes = np.bincount(y)
    assert card["parameters"]["class_weight"] == "balanced"
    assert card["class_weights"] == pytest.approx({name: 40 / 3 / n for name, n in zip("abc", sizes, strict=True)})
    assert "sample_weights" not in card
    card = SLMC(4, max_iter=2, class_weight={"b": 3}).fit(X, names, sample_weight=np.linspace(0.5, 2.0, 40)).model_.card
    assert card["parameters"]["class_weight"] == {"b": 3}
    assert card["class_weights"] == {"a": 1.0, "b": 3.0, "c": 1.0}
    assert card["sample_weights"] == {"low": 0.5, "high": 2.0}
    assert "class_weights" not in SLMC(4, max_iter=2).fit(X, names).model_.card


def test_methods_get_weights_only_where_there_are_any() -> None:
    seen: list[RowWeights | None] = []
    train = SVM._train

    class Watched(SVM):
        def _train(
            self, X: Array, Y: Array, kernel: BoundKernel, rng: np.random.RandomState, weights: RowWeights | None
        ) -> Expansion:
            seen.append(weights)
            return train(self, X, Y, kernel, rng, weights)

    X, y = rows()
    fits: list[Callable[[], Any]] = [
        lambda: Watched().fit(X, y),
        lambda: Watched(class_weight={1: 2.0}).fit(X, y),
        lambda: Watched(class_weight={1: 2.0}).fit(X, y, sample_weight=np.where(y == 0, 0.5, 1.0)),
    ]
    for fit in fits:
        fit()
    assert seen[0] is None
    assert seen[1] is not None
    assert seen[1].rows is None
    np.testing.assert_array_equal(seen[1].loss, np.where(y == 1, 2.0, 1.0))
    assert seen[2] is not None
    np.testing.assert_array_equal(seen[2].rows, np.where(y == 0, 0.5, 1.0))
    np.testing.assert_array_equal(seen[2].loss, np.array([0.5, 2.0, 1.0])[y])
