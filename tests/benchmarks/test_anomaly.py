"""The table of sparse one-class machines: its program runs, on bundled data, and trains on normal rows only."""

from __future__ import annotations

import json

import numpy as np
import pytest

from benchmarks import anomaly


def test_table_and_json(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = first()
    monkeypatch.setattr(anomaly, "problems", lambda _folder, _seed: [problem])
    rows = json.loads(anomaly.main(["--json"]))
    assert [row["machine"] for row in rows[:2]] == ["OneClassSVM", "SLMOneClass"]
    assert rows[1]["vectors"] == max(1, rows[0]["vectors"] // anomaly.SHARE)
    assert all(0.0 <= row[name] <= 1.0 for row in rows for name in ("area", "false_alarms", "detected"))
    assert "| breast_cancer, benign | SLMOneClass |" in " ".join(anomaly.main([]).split())


def first() -> anomaly.Problem:
    """Return the smallest of the problems."""
    return next(anomaly.problems(None, 0))


def test_a_problem_trains_on_rows_of_one_class() -> None:
    problem = first()
    assert problem.X.shape[1] == problem.X_test.shape[1] == 30
    assert len(problem.normal) == len(problem.X_test)
    known = {row.tobytes() for row in problem.X}
    assert not any(row.tobytes() in known for row in problem.X_test)
    assert np.count_nonzero(problem.normal) > 100
