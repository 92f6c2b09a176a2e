"""``fit`` on Dask's arrays and data frames: the model that the same rows in memory give, to rounding."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import sparsegen
from sparsegen.errors import DataError, OptionError
from sparsegen.methods import classifiers
from sparsegen.methods.shared import slmc_rows, stochastic
from sparsegen.methods.shared.estimator import SparseClassifier
from sparsegen.solvers import newton_in_parts

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")

N = 240


@pytest.fixture(autouse=True)
def in_this_thread() -> Any:
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture(scope="module")
def rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.RandomState(0)
    X = rng.standard_normal((N, 4)) * [1.0, 2.0, 1.0, 3.0] + 1.0
    return X, np.array(["a", "b", "c"])[(np.sin(X[:, 0]) + 0.5 * X[:, 1] > 0.5).astype(int) + (X[:, 3] > 4.0)]


def split(X: np.ndarray, y: np.ndarray) -> tuple[Any, Any]:
    return da.from_array(X, chunks=(70, 3)), da.from_array(y, chunks=100)


SAME: dict[str, dict[str, Any]] = {
    "exact": {"max_iter": 12},
    "coefficients": {"optimize": "coefficients"},
    "random start": {"init": "random", "max_iter": 5},
    "projection": {"projection": 2, "max_iter": 6},
    "factors": {"feature_scales": True, "max_iter": 6},
    "stochastic": {"solver": "stochastic", "steps": 40},
    "balanced": {"class_weight": "balanced", "max_iter": 6},
    "balanced by minibatches": {"class_weight": "balanced", "solver": "stochastic", "steps": 40},
    "two starts": {"n_init": 2, "max_iter": 3},
    "kernel": {"kernel": "laplacian", "gamma": 0.3, "max_iter": 4},
}


@pytest.mark.parametrize("parameters", SAME.values(), ids=SAME)
def test_slmc_is_the_same_as_in_memory(parameters: dict[str, Any], rows: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = rows
    expected = sparsegen.SLMC(6, random_state=0, **parameters).fit(X, y)
    found = sparsegen.SLMC(6, random_state=0, **parameters).fit(*split(X, y))
    np.testing.assert_allclose(found.decision_function(X), expected.decision_function(X), rtol=1e-7, atol=1e-7)
    assert found.classes_.tolist() == expected.classes_.tolist()
    assert found.n_features_in_ == 4
    assert found.model_.card["fit"]["solver"] == expected.model_.card["fit"]["solver"]


OTHERS: dict[str, dict[str, Any]] = {
    "cholesky": {},
    "cholesky, few": {"n_vectors": 9, "loss": "squared_hinge", "class_weight": "balanced"},
    "cholesky, axes": {"basis": "axes", "kernel": "linear"},
    "lssvm-cholesky": {"C": 3.0},
    "lssvm-cholesky, balanced": {"class_weight": "balanced", "eta": 0.5},
    "rsvm": {"loss": "squared_hinge"},
    "rsvm, hinge": {"class_weight": "balanced"},
    "mrsvm": {"loss": "squared_hinge", "n_vectors": 7},
    "smkc1": {"n_vectors": 4, "n_kernels": 3, "max_iter": 2},
    "smkc2": {"n_vectors": 4, "n_kernels": 2, "max_iter": 2, "class_weight": "balanced"},
    "smkc2, gradient": {"n_vectors": 4, "n_kernels": 3, "optimize": "coefficients", "solver": "gradient"},
}


@pytest.mark.parametrize("which", OTHERS)
def test_other_methods_are_the_same_as_in_memory(which: str, rows: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = rows
    method = classifiers()[which.partition(",")[0]]
    expected = method(random_state=0, **OTHERS[which]).fit(X, y)
    found = method(random_state=0, **OTHERS[which]).fit(*split(X, y))
    np.testing.assert_allclose(found.decision_function(X), expected.decision_function(X), rtol=1e-6, atol=1e-5)
    np.testing.assert_allclose(found.vectors_, expected.vectors_, rtol=1e-6, atol=1e-6)
    assert len(found.model_.kernels) == len(expected.model_.kernels)


def test_independent_rows_of_parts_are_chosen_in_row_order(rows: tuple[np.ndarray, np.ndarray]) -> None:
    for parameters in ({"order": "pivoted"}, {"max_seconds": 3.0}):
        with pytest.raises(OptionError, match="independent rows of parts are chosen in row order"):
            classifiers()["cholesky"](**parameters).fit(*split(*rows))
    with pytest.raises(OptionError, match="no row is left; lower eta"):
        classifiers()["cholesky"]().set_params(eta=1.0).fit(*split(*rows))


def test_rows_that_are_zero_to_the_kernel_leave_one_vector(rows: tuple[np.ndarray, np.ndarray]) -> None:
    blocks, labels = split(0.0 * rows[0], rows[1])
    assert len(classifiers()["cholesky"](kernel="linear").fit(blocks, labels).vectors_) == 1


def test_the_hinge_is_the_same_to_its_own_tolerance(rows: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = rows
    given: dict[str, Any] = {"loss": "hinge", "optimize": "coefficients", "random_state": 0}
    expected, found = sparsegen.SLMC(6, **given).fit(X, y), sparsegen.SLMC(6, **given).fit(*split(X, y))
    np.testing.assert_allclose(found.decision_function(X), expected.decision_function(X), atol=1e-4)


@pytest.mark.parametrize("many", [False, True])
def test_a_sample_to_start_from_is_the_same_as_in_memory(
    many: bool, rows: tuple[np.ndarray, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (stochastic, slmc_rows):
        monkeypatch.setattr(module, "START_ROWS", 40)
    X, y = rows
    given: dict[str, Any] = {"max_iter": 3, "random_state": 1} if many else {"solver": "stochastic", "steps": 5}
    expected, found = sparsegen.SLMC(5, **given | {"random_state": 1}), sparsegen.SLMC(5, **given | {"random_state": 1})
    expected.fit(X, y)
    found.fit(*split(X, y))
    np.testing.assert_allclose(found.decision_function(X), expected.decision_function(X), rtol=1e-7, atol=1e-7)


def test_minibatches_of_a_sample_end_near_those_of_all_rows(
    rows: tuple[np.ndarray, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slmc_rows, "SAMPLE_ROWS", 120)
    X, y = rows
    machine = sparsegen.SLMC(8, solver="stochastic", steps=300, random_state=0)
    found = machine.fit(*split(X, y)).score(X, y)
    assert found > machine.fit(X, y).score(X, y) - 0.05


def test_the_gradient_is_that_of_the_objective(rows: tuple[np.ndarray, np.ndarray]) -> None:
    from scipy.optimize import approx_fprime

    from sparsegen.data.dask_parts import labelled_parts
    from sparsegen.kernels import KERNELS
    from sparsegen.methods.shared.slmc_in_parts import SlmcInParts, WeighedParts

    X, y = rows
    given = WeighedParts(labelled_parts(*split(X[:60], y[:60])), "squared_hinge", np.array([1.0, 2.0, 0.5]))
    rng = np.random.RandomState(2)
    Z, P = rng.standard_normal((3, 2)), rng.standard_normal((2, 4))
    objective = SlmcInParts(given, KERNELS["rbf"].bind(gamma=0.2), 0.9 * P, 0.7, X.mean(axis=0))

    def value(theta: np.ndarray) -> float:
        return objective(theta[:6].reshape(3, 2), theta[6:].reshape(2, 4))[0]

    theta = np.append(Z, P)
    np.testing.assert_allclose(objective(Z, P)[1], approx_fprime(theta, value, 1e-6), rtol=1e-4, atol=1e-4)


def test_a_folder_of_parquet_files_is_trained_on_by_its_names(
    rows: tuple[np.ndarray, np.ndarray], tmp_path: Path
) -> None:
    X, y = rows
    names = ["u", "v", "w", "z"]
    for part, some in enumerate(np.array_split(np.arange(N), 3)):
        pd.DataFrame(X[some], columns=names).assign(kind=y[some]).to_parquet(tmp_path / f"part{part}.parquet")
    frame = dd.read_parquet(tmp_path)
    found = sparsegen.SLMC(6, max_iter=4, random_state=0).fit(frame[names], frame["kind"])
    expected = sparsegen.SLMC(6, max_iter=4, random_state=0).fit(pd.DataFrame(X, columns=names), y)
    assert found.feature_names_in_.tolist() == names
    assert found.model_.card["feature_names"] == names
    given = pd.DataFrame(X, columns=names)
    np.testing.assert_allclose(found.decision_function(given), expected.decision_function(given), rtol=1e-7, atol=1e-7)


def test_blocks_without_rows_and_arrays_of_unknown_length_are_taken(rows: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = rows
    blocks, labels = split(X, y)
    labels = labels.rechunk(blocks.chunks[0])
    kept = da.from_array(np.arange(N) >= 70, chunks=blocks.chunks[0])  # the whole first block goes
    found = sparsegen.SLMC(5, max_iter=2, random_state=0).fit(blocks[kept], labels[kept])
    expected = sparsegen.SLMC(5, max_iter=2, random_state=0).fit(X[70:], y[70:])
    np.testing.assert_allclose(found.decision_function(X), expected.decision_function(X), rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("method", classifiers())
def test_a_method_trains_in_parts_or_says_why_it_cannot(method: str, rows: tuple[np.ndarray, np.ndarray]) -> None:
    if classifiers()[method]._train_in_parts is not SparseClassifier._train_in_parts:
        return
    with pytest.raises(OptionError, match=f"method '{method}' cannot train on rows in parts: .*; train on a sample"):
        classifiers()[method]().fit(*split(*rows))


WRONG = {
    "one label short": (lambda X, y: (X, y[:-1]), DataError, "240 rows but y has 239 labels"),
    "NaN": (lambda X, y: (da.where(X > 3.0, np.nan, X), y), DataError, "NaN or infinite values in feature 'x"),
    "one class": (lambda X, y: (X, da.full_like(y, "a")), DataError, "two classes or more"),
    "fractions": (lambda X, y: (X, X[:, 0]), DataError, "y holds fractions"),
    "three dimensions": (lambda X, y: (X[:, :, None], y), DataError, "X has 3 dimensions"),
    "two columns of labels": (lambda X, y: (X, X[:, :2].rechunk({1: -1})), DataError, "one label per row"),
}


@pytest.mark.parametrize(("change", "kind", "sentence"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_trained_on_is_one_sentence(
    change: Any, kind: type[Exception], sentence: str, rows: tuple[np.ndarray, np.ndarray]
) -> None:
    with pytest.raises(kind, match=sentence):
        sparsegen.SLMC(4).fit(*change(*split(*rows)))


def test_a_column_of_texts_is_named(rows: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = rows
    frame = dd.from_pandas(pd.DataFrame(X, columns=list("uvwz")).assign(note="x", kind=y), npartitions=2)
    with pytest.raises(DataError, match=r"column 'note' holds .*, not numbers"):
        sparsegen.SLMC(4).fit(frame[["u", "note"]], frame["kind"])


OPTIONS = {
    "ratio": ({"ratio": 0.1}, {}, "ratio needs the reference SVM"),
    "probability": ({"probability": True}, {}, "probability needs fits"),
    "weights": ({}, {"sample_weight": np.ones(N)}, "cannot have sample weights"),
    "shifts": ({"shifts": "2x2/1x1"}, {}, "neither pooled nor shifted"),
    "too many": ({"n_vectors": N + 1}, {}, "241 vectors were asked for"),
}


@pytest.mark.parametrize(("parameters", "known", "sentence"), OPTIONS.values(), ids=OPTIONS)
def test_options_that_need_all_rows_are_refused(
    parameters: dict[str, Any], known: dict[str, Any], sentence: str, rows: tuple[np.ndarray, np.ndarray]
) -> None:
    with pytest.raises(OptionError, match=sentence):
        sparsegen.SLMC(**parameters).fit(*split(*rows), **known)


def test_processes_of_a_cluster_give_the_model_of_this_thread(rows: tuple[np.ndarray, np.ndarray]) -> None:
    distributed = pytest.importorskip("distributed")
    X, y = rows
    machine = sparsegen.SLMC(5, max_iter=1, random_state=0)
    expected = machine.fit(*split(X, y)).model_
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", memory_limit=0
        ) as cluster,
        distributed.Client(cluster),
        dask.config.set(scheduler=None),
    ):
        found = machine.fit(*split(X, y)).model_
    # Sums are added in one order; within a part BLAS may round otherwise where memory is aligned otherwise.
    np.testing.assert_allclose(found.vectors, expected.vectors, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found.scores(X), expected.scores(X), rtol=1e-9, atol=1e-9)


def test_warnings_are_those_of_rows_in_memory(
    rows: tuple[np.ndarray, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(newton_in_parts, "MAX_NEWTON", 1)
    with pytest.warns(ConvergenceWarning, match="could not be solved"):
        sparsegen.SLMC(4, optimize="coefficients", random_state=0).fit(*split(*rows))
