"""SLMO: the sparse one-class machine, its gradient, nu, and what scikit-learn asks of it."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from reference import one_class as reference
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.svm import OneClassSVM
from sklearn.utils.estimator_checks import parametrize_with_checks

from sparsegen.errors import DataError, OptionError
from sparsegen.kernels import KERNELS
from sparsegen.methods import METHODS, methods_for
from sparsegen.methods import slmo as module
from sparsegen.methods.shared.detector import SparseDetector
from sparsegen.methods.shared.one_class_objective import OneClassObjective
from sparsegen.methods.shared.ridge import RIDGE
from sparsegen.methods.slmo import SLMOneClass

Array = NDArray[np.float64]
REPEATED = {
    "check_sample_weight_equivalence_on_dense_data": "there are no more vectors than rows by default, and repeated "
    "rows are more"
}


@pytest.fixture(scope="module")
def ring() -> tuple[Array, Array, Array]:
    """Normal rows around a circle, others of the same kind, and rows anywhere in the square around it."""
    rng = np.random.default_rng(0)

    def normal(n: int) -> Array:
        angle = rng.uniform(0, 2 * np.pi, n)
        return np.column_stack([np.cos(angle), np.sin(angle)]) + rng.normal(0, 0.1, (n, 2))

    return normal(400), normal(400), rng.uniform(-2, 2, (400, 2))


@parametrize_with_checks([SLMOneClass()], expected_failed_checks=lambda _: REPEATED)
def test_scikit_learn_accepts_it(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("name", methods_for("anomaly"))
def test_every_method_for_anomalies_is_a_detector(name: str, ring: tuple[Array, Array, Array]) -> None:
    method: Any = METHODS[name]
    X, normal, others = ring
    fitted = clone(method(12, random_state=0)).fit(X)
    assert isinstance(fitted, SparseDetector)
    model = fitted.model_
    assert (model.task, model.classes, model.n_outputs) == ("anomaly", ("anomaly", "normal"), 1)
    scores = fitted.decision_function(np.vstack([normal, others]))
    assert roc_auc_score(np.repeat([1, 0], 400), scores) > 0.8
    assert np.array_equal(fitted.predict(others) == 1, model.predict(others) == "normal")
    assert np.allclose(fitted.score_samples(X) - fitted.offset_, fitted.decision_function(X))
    assert pickle.loads(pickle.dumps(fitted)).model_ == model
    assert method(12, random_state=0).fit(X).model_ == model


@pytest.mark.parametrize("equal", [True, False])
def test_gradient_by_finite_differences(equal: bool) -> None:
    rng = np.random.default_rng(1)
    X, Z = rng.normal(size=(40, 3)), rng.normal(size=(4, 3))
    kernel = KERNELS["rbf"].bind(gamma=0.4)
    shares = np.ones(40) if equal else 1.0 + np.arange(40.0) % 3
    C = shares / (0.3 * shares.sum())

    def at(theta: Array) -> tuple[float, Array]:
        return OneClassObjective(X, C, kernel, block_rows=11)(theta.reshape(Z.shape), None)

    value, gradient = at(Z.ravel())
    step = 1e-5
    numeric = [(at(Z.ravel() + move)[0] - at(Z.ravel() - move)[0]) / (2 * step) for move in step * np.eye(Z.size)]
    assert np.allclose(gradient, numeric, rtol=1e-3, atol=1e-3 * np.abs(gradient).max())
    twin = reference.objective_of_vectors("rbf", {"gamma": 0.4}, X, Z, C, RIDGE)
    assert value == pytest.approx(twin, abs=1e-7)


@pytest.mark.parametrize("nu", [0.05, 0.3])
def test_all_rows_as_vectors_are_the_one_class_svm(nu: float, ring: tuple[Array, Array, Array]) -> None:
    X, normal, others = (rows[:100] for rows in ring)
    full = OneClassSVM(nu=nu, gamma=0.5, tol=1e-8).fit(X)
    own = SLMOneClass(nu=nu, gamma=0.5, init=X, optimize="coefficients").fit(X)
    for rows in (X, normal, others):  # LIBSVM's multipliers add up to nu n, ours to 1
        assert np.allclose(own.decision_function(rows), full.decision_function(rows) / (nu * len(X)), atol=1e-4)


def test_a_tenth_of_the_vectors_does_what_all_do(ring: tuple[Array, Array, Array]) -> None:
    X, normal, others = ring
    truth, rows = np.repeat([1, 0], 400), np.vstack([normal, others])
    full = OneClassSVM(nu=0.3, gamma=2.0).fit(X)
    few = SLMOneClass(len(full.support_) // 10, nu=0.3, gamma=2.0, random_state=0).fit(X)
    areas = [roc_auc_score(truth, one.decision_function(rows)) for one in (full, few)]
    assert areas[1] > areas[0] - 0.02


@pytest.mark.parametrize("nu", [0.02, 0.1, 0.4, 1.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_at_most_nu_of_the_rows_lie_outside(nu: float, weighted: bool, ring: tuple[Array, Array, Array]) -> None:
    X, _, _ = ring
    counts = 1.0 + np.arange(len(X)) % 4 if weighted else np.ones(len(X))
    for vectors in (1, 5):
        fitted = SLMOneClass(vectors, nu=nu, random_state=0, max_iter=5).fit(X, sample_weight=counts)
        outside = fitted.decision_function(X) < -1e-6  # on the plane is not outside; the plane is found to so much
        assert counts[outside].sum() <= nu * counts.sum()


def test_of_many_rows_a_part_moves_the_vectors_and_all_decide(
    monkeypatch: pytest.MonkeyPatch, ring: tuple[Array, Array, Array]
) -> None:
    monkeypatch.setattr(module, "MOVING_ROWS", 50)
    X, _, _ = ring
    fitted = SLMOneClass(6, nu=0.1, random_state=0, max_iter=10).fit(X)
    assert (fitted.decision_function(X) < -1e-6).sum() <= 40
    assert fitted.model_ == SLMOneClass(6, nu=0.1, random_state=0, max_iter=10).fit(X).model_


def test_moving_the_vectors_lowers_the_objective(ring: tuple[Array, Array, Array]) -> None:
    X, _, _ = ring
    still, moved = (
        SLMOneClass(8, random_state=0, gamma=1.0, optimize=what).fit(X).model_.card["fit"]["objective"]
        for what in ("coefficients", "vectors")
    )
    assert moved < still - 1e-4


def test_what_cannot_be_done_is_a_sentence(ring: tuple[Array, Array, Array]) -> None:
    X, _, _ = ring
    for options, reason in (
        ({"n_vectors": 401}, "401 vectors were asked for, but there are only 400 rows"),
        ({"kernel": "poly"}, "kernel 'poly' does not give 1 for a row and itself"),
        ({"init": X[:3], "n_vectors": 4}, "init holds 3 vectors"),
    ):
        with pytest.raises(OptionError, match=reason):
            SLMOneClass(**options).fit(X)
    with pytest.raises(DataError, match="sample_weight of row 0 is -1"):
        SLMOneClass().fit(X, sample_weight=-np.ones(len(X)))
    with pytest.raises(ValueError, match="nu"):
        SLMOneClass(nu=0.0).fit(X)
