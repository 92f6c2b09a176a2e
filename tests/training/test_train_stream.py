"""Training by blocks against training in memory: rows, report, card and accuracy, and a file sorted by class."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sparsegen import data
from sparsegen.data import Dataset, streams
from sparsegen.data.streams import Wish, open_stream
from sparsegen.data.streams import scratch as scratch_module
from sparsegen.errors import DataError, OptionError
from sparsegen.methods.shared import stochastic
from sparsegen.model.held_out import held_out
from sparsegen.training import train_stream as module
from sparsegen.training.report import TrainingReport
from sparsegen.training.train import train
from sparsegen.training.train_stream import train_stream

N = 900
QUICK: dict[str, Any] = {"n_vectors": 8, "gamma": 0.2, "C": 10.0}


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "BLOCK_BYTES", 8 * 4 * 100)
    monkeypatch.setattr(scratch_module, "PART_BYTES", 4 * 4 * 150)
    monkeypatch.setattr(scratch_module, "CHUNKS", 16)
    monkeypatch.setattr(scratch_module, "POOL_BYTES", 20 * 16 * 10)  # of the 900 rows, 160
    monkeypatch.setattr(stochastic, "BATCH", 32)


def rows_of(n: int = N, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.RandomState(seed)
    X = rng.standard_normal((n, 4)) * [1.0, 50.0, 1.0, 0.1] + [0.0, 300.0, 1.0, 0.0]
    signal = np.sin(2.0 * X[:, 0]) + (X[:, 1] - 300.0) / 50.0
    return X, np.array(["low", "middle", "high"])[np.digitize(signal, [-0.6, 0.6])]


def saved(folder: Path, X: np.ndarray, y: np.ndarray) -> tuple[Path, Wish]:
    np.save(folder / "X.npy", X)
    np.save(folder / "y.npy", y)
    return folder / "X.npy", Wish(labels=folder / "y.npy")


def trained(folder: Path, X: np.ndarray, y: np.ndarray, **given: Any) -> tuple[TrainingReport, Dataset]:
    parameters = {**QUICK, **given.pop("parameters", {})}
    return train_stream(open_stream(*saved(folder, X, y)), parameters=parameters, **given)


@pytest.mark.parametrize("parameters", [{"solver": "exact", "max_iter": 10}, {"optimize": "coefficients"}])
def test_the_exact_model_is_that_of_the_same_rows_in_memory(parameters: dict[str, Any], tmp_path: Path) -> None:
    X, y = rows_of()
    X = X.astype(np.float32).astype(np.float64)
    report, test_set = trained(tmp_path, X, y, parameters=parameters, scale="minmax")
    is_test = np.isin(X[:, 0], test_set.X[:, 0])
    assert is_test.sum() == len(test_set.X) == report.test_rows
    expected = train(
        data.from_arrays(X[~is_test], y[~is_test]), test_set, parameters={**QUICK, **parameters}, scale="minmax"
    )
    # Scaled rows are float32 in the scratch file: a share of 6e-8.
    np.testing.assert_allclose(report.model.scores(X), expected.model.scores(X), rtol=1e-3, atol=1e-3)
    assert report.confusion == expected.confusion
    assert report.train_rows == expected.train_rows
    same = ("feature_names", "scale", "ranges", "held_out")
    assert {name: report.model.card[name] for name in same} == {name: expected.model.card[name] for name in same}


def test_a_file_sorted_by_class_trains_as_well(tmp_path: Path) -> None:
    X, y = rows_of(1200)
    places = np.argsort(y, kind="stable")
    fresh, truth = rows_of(1000, seed=1)
    parameters = {"n_vectors": 16, "solver": "stochastic", "steps": 800}
    report, test_set = trained(tmp_path, X[places], y[places], parameters=parameters, seed=1)
    found = float(np.mean(np.asarray(report.model.predict(fresh)) == truth))
    own = ~np.isin(X[:, 0], test_set.X[:, 0])
    mixed = data.from_arrays(X[own], y[own])
    expected = train(mixed, data.from_arrays(fresh, truth), parameters={**QUICK, **parameters}, seed=1)
    assert found > expected.accuracy - 0.03
    assert report.model.card["fit"]["objective"] < 1.1 * expected.model.card["fit"]["objective"]
    assert report.model.card["fit"]["solver"] == "stochastic"


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    X, y = rows_of(400)
    one, two = (trained(tmp_path, X, y, parameters={"solver": "stochastic", "steps": 30})[0].model for _ in range(2))
    assert one.sha256 == two.sha256


def test_gamma_and_c_are_chosen_on_a_sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SAMPLE_ROWS", 150)
    X, y = rows_of()
    stream = open_stream(*saved(tmp_path, X, y))
    report, _ = train_stream(stream, parameters={"n_vectors": 4, "steps": 20, "max_iter": 3}, metric="balanced")
    assert report.search is not None
    assert 150 <= report.search.rows <= 153  # rounded up in each class
    assert report.search.metric == "balanced"
    assert report.model.card["search"]["chosen"] == report.search.chosen


def test_the_test_is_bounded_however_many_rows_there_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_TEST_ROWS", 60)
    X, y = rows_of()
    report, test_set = trained(tmp_path, X, y, parameters={"steps": 5, "solver": "stochastic"})
    assert 60 <= report.test_rows == len(test_set.X) <= 63
    recognised = held_out(report.model.card, X)
    assert recognised is not None
    np.testing.assert_array_equal(recognised, np.isin(X[:, 0], test_set.X[:, 0]))


def test_copies_of_test_rows_are_counted_and_never_remembered(tmp_path: Path) -> None:
    X, y = rows_of(300)
    X, y = np.concatenate([X, X[:100]]), np.concatenate([y, y[:100]])
    report, test_set = trained(tmp_path, X, y, parameters={"optimize": "coefficients"})
    _, place, times = np.unique(X, axis=0, return_inverse=True, return_counts=True)
    tests = np.isin(np.arange(len(X)), np.flatnonzero([(row == test_set.X).all(axis=1).any() for row in X]))
    assert report.result.copies > 0
    recognised = held_out(report.model.card, X)
    assert recognised is not None
    assert not recognised[(times[place] > 1) & tests].sum() > np.count_nonzero(tests) - report.result.copies


def test_a_final_training_takes_the_test_rows_too(tmp_path: Path) -> None:
    X, y = rows_of(300)
    report, _ = trained(tmp_path, X, y, parameters={"optimize": "coefficients", "projection": 2}, final=True)
    assert report.is_final
    assert report.model.card["final_rows"] == 300
    assert "held_out" not in report.model.card
    assert report.model.card["ranges"]["low"] == X.min(axis=0).tolist()
    assert report.model.card["accuracy"] == report.accuracy
    projected = report.model.transform(X)
    np.testing.assert_allclose(report.model.card["projected_ranges"]["high"], projected.max(axis=0), rtol=1e-5)


def test_a_file_of_its_own_may_be_the_test(tmp_path: Path) -> None:
    X, y = rows_of(300)
    fresh, truth = rows_of(120, seed=1)
    test_set = data.from_arrays(fresh, truth)
    stream = open_stream(*saved(tmp_path, X, y))
    report, tested_on = train_stream(stream, test_set, parameters={**QUICK, "optimize": "coefficients"})
    assert tested_on is test_set
    assert (report.train_rows, report.test_rows) == (300, 120)


def test_constant_features_and_rare_classes_are_told(tmp_path: Path) -> None:
    X, y = rows_of(300)
    X[:, 2] = 7.0
    y[:4] = "seldom"
    report, _ = trained(tmp_path, X, y, parameters={"optimize": "coefficients"})
    told = " ".join(report.warnings)
    assert "constant features carry no information: x2" in told
    assert "class 'seldom' has 3 to train on and 1 to test on" in told


WRONG = {
    "method": (
        {"method": "spsvm"},
        OptionError,
        "method 'spsvm' cannot train on a file by blocks",
    ),
    "probability": ({"parameters": {"probability": True}}, OptionError, "probabilities need fits on folds"),
    "seed": ({"seed": -1}, OptionError, "the seed must lie between"),
    "share": ({"test_size": 2.0}, OptionError, "share of test rows"),
    "parameter": ({"parameters": {"C": -1.0}}, OptionError, "C is -1.0, but must be"),
    "vectors": ({"parameters": {"n_vectors": 10_000}}, OptionError, "10000 vectors were asked for"),
    "metric": ({"metric": "auc"}, OptionError, "metric 'auc' is unknown"),
    "scale": ({"scale": "log"}, OptionError, "scale 'log' is unknown"),
}


@pytest.mark.parametrize(("given", "kind", "sentence"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_done_is_one_sentence(
    given: dict[str, Any], kind: type[Exception], sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(kind, match=sentence):
        trained(tmp_path, *rows_of(200), **given)


def test_a_test_file_with_other_classes_is_an_error(tmp_path: Path) -> None:
    stream = open_stream(*saved(tmp_path, *rows_of(200)))
    with pytest.raises(DataError, match="labels that no training row has"):
        train_stream(stream, data.from_arrays(np.ones((5, 4)), ["other"] * 5), parameters=QUICK)
