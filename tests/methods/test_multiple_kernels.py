from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from reference import Rows
from repeated_rows import expected_failures
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks
from three_kernels import GAMMAS, LOSSES, fact, over, signs, stack

from sparsegen import SLMC, SVM, progress
from sparsegen.errors import OptionError
from sparsegen.kernels import KERNELS
from sparsegen.methods.mksvm import MKSVM
from sparsegen.methods.shared.estimator import SparseClassifier
from sparsegen.methods.shared.mixture_search import End, MixtureSearch, SparseMixture
from sparsegen.methods.shared.multiple_kernels import (
    MixtureClassifier,
    MixtureObjective,
    base_kernels,
)
from sparsegen.methods.smkc1 import SMKC1, Smkc1Objective
from sparsegen.methods.smkc2 import SMKC2, Smkc2Objective
from sparsegen.solvers import newton
from sparsegen.solvers.newton import Loss
from sparsegen.solvers.simplex import gap
from sparsegen.verify import verify

Array = NDArray[np.float64]
QUICK: dict[str, Any] = {"max_iter": 15, "random_state": 0}
OBJECTIVES: dict[str, type[MixtureObjective]] = {"smkc1": Smkc1Objective, "smkc2": Smkc2Objective}
SPARSE: tuple[type[SparseMixture], ...] = (SMKC1, SMKC2)
ALL: tuple[type[MixtureClassifier], ...] = (SMKC1, SMKC2, MKSVM)


@parametrize_with_checks(
    [SMKC1(4, n_kernels=2, max_iter=5), SMKC2(4, n_kernels=2, max_iter=5), MKSVM(max_iter=10)],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_accepts_it(estimator: SparseClassifier, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("kind", SPARSE)
def test_one_kernel_with_fixed_vectors_is_the_slmc_classifier(kind: type[SparseMixture], two_classes: Rows) -> None:
    X, y = two_classes
    options: dict[str, Any] = {"init": X[::15], "optimize": "coefficients", "C": 3.0, "gamma": 0.7}
    one, slmc = kind(n_kernels=1, **options).fit(X, y), SLMC(**options).fit(X, y)
    assert np.allclose(one.decision_function(X), slmc.decision_function(X), atol=1e-6)


@pytest.mark.parametrize("kind", SPARSE)
def test_one_kernel_descends_as_slmc_does(kind: type[SparseMixture], two_classes: Rows) -> None:
    one, slmc = (
        estimator.fit(*two_classes)
        for estimator in (kind(5, n_kernels=1, gamma=0.7, random_state=0), SLMC(5, gamma=0.7, random_state=0))
    )
    assert fact(one, "objective") == pytest.approx(fact(slmc, "objective"), rel=1e-6)
    assert one.n_iter_ == slmc.n_iter_


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"C": 100.0, "init": "random", "n_init": 2},
        {"C": 100.0, "optimize": "coefficients"},
        {"loss": "hinge", "max_iter": 5},
    ],
)
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("kind", SPARSE)
def test_a_mixture_ends_no_higher_than_any_of_its_kernels(
    kind: type[SparseMixture], seed: int, options: dict[str, Any]
) -> None:
    X, y = make_moons(40, noise=0.3, random_state=seed)
    gammas, options = [0.02, 0.3, 4.0], {"max_iter": 25, "random_state": seed, **options}
    mixture = kind(3, gammas=gammas, **options).fit(X, y)
    lowest = min(single_objective(gamma, seed, tuple(options.items())) for gamma in gammas)
    assert fact(mixture, "objective") <= lowest * (1.0 + 1e-6)


@cache
def single_objective(gamma: float, seed: int, options: tuple[tuple[str, Any], ...]) -> float:
    """Return where a single kernel ends on the same rows: both mixtures are compared with it."""
    X, y = make_moons(40, noise=0.3, random_state=seed)
    return fact(SLMC(3, gamma=gamma, **dict(options)).fit(X, y), "objective")


@pytest.mark.parametrize("kind", SPARSE)
def test_the_lowest_of_the_ends_wins(
    kind: type[SparseMixture], two_classes: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever of them that is, on whichever start."""
    M, ends = len(GAMMAS), MixtureSearch.ends
    for winner in (0, 2, 4):
        seen: list[End] = []

        def ranked(search: MixtureSearch, Z: Array, title: str, seen: list[End] = seen, winner: int = winner) -> Any:
            first = len(seen)
            seen.extend(replace(end, value=2.0 + i) for i, end in enumerate(ends(search, Z, title), start=first))
            if first <= winner < len(seen):
                seen[winner] = replace(seen[winner], value=1.0)
            return seen[first:]

        monkeypatch.setattr(MixtureSearch, "ends", ranked)
        model = kind(3, gammas=GAMMAS, n_init=2, init="random", max_iter=2, random_state=0).fit(*two_classes)
        assert len(seen) == 6
        assert all(end.mu.shape == (M,) for end in seen)
        assert np.array_equal(model.vectors_, seen[winner].Z)


@pytest.mark.parametrize("kind", SPARSE)
def test_more_starts_never_end_higher(kind: type[SparseMixture], two_classes: Rows) -> None:
    options: dict[str, Any] = {"init": "random", "random_state": 1, "C": 100.0, "max_iter": 10}
    one, three = (kind(3, n_kernels=3, n_init=n, **options).fit(*two_classes) for n in (1, 3))
    assert fact(three, "objective") <= fact(one, "objective") * (1.0 + 1e-9)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("estimator", [SMKC1(), SMKC2(), SMKC2(solver="gradient")])
def test_weights_are_optimal_for_the_vectors(estimator: SparseMixture, loss: str, four_classes: Rows) -> None:
    """For fixed vectors SMKC2 is convex, so the gap bounds how far W is from its minimum."""
    X, y = four_classes
    Z = X[::20]
    estimator.set_params(init=Z, optimize="coefficients", gammas=GAMMAS, loss=loss, tol=1e-3).fit(X, y)
    mu = np.zeros(3)
    weights = dict(zip(estimator.model_.kernels, fact(estimator, "kernel_weights"), strict=True))
    for k, kernel in enumerate(stack()):
        mu[k] = weights.get(kernel, 0.0)
    value, g = over(OBJECTIVES[estimator.method], X, signs(y), stack(), Loss(loss, 1.0)).in_weights(Z, mu)
    assert value == pytest.approx(fact(estimator, "objective"), rel=1e-6)
    if estimator.method == "smkc2":
        others = [
            over(OBJECTIVES["smkc2"], X, signs(y), stack(), Loss(loss, 1.0)).in_weights(Z, v)[0] for v in np.eye(3)
        ]
        assert value <= min(others) * (1.0 + 1e-3)
    assert gap(mu, g) <= 0.02 * value  # a cutting plane ends where W is close, which its gradient need not be


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", SPARSE)
def test_moving_the_vectors_lowers_the_objective(kind: type[SparseMixture], loss: str, four_classes: Rows) -> None:
    options: dict[str, Any] = {"loss": loss, "random_state": 0, "max_iter": 12, "n_kernels": 3}
    fixed, moved = (kind(5, optimize=what, **options).fit(*four_classes) for what in ("coefficients", "vectors"))
    assert fact(moved, "objective") < 0.97 * fact(fixed, "objective")
    assert 1 < moved.n_iter_ <= 24  # the best single kernel's descent, then the mixture's


def test_own_coefficients_fit_more_than_shared_ones(four_classes: Rows) -> None:
    X, y = four_classes
    options: dict[str, Any] = {"init": X[::20], "optimize": "coefficients", "gammas": GAMMAS, "tol": 1e-5}
    one, two = (kind(**options).fit(X, y) for kind in (SMKC1, SMKC2))
    assert fact(two, "objective") <= fact(one, "objective") * (1.0 + 1e-3)


@pytest.mark.parametrize("kind", ALL)
def test_classes_share_vectors_and_kernels(kind: type[MixtureClassifier], four_classes: Rows) -> None:
    X, y = four_classes
    estimator = kind(**QUICK).fit(X, y)
    model = estimator.model_
    assert model.coef.shape == (4, len(model.kernels), model.n_vectors)
    assert sum(fact(estimator, "kernel_weights")) == pytest.approx(1.0)
    assert min(fact(estimator, "kernel_weights")) > 0.0
    assert estimator.score(X, y) > 0.75


@pytest.mark.parametrize("kind", ALL)
def test_export_computes_the_same(kind: type[MixtureClassifier], four_classes: Rows) -> None:
    X, y = four_classes
    model = kind(gammas=[0.25, 0.5, 1.0], **QUICK).fit(X, y).model_
    results = verify(model, X, devices=["host"])
    assert results
    assert all(result.ok for result in results)


@pytest.mark.parametrize("options", [{}, {"init": "random"}, {"loss": "hinge"}])
@pytest.mark.parametrize("kind", SPARSE)
def test_same_seed_same_bytes(kind: type[SparseMixture], options: dict[str, Any], four_classes: Rows) -> None:
    one, two, other = (
        kind(12, max_iter=3, n_kernels=2, random_state=s, **options).fit(*four_classes) for s in (3, 3, 4)
    )
    assert one.model_.to_bytes() == two.model_.to_bytes()
    assert one.model_.vectors.tobytes() != other.model_.vectors.tobytes()


def test_gammas_around_the_middle_one_or_as_given() -> None:
    kernel = KERNELS["rbf"].bind(gamma=2.0)
    assert [dict(k.params)["gamma"] for k in base_kernels(kernel, 5, None)] == [0.125, 0.5, 2.0, 8.0, 32.0]
    assert [dict(k.params)["gamma"] for k in base_kernels(kernel, 1, None)] == [2.0]
    assert [dict(k.params)["gamma"] for k in base_kernels(kernel, 9, [3, 1, 3])] == [1.0, 3.0]


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"gammas": []}, "gammas is empty"),
        ({"gammas": [1.0, -1.0]}, "gamma is -1.0, but must be a number > 0"),
        ({"gammas": [1.0, np.nan]}, "gamma is nan"),
        ({"gammas": ["a"]}, "gammas must be numbers"),
        ({"kernel": "linear"}, "kernel 'linear' cannot be mixed: it must depend on a distance only.*laplacian, .*rbf"),
        ({"kernel": "poly"}, "kernel 'poly' cannot be mixed"),
    ],
)
def test_kernels_that_cannot_be(
    kind: type[SparseClassifier], options: dict[str, Any], message: str, two_classes: Rows
) -> None:
    with pytest.raises(OptionError, match=message):
        kind(**options).fit(*two_classes)


@pytest.mark.parametrize("kind", SPARSE)
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_vectors": 121}, "121 vectors were asked for, but there are only 120 rows"),
        ({"n_vectors": 5, "ratio": 0.1}, "n_vectors and ratio exclude each other"),
        ({"init": np.zeros((4, 3))}, r"array with 2 columns, but its shape is \(4, 3\)"),
        ({"init": np.zeros((4, 2)), "n_vectors": 5}, "init holds 4 vectors"),
    ],
)
def test_contradictions_are_one_sentence(
    kind: type[SparseMixture], options: dict[str, Any], message: str, two_classes: Rows
) -> None:
    with pytest.raises(OptionError, match=message):
        kind(**options).fit(*two_classes)


@pytest.mark.parametrize("options", [{}, {"loss": "hinge"}, {"init": "random"}, {"kernel": "laplacian"}])
@pytest.mark.parametrize("kind", ALL)
def test_duplicates_and_constant_features_are_no_trouble(
    kind: type[MixtureClassifier], options: dict[str, Any]
) -> None:
    """Fewer distinct rows than vectors, the same row in both classes, a constant and an equal feature."""
    X = np.repeat([[0.0, 1.0, 1.0], [1.0, 1.0, 1.0], [2.0, 1.0, 1.0]], 8, axis=0)
    y = np.repeat([0, 1, 0], 8)
    y[0] = 1
    if kind is MKSVM:
        options = {k: v for k, v in options.items() if k == "kernel"}
    else:
        options = {"n_vectors": 10, "max_iter": 20, **options}
    model = kind(C=10.0, random_state=0, **options).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    assert model.score(X, y) == 23 / 24


@pytest.mark.parametrize("kind", ALL)
def test_data_without_any_variation(kind: type[MixtureClassifier]) -> None:
    X, y = np.zeros((10, 2)), np.array([0] * 7 + [1] * 3)
    assert (kind(random_state=0).fit(X, y).predict(X) == 0).all()


@pytest.mark.parametrize("kind", ALL)
def test_separable_rows_and_a_class_of_one_row(kind: type[MixtureClassifier]) -> None:
    rng = np.random.default_rng(1)
    X = np.vstack([rng.normal(0.0, 0.1, (20, 2)), rng.normal(3.0, 0.1, (20, 2)), [[0.0, 3.0]]])
    y = np.repeat([0, 1, 2], (20, 20, 1))
    assert kind(C=100.0, random_state=0).fit(X, y).score(X, y) == 1.0


def test_ratio_is_a_share_of_the_svm(two_classes: Rows) -> None:
    support = SVM().fit(*two_classes).model_.n_vectors
    assert SMKC1(ratio=0.25, max_iter=2).fit(*two_classes).model_.n_vectors == int(np.ceil(0.25 * support))


@pytest.mark.parametrize("kind", SPARSE)
def test_progress_counts_iterations(kind: type[SparseMixture], two_classes: Rows) -> None:
    remarks: list[str] = []

    class Reporter:
        def start(self, title: str, total: int) -> tuple[progress.Advance, Callable[[], None]]:
            remarks.append(f"{title}/{total}")
            return remarks.append, lambda: remarks.append("end")

    with progress.reporting(Reporter()):
        model = kind(3, max_iter=15, n_kernels=2, random_state=0).fit(*two_classes)
        kind(3, max_iter=15, n_kernels=1, n_init=2, random_state=0).fit(*two_classes)
    started = [remark.removeprefix(f"training {kind.method}") for remark in remarks if remark.startswith("training")]
    assert started == [
        *(", kernel 1 of 2/15", ", kernel 2 of 2/15", ", from all kernels/15", ", from the best kernel/15"),
        *(", start 1 of 2/15", ", start 2 of 2/15"),
    ]
    assert remarks.count("end") == len(started)
    assert len(remarks) > 2 * len(started) + model.n_iter_


def test_coefficients_short_of_the_optimum_are_announced(two_classes: Rows, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(newton, "MAX_NEWTON", 1)
    with pytest.warns(ConvergenceWarning, match="scale the features or lower C"):
        SMKC1(5, C=100.0, optimize="coefficients", n_kernels=1).fit(*two_classes)


@pytest.mark.parametrize("kind", [*SPARSE, SLMC])
def test_vectors_too_far_away_to_feel_the_rows(kind: type[SparseMixture] | type[SLMC], two_classes: Rows) -> None:
    """Their gradient is a number so small that its square is zero."""
    X, y = two_classes
    options: dict[str, Any] = {} if kind is SLMC else {"n_kernels": 1}
    for distance in np.linspace(14.0, 22.0, 17):
        Z = X.mean(axis=0) + distance * np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
        model = kind(init=Z, gamma=1.0, **options).fit(X, y)
        assert np.isfinite(model.model_.vectors).all()
