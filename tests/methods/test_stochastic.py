"""SLMC by minibatches: gradients, reproducibility, the end it shares with the exact descent, pooled projections."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from reference.adam import slow_adam
from sklearn.datasets import load_digits, make_blobs
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sparsegen import SLMC, from_sklearn, progress
from sparsegen.errors import OptionError
from sparsegen.kernels import KERNELS
from sparsegen.methods import slmc
from sparsegen.methods.shared.feature_map import SMALLEST_FACTOR
from sparsegen.methods.shared.pooling import Pooling
from sparsegen.methods.shared.slmc_objective import SlmcObjective
from sparsegen.methods.shared.stochastic import BATCH, MinibatchObjective, n_steps, start_rows
from sparsegen.solvers.adam import adam, minibatches
from sparsegen.solvers.newton import Loss

MAPS = ("none", "scales", "projection")
STEPS = 60


def problem(seed: int = 0, n: int = 90, d: int = 4, n_classes: int = 3):
    X, y = make_blobs(n, d, centers=n_classes, cluster_std=3.0, random_state=seed)
    Y = np.where(y[:, None] == np.arange(n_classes), 1.0, -1.0)
    return X / X.std(), y, Y


def feature_map(kind: str, d: int, rng: np.random.Generator):
    if kind == "none":
        return None
    return rng.uniform(0.5, 1.5, d) if kind == "scales" else rng.normal(size=(2, d))


def quiet(_: str) -> None:
    pass


@pytest.mark.parametrize("kind", MAPS)
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "poly"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_gradients_are_those_of_the_mean_objective(kind: str, kernel: str, loss: str) -> None:
    """The objective, written out in float64, changes along random directions as the float32 gradients say."""
    rng = np.random.default_rng(3)
    X, _, Y = problem()
    P0 = feature_map(kind, X.shape[1], rng)
    Z = rng.normal(size=(5, X.shape[1] if P0 is None or P0.ndim == 1 else len(P0)))
    bound = KERNELS[kernel].bind(**({"degree": 2} if kernel == "poly" else {}))
    C, rho, offset = 2.0, 3.0, X.mean(axis=0)
    batches = MinibatchObjective(X, Y, bound, Loss(loss, C), Z, P0, rho=rho, offset=offset)
    theta = [np.asarray(one, np.float64) for one in batches.theta]
    theta[1] = rng.normal(size=theta[1].shape) * 0.3
    if P0 is not None:
        theta[3] = theta[3] * 1.1

    def value(at: list[np.ndarray]) -> float:
        Z, A, b = at[:3]
        seen = X - offset
        if P0 is not None:
            seen = seen * at[3] if P0.ndim == 1 else seen @ at[3].T
        slack = np.maximum(0.0, 1.0 - Y * (bound.gram(seen, Z) @ A + b))
        mean = (slack if loss == "hinge" else slack**2).sum() / len(X)
        held = 0.0 if P0 is None else rho * ((at[3] - P0) ** 2).sum()
        return float(mean + (np.einsum("uk,uv,vk->", A, bound.gram(Z, Z), A) + held) / (2.0 * C * len(X)))

    for mine, given in zip(batches.theta, theta, strict=True):
        mine[...] = given
    found = batches.gradients(np.arange(len(X)))
    assert all(one.dtype == np.float32 for one in found)
    for _ in range(4):
        directions = [rng.normal(size=one.shape) for one in theta]
        slope = sum(float((g * d).sum()) for g, d in zip(found, directions, strict=True))
        step = 1e-6
        ahead, behind = (
            value([one + sign * step * d for one, d in zip(theta, directions, strict=True)]) for sign in (1, -1)
        )
        size = sum(float(np.abs(g * d).sum()) for g, d in zip(found, directions, strict=True))
        assert abs((ahead - behind) / (2.0 * step) - slope) <= 1e-4 * size


def test_adam_takes_the_steps_of_its_slow_twin() -> None:
    rng = np.random.default_rng(0)
    targets = rng.normal(size=(40, 3)).astype(np.float32)
    theta = [np.zeros(3, np.float32), np.ones((2, 3), np.float32)]

    def gradients(at, rows):
        return [at[0] - targets[rows].mean(axis=0), at[1] * targets[rows].mean()]

    slow = slow_adam([one.astype(np.float64) for one in theta], [0.1, 0.02], gradients, 40, 16, 25, 7)
    seen: list[int] = []

    def mine(rows):
        seen.extend(rows)
        return gradients(theta, rows)

    adam(theta, [0.1, 0.02], mine, minibatches(40, 16, np.random.RandomState(7)), steps=25, advance=quiet)
    for one, other in zip(theta, slow, strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-4, atol=2e-5)
    assert len(seen) == 25 * 16
    assert len(set(seen[:32])) == 32, "an epoch takes no row twice"


def test_steps_grow_with_the_rows() -> None:
    assert n_steps(100) == n_steps(10_000) == 6000
    assert n_steps(1_000_000) == -(-20 * 1_000_000 // BATCH)


def test_start_rows_hold_every_class_in_proportion() -> None:
    y = np.repeat([0, 1, 2], [20_000, 10_000, 20])
    Y = np.where(y[:, None] == np.arange(3), 1.0, -1.0)
    few = start_rows(Y, 10, np.random.RandomState(0))
    counts = np.bincount(y[few])
    assert 8000 <= len(few) <= 8003
    assert len(np.unique(few)) == len(few)
    assert counts[2] == 6
    assert counts[0] == 2 * counts[1] or abs(counts[0] - 2 * counts[1]) == 1
    assert len(start_rows(Y[:500], 10, np.random.RandomState(0))) == 500
    assert len(start_rows(Y, 5000, np.random.RandomState(0))) >= 20_000, "four rows a vector at least"


@pytest.mark.parametrize(
    "settings",
    [{}, {"projection": 2}, {"feature_scales": True}, {"kernel": "laplacian"}, {"shifts": "2x2/1x1"}],
)
def test_the_same_seed_gives_the_same_model(settings: dict[str, Any]) -> None:
    X, y, _ = problem()
    one, two = (
        SLMC(6, solver="stochastic", steps=STEPS, random_state=4, **settings).fit(X, y).model_ for _ in range(2)
    )
    assert one.vectors.tobytes() == two.vectors.tobytes()
    assert one.coef.tobytes() == two.coef.tobytes()


@pytest.mark.parametrize("settings", [{}, {"projection": 2}, {"feature_scales": True}])
def test_coefficients_are_the_exact_ones_for_the_vectors_found(settings: dict[str, Any]) -> None:
    X, y, Y = problem()
    fitted = SLMC(6, C=3.0, solver="stochastic", steps=STEPS, random_state=0, **settings).fit(X, y)
    model = fitted.model_
    seen = model.transform(X)
    exact = SlmcObjective(seen, Y, model.kernels[0], Loss("squared_hinge", 3.0)).expansion(model.vectors, None, 0)
    scores = model.kernels[0].gram(seen, model.vectors) @ exact.coef.T + exact.intercept
    np.testing.assert_allclose(model.scores(X), scores, atol=1e-5)


def test_float32_rows_are_not_copied_to_doubles() -> None:
    X, y, _ = problem(n=200)
    one = SLMC(6, solver="stochastic", steps=STEPS, projection=2, random_state=0).fit(X.astype(np.float32), y)
    two = SLMC(6, solver="stochastic", steps=STEPS, projection=2, random_state=0).fit(X.astype(np.float32) * 1.0, y)
    assert one.model_.coef.tobytes() == two.model_.coef.tobytes()
    exact = SLMC(6, solver="exact", random_state=0).fit(X.astype(np.float32), y)
    doubles = SLMC(6, solver="exact", random_state=0).fit(X.astype(np.float32).astype(np.float64), y)
    np.testing.assert_allclose(exact.model_.scores(X), doubles.model_.scores(X), atol=1e-3)


def test_auto_decides_by_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, _ = problem()
    assert SLMC(6, random_state=0).fit(X, y).model_.card["fit"]["solver"] == "exact"
    monkeypatch.setattr(slmc, "EXACT_WORK", 6 * len(X) - 1)
    assert SLMC(6, steps=STEPS, random_state=0).fit(X, y).model_.card["fit"]["solver"] == "stochastic"
    assert SLMC(6, solver="exact", random_state=0).fit(X, y).model_.card["fit"]["solver"] == "exact"
    kept = SLMC(6, optimize="coefficients", random_state=0).fit(X, y)
    assert kept.model_.card["fit"]["solver"] == "exact", "vectors that stay need no descent"


def test_it_comes_near_the_exact_descent() -> None:
    """On rows where both apply, the minibatches' end is no toy: W within 15 % of the exact descent's, accuracy near."""
    X, y = load_digits(return_X_y=True)
    X = X[:900] / 16.0
    exact = SLMC(20, C=3.0, solver="exact", random_state=0).fit(X, y[:900])
    fast = SLMC(20, C=3.0, solver="stochastic", steps=2000, random_state=0).fit(X, y[:900])
    W_exact, W_fast = (one.model_.card["fit"]["objective"] for one in (exact, fast))
    assert W_fast <= 1.15 * W_exact
    assert np.mean(fast.predict(X) == y[:900]) >= 0.95


def test_factors_never_reach_zero_and_ignore_noise() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(600, 3))
    X[:, 2] *= 2.0
    y = (np.sin(3.0 * X[:, 0]) > 0).astype(int)
    for solver in ("exact", "stochastic"):
        fitted = SLMC(
            10,
            C=10.0,
            gamma=1.0,
            solver=solver,
            steps=1500,
            feature_scales=True,
            projection_penalty=0.0,
            random_state=0,
        ).fit(X, y)
        scale = fitted.model_.transform.scale
        assert scale.min() >= SMALLEST_FACTOR
        assert scale[0] > 3.0 * max(scale[1], scale[2]), "only the first feature tells the classes apart"
        assert fitted.score(X, y) > 0.8


def test_factors_survive_a_scaler_in_front() -> None:
    X, y, _ = problem()
    pipeline = make_pipeline(StandardScaler(), SLMC(6, feature_scales=True, random_state=0)).fit(X, y)
    model = from_sklearn(pipeline)
    np.testing.assert_allclose(model.scores(X), pipeline.decision_function(X), atol=1e-9)


@pytest.mark.parametrize("text", ["4x6/2x2", "4x6/3x4", "1x24/1x5", "24x1/7x1", "4x6/4x6", "4x6/1x1"])
def test_pooling_is_what_its_spread_projection_does(text: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(7, 24))
    pooling = Pooling.parse(text, 24)
    pooled = pooling(X)
    for i, row in enumerate(X):  # the slow twin: one feature at a time
        sums = np.zeros(pooled.shape[1])
        sizes = np.zeros(pooled.shape[1])
        for j, g in enumerate(pooling.group):
            sums[g] += row[j]
            sizes[g] += 1
        np.testing.assert_allclose(pooled[i], sums / np.sqrt(sizes))
    P = rng.normal(size=(3, pooled.shape[1]))
    np.testing.assert_allclose(X @ pooling.spread(P).T, pooled @ P.T, atol=1e-12)


@pytest.mark.parametrize("solver", ["exact", "stochastic"])
def test_a_pooled_projection_has_equal_columns_and_the_scores_of_the_pooled_rows(solver: str) -> None:
    X, y = load_digits(return_X_y=True)
    X, y = X[:400] / 16.0, y[:400]
    settings: dict[str, Any] = {
        "projection": 5,
        "C": 3.0,
        "gamma": 0.3,
        "steps": STEPS,
        "max_iter": 5,
    }
    pooled = SLMC(12, pool="8x8/2x2", solver=solver, random_state=0, **settings).fit(X, y)
    by_hand = SLMC(12, solver=solver, random_state=0, **settings).fit(Pooling.parse("8x8/2x2", 64)(X), y)
    P = pooled.model_.transform.projection
    assert P is not None
    group = Pooling.parse("8x8/2x2", 64).group
    assert len(np.unique(P, axis=1).T) == 16
    assert all(len(np.unique(P[:, group == g], axis=1).T) == 1 for g in range(16))
    np.testing.assert_allclose(
        pooled.decision_function(X), by_hand.decision_function(Pooling.parse("8x8/2x2", 64)(X)), atol=1e-8
    )


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"pool": "2x2/1x1"}, "give a projection too"),
        ({"pool": "2x2", "projection": 2}, "must be HEIGHTxWIDTH/ROWSxCOLUMNS"),
        ({"pool": "0x4/1x1", "projection": 2}, "must be HEIGHTxWIDTH/ROWSxCOLUMNS"),
        ({"pool": "3x3/1x1", "projection": 2}, "3 x 3 features, but the data have 4"),
        ({"pool": "2x2/3x1", "projection": 2}, "larger than the whole"),
        ({"feature_scales": True, "projection": 2}, "exclude each other"),
    ],
)
def test_maps_that_make_no_sense_are_refused(settings: dict[str, Any], sentence: str) -> None:
    X, y, _ = problem()
    with pytest.raises(OptionError, match=sentence):
        SLMC(6, **settings).fit(X, y)


def test_a_terminal_sees_the_minibatches(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, _ = problem()
    titles: list[tuple[str, int]] = []
    shown = progress.task

    def watch(title: str, total: int):
        titles.append((title, total))
        return shown(title, total)

    monkeypatch.setattr(progress, "task", watch)
    SLMC(6, solver="stochastic", steps=STEPS, random_state=0).fit(X, y)
    assert ("training slmc", STEPS) in titles
