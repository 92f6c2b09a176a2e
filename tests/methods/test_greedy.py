from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from reference import Rows
from reference import greedy as reference
from reference import kernels as reference_kernels
from repeated_rows import expected_failures
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from sparsegen import SLMC, progress
from sparsegen.errors import OptionError
from sparsegen.kernels import KERNELS, BoundKernel
from sparsegen.methods import METHODS
from sparsegen.methods.shared import growth as _growth
from sparsegen.methods.shared.estimator import SparseClassifier, sign_matrix
from sparsegen.methods.shared.greedy import UNREGULARIZED_LAM, GreedyClassifier
from sparsegen.methods.shared.growth import DistinctRows, Growth
from sparsegen.methods.spsvm import SpSVM
from sparsegen.solvers.greedy import GrowingMachine, score_columns
from sparsegen.verify import verify

Array = NDArray[np.float64]
GREEDY = ("spsvm", "kmp", "mark", "gsvc", "smola")
WITH_CANDIDATES = ("spsvm", "kmp", "mark")
RANDOM = ("spsvm", "kmp", "mark", "gsvc")  # Smola's criterion looks at every active row


def greedy(name: str) -> type[GreedyClassifier]:
    family = METHODS[name]
    assert issubclass(family, GreedyClassifier)
    return family


def signs(y: NDArray[np.int64]) -> Array:
    return sign_matrix(y, int(y.max()) + 1)


def objective_of(model: SparseClassifier) -> float:
    return float(model.model_.card["fit"]["objective"])


def rows_of(model: SparseClassifier, X: Array) -> list[int]:
    """Which rows of X the vectors are."""
    return [int(np.flatnonzero((z == X).all(axis=1))[0]) for z in model.vectors_]


def hinge_of(name: str) -> bool:
    return getattr(greedy(name)(), "loss", "squared_hinge") == "squared_hinge"


@parametrize_with_checks([greedy(name)(4) for name in GREEDY], expected_failed_checks=expected_failures)
def test_scikit_learn_accepts_it(estimator: SparseClassifier, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", GREEDY)
def test_coefficients_are_optimal_on_the_merged_table(
    name: str, kernel: str, fit_intercept: bool, four_classes: Rows
) -> None:
    X, y = four_classes
    options: dict[str, Any] = {"C": 2.0, "gamma": 0.5, "degree": 2}
    model = greedy(name)(9, kernel=kernel, fit_intercept=fit_intercept, random_state=0, **options).fit(X, y)
    K = reference_kernels.gram(kernel, dict(model.model_.kernels[0].params), X, X)
    J, lam = rows_of(model, X), 1.0 / 4.0
    values = [reference.optimum(K, J, column, lam, hinge_of(name), fit_intercept)[0] for column in signs(y).T]
    assert objective_of(model) == pytest.approx(sum(values) / lam, rel=1e-6)
    assert fit_intercept == bool(np.any(model.intercept_))
    parts = [
        reference.objective(beta, float(b), K, J, column, lam, hinge_of(name))
        for beta, b, column in zip(model.dual_coef_, model.intercept_, signs(y).T, strict=True)
    ]
    assert objective_of(model) == pytest.approx(sum(parts) / lam, rel=1e-6)


def test_objective_is_slmcs_for_the_same_vectors(two_classes: Rows) -> None:
    """C means what it means there."""
    X, y = two_classes
    model = SpSVM(6, C=3.0, gamma=0.5, random_state=0).fit(X, y)
    other = SLMC(init=model.vectors_, optimize="coefficients", C=3.0, gamma=0.5).fit(X, y)
    assert objective_of(model) == pytest.approx(objective_of(other), rel=1e-4)
    assert np.allclose(model.decision_function(X), other.decision_function(X), atol=1e-2)


@pytest.mark.parametrize("selection", [1, 2])
@pytest.mark.parametrize("name", ["spsvm", "kmp"])
def test_every_candidate_is_the_slow_greedy_loop(name: str, selection: int, two_classes: Rows) -> None:
    X, y = two_classes[0][:50], two_classes[1][:50]
    Y, lam, hinge = signs(y)[:, 0], 0.25, hinge_of(name)
    K = reference_kernels.gram("rbf", {"gamma": 0.5}, X, X)

    def score(j: int, J: list[int], value: float, o: Array) -> float:
        if selection == 1:
            return value - reference.optimum(K, [*J, j], Y, lam, hinge, False)[0]
        # Without a bias, o_j = K_jJ beta.
        return reference.score_column(K[j], float(o[j]), float(K[j, j]), o, Y, lam, hinge)[0]

    expected = reference.greedy(K, Y, lam, hinge, False, 4, score)
    options: dict[str, Any] = {"n_candidates": None, "selection": selection, "fit_intercept": False, "C": 2.0}
    model = greedy(name)(4, gamma=0.5, **options).fit(X, y)
    assert sorted(rows_of(model, X)) == sorted(expected)


def chosen_by_rule(name: str, X: Array, y: NDArray[np.int64], score: reference.Score, **options: Any) -> None:
    """The rows a method chooses are those of the slow greedy loop under its rule."""
    K = reference_kernels.gram("rbf", {"gamma": 0.5}, X, X)
    hinge = options.get("loss", "squared_hinge") == "squared_hinge"
    expected = reference.greedy(K, signs(y)[:, 0], 0.25, hinge, False, 5, score)
    model = greedy(name)(5, gamma=0.5, C=2.0, fit_intercept=False, **options).fit(X, y)
    assert sorted(rows_of(model, X)) == sorted(expected)


@pytest.mark.parametrize("loss", ["squared", "squared_hinge"])
def test_mark_follows_the_gradient(loss: str, two_classes: Rows) -> None:
    X, y = two_classes
    Y = signs(y)[:, 0]
    K = reference_kernels.gram("rbf", {"gamma": 0.5}, X, X)

    def derivative(j: int, J: list[int], value: float, o: Array) -> float:
        def at(t: float) -> float:
            return 0.25 * t * float(o[j]) + reference.loss(Y, o + t * K[j], loss == "squared_hinge")

        return abs(at(1e-6) - at(-1e-6))

    chosen_by_rule("mark", X, y, derivative, n_candidates=None, loss=loss)


@pytest.mark.parametrize("shrinking", [False, True])
def test_smola_takes_slack_times_distance(shrinking: bool, two_classes: Rows, monkeypatch: pytest.MonkeyPatch) -> None:
    """[K06, eq. 9]"""
    monkeypatch.setattr(_growth, "SHRINK_AFTER", 2)
    monkeypatch.setattr(_growth, "SHRINK_SHARE", 0.01)
    X, y = two_classes
    Y = signs(y)[:, 0]
    K = reference_kernels.gram("rbf", {"gamma": 0.5}, X, X)

    def score(j: int, J: list[int], value: float, o: Array) -> float:
        near = K[j, J] @ np.linalg.solve(K[np.ix_(J, J)], K[J, j]) if J else 0.0
        return float(max(0.0, 1.0 - Y[j] * o[j]) ** 2 * (K[j, j] - near))

    chosen_by_rule("smola", X, y, score, shrinking=shrinking)


def test_gsvc_takes_the_active_row_least_like_the_chosen(two_classes: Rows) -> None:
    """[K06, eq. 8], from the same first row."""
    X, y = two_classes
    Y = signs(y)[:, 0]
    K = reference_kernels.gram("rbf", {"gamma": 0.5}, X, X)
    (first,) = rows_of(greedy("gsvc")(1, gamma=0.5, random_state=0).fit(X, y), X)

    def score(j: int, J: list[int], value: float, o: Array) -> float:
        if not J:
            return float(j == first)
        return -float(np.abs(K[j, J]).max()) if Y[j] * o[j] < 1.0 else -np.inf

    chosen_by_rule("gsvc", X, y, score, random_state=0)


@pytest.mark.parametrize("name", GREEDY)
def test_more_vectors_lower_the_objective_towards_the_svm(name: str, two_classes: Rows) -> None:
    X, y = two_classes
    values = [objective_of(greedy(name)(m, gamma=0.5, random_state=0).fit(X, y)) for m in (1, 2, 4, 8, 16, 32)]
    assert values == sorted(values, reverse=True)
    K = reference_kernels.gram("rbf", {"gamma": 0.5}, X, X)
    full = reference.optimum(K, list(range(len(X))), signs(y)[:, 0], 0.5, hinge_of(name), True)[0] / 0.5
    assert full * (1 - 1e-6) <= values[-1] < 1.1 * full


def test_what_is_gained_is_worth_choosing(two_classes: Rows) -> None:
    """Ten chosen rows do better than ten random ones, and method 1 than method 2 (here, not always)."""
    X, y = two_classes
    chosen = {s: objective_of(SpSVM(8, gamma=2.0, selection=s, random_state=0).fit(X, y)) for s in (1, 2)}
    drawn = [objective_of(SpSVM(8, gamma=2.0, n_candidates=1, random_state=s).fit(X, y)) for s in range(5)]
    assert max(chosen.values()) < min(drawn)
    assert chosen[1] <= 1.01 * chosen[2]


@pytest.mark.parametrize("name", [name for name in GREEDY if "regularize" in greedy(name)().get_params()])
def test_without_regularisation_c_does_not_matter(name: str, two_classes: Rows) -> None:
    X, y = two_classes
    one, two = (greedy(name)(5, C=C, random_state=0).set_params(regularize=False).fit(X, y) for C in (0.1, 10.0))
    assert np.array_equal(one.dual_coef_, two.dual_coef_)
    same = greedy(name)(5, C=0.5 / UNREGULARIZED_LAM, random_state=0).fit(X, y)
    assert np.allclose(one.dual_coef_, same.dual_coef_, rtol=1e-6)


@pytest.mark.parametrize("retrain", ["always", "geometric"])
@pytest.mark.parametrize("name", GREEDY)
def test_retraining_now_and_then_ends_at_an_optimum_too(name: str, retrain: str, two_classes: Rows) -> None:
    X, y = two_classes
    model = greedy(name)(13, gamma=0.5, retrain=retrain, random_state=0).fit(X, y)
    K = reference_kernels.gram("rbf", {"gamma": 0.5}, X, X)
    best = reference.optimum(K, rows_of(model, X), signs(y)[:, 0], 0.5, hinge_of(name), True)[0] / 0.5
    assert objective_of(model) == pytest.approx(best, rel=1e-7)
    assert model.model_.n_vectors == 13


def clouds(n: int = 600) -> Rows:
    """Two clouds far apart compared with their width, and a few rows of each in the other."""
    rng = np.random.default_rng(5)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, 2)) + 4.0 * y[:, None]
    return X, np.where(rng.random(n) < 0.02, 1 - y, y)


def test_shrinking_changes_the_work_not_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = clouds()
    left: list[int] = []
    keep = GrowingMachine.keep

    def counted(self: GrowingMachine, rows: NDArray[np.bool_]) -> None:
        left.append(int(rows.sum()))
        keep(self, rows)

    monkeypatch.setattr(GrowingMachine, "keep", counted)
    options: dict[str, Any] = {"gamma": 0.05, "C": 10.0, "random_state": 0}
    plain, shrunk = (SpSVM(30, shrinking=shrinking, **options).fit(X, y) for shrinking in (False, True))
    assert left
    assert left[-1] < 0.5 * len(X)
    assert objective_of(shrunk) == pytest.approx(objective_of(plain), rel=0.02)
    K = reference_kernels.gram("rbf", {"gamma": 0.05}, X, X)
    best = reference.optimum(K, rows_of(shrunk, X), signs(y)[:, 0], 0.05, True, True)[0] / 0.05
    assert objective_of(shrunk) == pytest.approx(best, rel=1e-5)  # of all rows, also those left out before


@pytest.mark.parametrize("name", WITH_CANDIDATES)
def test_the_cache_changes_the_work_not_the_machine(name: str, four_classes: Rows) -> None:
    X, y = four_classes
    none, some, all_rows = (
        greedy(name)(12, random_state=0).set_params(cache_bytes=size).fit(X, y) for size in (0, 8 * 160 * 20, 1 << 27)
    )
    assert np.array_equal(none.vectors_, some.vectors_)
    assert np.array_equal(none.vectors_, all_rows.vectors_)
    assert np.allclose(none.dual_coef_, all_rows.dual_coef_, rtol=1e-9)


def test_columns_by_blocks_are_the_columns(two_classes: Rows, monkeypatch: pytest.MonkeyPatch) -> None:
    X, _ = two_classes
    kernel = KERNELS["rbf"].bind(gamma=0.7)
    whole = kernel.gram(X[:3], X)
    widths: list[int] = []
    real = BoundKernel.gram

    def counted(self: BoundKernel, left: Array, right: Array) -> Array:
        widths.append(len(right))
        return real(self, left, right)

    monkeypatch.setattr(BoundKernel, "gram", counted)
    monkeypatch.setattr(_growth, "GRAM_BYTES", 8 * 3 * 50)
    np.testing.assert_allclose(_growth.gram(kernel, X[:3], X), whole, rtol=1e-12)
    assert widths == [50, 50, 20]


def test_the_cache_is_bounded_and_spares_kernels(two_classes: Rows) -> None:
    X, y = two_classes
    kernel = KERNELS["rbf"].bind(gamma=0.5)
    growth = Growth(DistinctRows(X), kernel, GrowingMachine(signs(y)[:, 0], 0.5), 8 * 120 * 7)
    growth.block(np.arange(5))
    growth.block(np.arange(3, 9))
    assert list(growth._cache) == [2, 3, 4, 5, 6, 7, 8]
    block = growth.block(np.array([8, 100]))
    assert np.allclose(block.columns, kernel.gram(X[[8, 100]], X))
    assert block.cross.shape == (2, 0)
    assert np.array_equal(block.diagonal, [1.0, 1.0])
    assert sum(column.nbytes for column in growth._cache.values()) <= 8 * 120 * 7
    assert all(column.base is None for column in growth._cache.values())  # no view that keeps a whole block alive


def test_blocks_of_candidates_are_one_block(two_classes: Rows, monkeypatch: pytest.MonkeyPatch) -> None:
    """Never an n x n matrix, even where every row is a candidate."""
    X, y = two_classes
    whole = SpSVM(6, n_candidates=None, cache_bytes=0).fit(X, y)
    monkeypatch.setattr(_growth, "BLOCK_BYTES", 8 * 120 * 7)
    widths: list[int] = []

    def counted(columns: Array, *rest: Any) -> None:
        widths.append(len(columns))
        score_columns(columns, *rest)

    monkeypatch.setattr(_growth, "score_columns", counted)
    parts = SpSVM(6, n_candidates=None, cache_bytes=0).fit(X, y)
    assert max(widths) == 7
    assert np.array_equal(whole.vectors_, parts.vectors_)


@pytest.mark.parametrize("name", GREEDY)
def test_same_seed_same_bytes(name: str, four_classes: Rows) -> None:
    one, two, other = (greedy(name)(12, random_state=s).fit(*four_classes) for s in (3, 3, 4))
    assert one.model_.to_bytes() == two.model_.to_bytes()
    assert (one.model_.vectors.tobytes() != other.model_.vectors.tobytes()) == (name in RANDOM)


@pytest.mark.parametrize("name", GREEDY)
def test_classes_share_one_table(name: str, four_classes: Rows) -> None:
    X, y = four_classes
    for m in (1, 3, 4, 10, 40):
        model = greedy(name)(m, random_state=0).fit(X, y).model_
        assert 0.6 * m <= model.n_vectors <= m
        assert len(np.unique(model.vectors, axis=0)) == model.n_vectors
        assert model.coef.shape == (4, 1, model.n_vectors)
        assert np.count_nonzero(model.coef) == model.coef.size
    assert greedy(name)(40, random_state=0).fit(X, y).score(X, y) > 0.75


@pytest.mark.parametrize("name", GREEDY)
def test_number_of_vectors(name: str, two_classes: Rows, four_classes: Rows) -> None:
    assert greedy(name)(random_state=0).fit(*two_classes).model_.n_vectors == 16
    X, y = four_classes
    assert greedy(name)(random_state=0).fit(X, np.arange(len(y)) % 8).model_.n_vectors <= 24
    assert greedy(name)(random_state=0).fit(X[:10], y[:10]).model_.n_vectors <= 10
    with pytest.raises(OptionError, match="121 vectors were asked for, but there are only 120 rows"):
        greedy(name)(121).fit(*two_classes)


def test_equal_rows_are_one_candidate() -> None:
    rows = DistinctRows(np.array([[1.0, 0.0], [2.0, 0.0], [1.0, -0.0], [3.0, 1.0], [2.0, 0.0]]))
    assert rows.group.tolist() == [0, 1, 0, 2, 1]
    assert rows.distinct.tolist() == [0, 1, 3]
    growth = Growth(rows, KERNELS["rbf"].bind(gamma=0.5), GrowingMachine(np.array([1.0, 1.0, -1.0, 1.0, -1.0]), 0.5), 0)
    assert growth.draw(None, np.random.RandomState(0)).tolist() == [0, 1, 3]
    assert growth.add(2, None)
    assert growth.draw(None, np.random.RandomState(0)).tolist() == [1, 3]
    assert growth.active()[0].tolist() == [1, 3, 4]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", GREEDY)
def test_duplicates_and_constant_features_are_no_trouble(name: str, kernel: str) -> None:
    """Fewer distinct rows than vectors, the same row in both classes, a constant and an equal feature."""
    X = np.repeat([[0.0, 1.0, 1.0], [1.0, 1.0, 1.0], [2.0, 1.0, 1.0]], 8, axis=0)
    y = np.repeat([0, 1, 0], 8)
    y[0] = 1
    model = greedy(name)(10, kernel=kernel, C=10.0, random_state=0).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    assert 1 <= model.model_.n_vectors <= 3
    assert model.score(X, y) == (23 / 24 if kernel != "linear" else pytest.approx(15 / 24))


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", GREEDY)
def test_data_without_any_variation(name: str, kernel: str, fit_intercept: bool) -> None:
    """All kernel rows are equal: at most one vector helps."""
    X, y = np.zeros((10, 2)), np.array([0] * 7 + [1] * 3)
    model = greedy(name)(2, kernel=kernel, fit_intercept=fit_intercept, random_state=0).fit(X, y)
    assert model.model_.n_vectors == 1
    assert np.isfinite(model.decision_function(X)).all()
    if fit_intercept or kernel != "linear":
        assert (model.predict(X) == 0).all()


@pytest.mark.parametrize("name", GREEDY)
def test_separable_data_and_a_class_of_one_row(name: str) -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(40, 2))
    y = (X[:, 0] > 0).astype(int)
    X[:, 0] += 3.0 * np.where(y == 1, 1.0, -1.0)
    assert greedy(name)(4, C=1e6, random_state=0).fit(X, y).score(X, y) == 1.0
    one = np.zeros(40, dtype=int)
    one[7] = 1
    X[7] = 8.0
    model = greedy(name)(8, C=100.0, gamma=0.5, random_state=0).fit(X, one)
    assert np.isfinite(model.decision_function(X)).all()
    assert np.flatnonzero(model.predict(X)).tolist() == [7]
    three = one.copy()
    three[:5] = 2
    assert set(greedy(name)(8, C=100.0, random_state=0).fit(X, three).predict(X).tolist()) <= {0, 1, 2}


@pytest.mark.parametrize("name", GREEDY)
def test_time_and_tolerance_end_the_growth(name: str, two_classes: Rows, four_classes: Rows) -> None:
    assert greedy(name)(60, max_seconds=1e-9, random_state=0).fit(*two_classes).model_.n_vectors == 1
    assert 1 <= greedy(name)(60, max_seconds=1e-9, random_state=0).fit(*four_classes).model_.n_vectors <= 4
    full = greedy(name)(40, gamma=2.0, random_state=0).fit(*two_classes)
    short = greedy(name)(40, gamma=2.0, tol=0.05, random_state=0).fit(*two_classes)
    assert full.model_.n_vectors == 40
    assert short.model_.n_vectors < 20


@pytest.mark.parametrize("name", GREEDY)
def test_coefficients_short_of_the_optimum_are_announced(name: str, two_classes: Rows) -> None:
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        greedy(name)(10, C=1e4, max_iter=1, random_state=0).fit(*two_classes)


@pytest.mark.parametrize("name", GREEDY)
def test_progress_counts_vectors(name: str, two_classes: Rows) -> None:
    remarks: list[str] = []

    class Reporter:
        def start(self, title: str, total: int) -> tuple[progress.Advance, Callable[[], None]]:
            remarks.append(f"{title}/{total}")
            return remarks.append, lambda: remarks.append("end")

    with progress.reporting(Reporter()):
        greedy(name)(5, random_state=0).fit(*two_classes)
    assert remarks[0] == f"training {name}/5"
    assert remarks[-1] == "end"
    assert len(remarks) == 2 + 5


@pytest.mark.parametrize("name", GREEDY)
def test_the_export_computes_the_same(name: str, four_classes: Rows) -> None:
    X, y = four_classes
    model = greedy(name)(20, random_state=0).fit(X, y).model_
    verdicts = verify(model, X, devices=["host"])
    assert verdicts
    assert all(verdict.ok for verdict in verdicts)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"selection": 3}, "selection"),
        ({"n_candidates": 0}, "n_candidates"),
        ({"cache_bytes": -1}, "cache_bytes"),
        ({"retrain": "never"}, "retrain"),
        ({"max_seconds": 0.0}, "max_seconds"),
        ({"max_iter": 0}, "max_iter"),
        ({"tol": -1.0}, "tol"),
        ({"n_vectors": 0}, "n_vectors"),
    ],
)
def test_parameters_are_checked(options: dict[str, Any], message: str, two_classes: Rows) -> None:
    with pytest.raises(ValueError, match=message):
        SpSVM(**options).fit(*two_classes)
