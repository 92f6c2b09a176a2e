from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks import defaults


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(defaults, "COSTS", (1.0, 10.0))
    monkeypatch.setattr(defaults, "GAMMAS", (0.01, 1.0))
    monkeypatch.setattr(defaults, "ROUNDS", 1)
    monkeypatch.setitem(defaults.SETS, "gestures", lambda folder: recordings())


def recordings() -> defaults.Problem:
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(18), 6)
    y = groups % 2
    X = rng.normal(size=(len(y), 3)) + 3.0 * np.sin(np.pi * y)[:, None] + (y * rng.choice([-4, 4], len(y)))[:, None]
    return defaults._split(X, y, groups)


@pytest.mark.usefixtures("quick")
def test_a_table_has_both_models_with_as_many_vectors() -> None:
    (found,) = json.loads(defaults.main(["--sets", "gestures", "--json"]))
    assert (found["rows"] + found["test_rows"], found["vectors"]) == (108, 16)
    assert found["default"] > 90.0
    assert found["tuned"] > 90.0
    assert f"{found['default'] - found['tuned']:+.2f} |" in defaults.main(["--sets", "gestures"])


@pytest.mark.usefixtures("quick")
def test_test_rows_decide_nothing_and_recordings_stay_whole() -> None:
    problem = recordings()
    assert len(problem.X) == 72, "a third of the recordings, whole ones, is for the test"
    assert all(count == 6 for count in np.unique(problem.groups, return_counts=True)[1])
    other = replace(problem, X_test=problem.X_test[::-1], y_test=1 - problem.y_test)
    assert str(defaults.tuned(problem, 5, 0)) == str(defaults.tuned(other, 5, 0))
    assert defaults.tuned(problem, 5, 0)[-1].gamma > 0.1, "a width that tells the classes apart"


def test_windows_of_a_recording_have_features_of_every_channel(tmp_path: Path) -> None:
    signals = np.random.default_rng(0).normal(size=(6, 400, 3)).astype(np.float32)
    np.savez(tmp_path / "short.npz", X=signals, y=np.arange(6) % 2)
    problem = defaults._recordings("short", tmp_path)
    assert problem.X.shape == (12, 9)
    assert problem.X_test.shape == (6, 9)
    np.testing.assert_allclose(defaults._features(signals)[2, 3:6], signals[2].std(axis=0), rtol=1e-5)
