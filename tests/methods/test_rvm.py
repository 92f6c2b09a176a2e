from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from reference import Rows
from reference import rvm as reference
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from sparsegen import progress
from sparsegen.kernels import KERNELS
from sparsegen.methods.rvm import RVM
from sparsegen.methods.shared.estimator import SparseClassifier
from sparsegen.methods.svm import SVM
from sparsegen.solvers import rvm
from sparsegen.solvers.rvm import BIAS_PRECISION, factors, find_mode, gains_of_changes, solve
from sparsegen.verify import verify

Array = NDArray[np.float64]


@pytest.fixture
def problem(two_classes: Rows) -> tuple[Array, Array]:
    """Candidate columns and targets of 60 rows."""
    X, y = two_classes[0][:60], two_classes[1][:60]
    return KERNELS["rbf"].bind(gamma=1.0).gram(X, X), y.astype(float)


def columns(P: Array, used: list[int]) -> Array:
    return np.column_stack([P[:, used], np.ones(len(P))])


def precisions(alpha: Array) -> Array:
    return np.append(alpha, BIAS_PRECISION)


@parametrize_with_checks([RVM()])
def test_scikit_learn_accepts_it(estimator: SparseClassifier, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("used", [[], [3], [0, 17, 30, 41]])
def test_mode_and_evidence_are_the_definitions(used: list[int], problem: tuple[Array, Array]) -> None:
    P, t = problem
    alpha = np.linspace(0.1, 2.0, len(used))
    mode = find_mode(columns(P, used), t, alpha, np.zeros(len(used) + 1))
    assert np.allclose(mode.w, reference.mode(columns(P, used), t, precisions(alpha)), atol=1e-5)
    assert mode.evidence == pytest.approx(reference.evidence(columns(P, used), t, precisions(alpha)), rel=1e-7)
    far = find_mode(columns(P, used), t, alpha, np.full(len(used) + 1, 30.0))
    assert np.allclose(far.w, mode.w, atol=1e-5)


def test_factors_are_the_definitions(problem: tuple[Array, Array]) -> None:
    P, t = problem
    used, alpha = np.array([0, 17, 30]), np.array([0.3, 1.0, 2.0])
    Phi = columns(P, [0, 17, 30])
    mode = find_mode(Phi, t, alpha, np.zeros(4))
    S, Q, own = factors(P, used, t, mode)
    precision = np.linalg.inv(np.diag(1.0 / mode.B) + Phi @ np.diag(1.0 / precisions(alpha)) @ Phi.T)
    linearised = Phi @ mode.w + (t - mode.y) / mode.B
    # A flat prior leaves C badly conditioned: compare with what its rounding allows.
    assert np.allclose(S, np.einsum("ij,ik,kj->j", P, precision, P), rtol=1e-4, atol=1e-4)
    assert np.allclose(Q, P.T @ precision @ linearised, rtol=1e-4, atol=1e-4)
    assert np.allclose(own, np.einsum("ij,i,ij->j", P, mode.B, P))


def test_gains_are_differences_of_the_evidence_with_its_curvature_fixed(
    problem: tuple[Array, Array], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rvm, "BIAS_PRECISION", 1e-2)  # for a well-conditioned C
    P, t = problem
    used, alpha = [0, 17, 30, 1], np.array([0.3, 50.0, 2.0, 0.01])
    mode = find_mode(columns(P, used), t, alpha, np.zeros(5))
    gains, best = gains_of_changes(P, np.array(used), alpha, t, mode)
    linearised = columns(P, used) @ mode.w + (t - mode.y) / mode.B

    def value(used: list[int], alpha: Array) -> float:
        return reference.gaussian_evidence(columns(P, used), np.append(alpha, 1e-2), mode.B, linearised)

    before = value(used, alpha)
    kinds = set()
    for j in range(P.shape[1]):
        if j in used and np.isfinite(best[j]):
            at = used.index(j)
            kinds.add("re-estimated")
            trials = [np.where(np.arange(4) == at, best[j] * factor, alpha) for factor in (1.0, 0.9, 1.1)]
            after, *beside = (value(used, trial) for trial in trials)
        elif j in used:
            at = used.index(j)
            kinds.add("deleted")
            after = value(used[:at] + used[at + 1 :], np.delete(alpha, at))
            beside = [value(used, np.where(np.arange(4) == at, 1e3, alpha))]
        elif gains[j] > 0.0:
            kinds.add("added")
            after, *beside = (value([*used, j], np.append(alpha, best[j] * factor)) for factor in (1.0, 0.9, 1.1))
        else:
            assert value([*used, j], np.append(alpha, 1.0)) <= before
            continue
        assert gains[j] == pytest.approx(after - before, rel=1e-5, abs=1e-6)
        assert all(after >= other - 1e-9 for other in beside)
    assert kinds == {"added", "deleted", "re-estimated"}


def test_no_change_gains_at_the_solution(problem: tuple[Array, Array]) -> None:
    P, t = problem
    found = solve(P, t, 1000, 1e-6)
    assert found.solved
    assert 0 < len(found.used) < 15
    Phi = columns(P, found.used.tolist())
    mode = find_mode(Phi, t, found.alpha, np.append(found.weights, found.bias))
    assert np.allclose(mode.w, np.append(found.weights, found.bias), atol=1e-5)
    assert gains_of_changes(P, found.used, found.alpha, t, mode)[0].max() < 1e-6


def test_evidence_is_that_of_the_slow_machine_from_the_same_start(problem: tuple[Array, Array]) -> None:
    """Both start with all columns; from none, the optimum here is another one, 0.6 lower: they are local."""
    P, t = problem[0][:40, :20], problem[1][:40]
    slow = reference.train(P, t, BIAS_PRECISION, 40)
    assert solve(P, t, 1000, 1e-5, np.arange(20)).evidence > slow - 0.1


@pytest.mark.parametrize("start", [None, np.arange(20)])
def test_solution_stays_where_it_is_under_tippings_updates(
    start: NDArray[np.intp] | None, problem: tuple[Array, Array]
) -> None:
    P, t = problem[0][:40, :20], problem[1][:40]
    found = solve(P, t, 1000, 1e-10, start)
    Phi = columns(P, found.used.tolist())
    y = 1.0 / (1.0 + np.exp(-(Phi @ np.append(found.weights, found.bias))))
    H = Phi.T @ np.diag(y * (1.0 - y)) @ Phi + np.diag(precisions(found.alpha))
    updated = (1.0 - found.alpha * np.diag(np.linalg.inv(H))[:-1]) / found.weights**2
    assert np.allclose(updated, found.alpha, rtol=1e-3)


def test_a_column_does_not_come_and_go_for_ever() -> None:
    """One row of 41 is of the class: adding its column changes the curvature so that deleting it seems to gain."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(20, 2)), rng.normal(size=(20, 2)) + 20.0, [[-20.0, 20.0]]])
    P = KERNELS["rbf"].bind(gamma=1.0 / (2.0 * X.var())).gram(X, X)
    P /= np.sqrt(np.mean(P**2, axis=0))
    found = solve(P, np.append(np.zeros(40), 1.0), 1000, 1e-3)
    assert found.solved
    assert rvm.MAX_DELETIONS < found.iterations < 50
    assert len(found.used) == 1


def test_a_precision_does_not_swing_for_ever() -> None:
    """Rows on which re-estimating one precision would go to and fro between two values."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(80, 2))
        t = (np.sin(2.0 * X[:, 0]) + X[:, 1] + 0.5 * rng.normal(size=80) > 0.0).astype(float)
        assert solve(KERNELS["rbf"].bind(gamma=2.0).gram(X, X), t, 500, 1e-4).solved


def test_columns_that_help_together_only_are_found_from_a_random_start(two_classes: Rows) -> None:
    """The middle of three points on a line, with a polynomial kernel: no single column gains much."""
    X, y = np.repeat([[0.0, 1.0], [1.0, 1.0], [2.0, 1.0]], 8, axis=0), np.repeat([0, 1, 0], 8)
    one, two = (RVM(kernel="poly", n_init=n, random_state=0).fit(X, y) for n in (1, 2))
    assert one.model_.card["fit"]["evidence"] < two.model_.card["fit"]["evidence"]
    assert two.score(X, y) == 1.0


def test_reaching_the_bound_is_announced(two_classes: Rows) -> None:
    with pytest.warns(ConvergenceWarning, match="1 of 1 machines reached max_iter=2 changes; raise it, or tol"):
        model = RVM(max_iter=2).fit(*two_classes)
    assert model.n_iter_ == 2
    assert model.model_.card["fit"]["unsolved_machines"] == 1
    assert RVM().fit(*two_classes).model_.card["fit"]["unsolved_machines"] == 0


def test_training_stops_where_no_change_is_expected_to_gain_tol(problem: tuple[Array, Array]) -> None:
    """The rule is about the gain with the curvature held fixed: a larger tol stops earlier along the same road."""
    P, t = problem
    fine = solve(P, t, 1000, 1e-9)
    for tol in (1.0, 1e-2, 1e-5):
        found = solve(P, t, 1000, tol)
        assert found.solved
        assert found.iterations <= fine.iterations
        mode = find_mode(columns(P, found.used.tolist()), t, found.alpha, np.append(found.weights, found.bias))
        assert gains_of_changes(P, found.used, found.alpha, t, mode)[0].max() <= tol + 1e-7


def test_far_fewer_vectors_than_the_svm_at_its_accuracy(two_classes: Rows) -> None:
    svm, model = SVM().fit(*two_classes), RVM(random_state=0).fit(*two_classes)
    assert model.model_.n_vectors < svm.model_.n_vectors / 3
    assert model.score(*two_classes) > svm.score(*two_classes) - 0.04


def test_several_classes_share_a_vector_table(four_classes: Rows) -> None:
    X, y = four_classes
    model = RVM().fit(X, y)
    assert model.model_.coef.shape == (4, 1, model.model_.n_vectors)
    assert {tuple(row) for row in model.vectors_} <= {tuple(row) for row in X}
    assert len(np.unique(model.vectors_, axis=0)) == model.model_.n_vectors
    assert model.score(X, y) > 0.7


@pytest.mark.parametrize("kernel", KERNELS)
def test_every_kernel(kernel: str, two_classes: Rows) -> None:
    X, y = two_classes
    model = RVM(kernel=kernel, degree=2).fit(X, y)
    assert model.score(X, y) > 0.75
    assert model.model_.n_vectors <= 40


def test_scores_are_log_odds() -> None:
    """Rows without information: the score is the log odds of the classes."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 1)), np.repeat([0, 1], (150, 50))
    assert np.allclose(RVM(gamma=1e-6).fit(rng.permutation(X), y).decision_function(X), np.log(1 / 3), atol=0.3)


def test_candidates_are_different_rows_and_bounded(two_classes: Rows) -> None:
    X, y = two_classes
    model = RVM(n_candidates=5, random_state=0).fit(X, y)
    assert model.model_.n_vectors <= 5
    twice = RVM(n_candidates=len(X)).fit(np.vstack([X, X]), np.append(y, y))
    assert len(np.unique(twice.vectors_, axis=0)) == twice.model_.n_vectors


@pytest.mark.parametrize("options", [{}, {"n_candidates": 40}])
def test_same_seed_same_bytes(options: dict[str, Any], four_classes: Rows) -> None:
    one, two = (RVM(random_state=3, **options).fit(*four_classes) for _ in range(2))
    assert one.model_.to_bytes() == two.model_.to_bytes()


@pytest.mark.parametrize("kernel", KERNELS)
def test_duplicates_and_constant_features_are_no_trouble(kernel: str) -> None:
    """The same row in both classes, a constant and an equal feature."""
    X = np.repeat([[0.0, 1.0, 1.0], [1.0, 1.0, 1.0], [2.0, 1.0, 1.0]], 8, axis=0)
    y = np.repeat([0, 1, 0], 8)
    y[0] = 1
    model = RVM(kernel=kernel, random_state=0).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    assert model.model_.n_vectors <= 3
    assert model.score(X, y) == (23 / 24 if kernel != "linear" else pytest.approx(15 / 24))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("value", [0.0, 1.0])
def test_data_without_any_variation(kernel: str, value: float) -> None:
    X, y = np.full((10, 2), value), np.array([0] * 6 + [1] * 4)
    model = RVM(kernel=kernel).fit(X, y)
    assert (model.predict(X) == 0).all()
    assert np.allclose(model.decision_function(X), np.log(4 / 6), atol=1e-6)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_separable_classes_and_a_class_of_one_row(scale: float) -> None:
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(20, 2)), rng.normal(size=(20, 2)) + 20.0, [[-20.0, 20.0]]])
    y = np.repeat([0, 1, 2], (20, 20, 1))
    model = RVM().fit(scale * X, y)
    assert np.isfinite(model.decision_function(scale * X)).all()
    assert model.score(scale * X, y) >= 40 / 41
    assert model.model_.n_vectors <= 6


@pytest.mark.parametrize("kernel", ["linear", "poly"])
def test_large_features_are_no_trouble(kernel: str, four_classes: Rows) -> None:
    X, y = four_classes
    model = RVM(kernel=kernel, gamma=1.0).fit(1e3 * X, y)
    assert np.isfinite(model.decision_function(1e3 * X)).all()


def test_progress_counts_changes(two_classes: Rows) -> None:
    remarks: list[str] = []

    class Reporter:
        def start(self, title: str, total: int) -> tuple[progress.Advance, Callable[[], None]]:
            remarks.append(f"{title}/{total}")
            return remarks.append, lambda: remarks.append("end")

    with progress.reporting(Reporter()):
        RVM(max_iter=500).fit(*two_classes)
    assert remarks[0] == "training rvm, start 1 of 2/500"
    assert remarks[1].startswith("log evidence ")
    assert remarks[-1] == "end"


def test_the_c_export_agrees(four_classes: Rows) -> None:
    X, y = four_classes
    model = RVM(random_state=0).fit(X, y).model_
    assert all(verdict.ok for verdict in verify(model, X, devices=["host"]))
