from __future__ import annotations

from collections.abc import Sequence

import pytest

from benchmarks.trust import determinism


def test_models_and_exports_have_the_same_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The attack itself, which the gate runs too, takes every method and every situation."""
    hardest = "two Python threads at once"
    monkeypatch.setattr(determinism, "SITUATIONS", {hardest: determinism.SITUATIONS[hardest]})
    methods = ("slmc", "cholesky")
    outcomes = list(determinism.run(0.0, 0, methods, rows=100))
    assert len(outcomes) == 1
    for outcome in outcomes:
        assert outcome.failures == 0, outcome
        assert outcome.tried > len(methods)


def test_a_difference_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def one_differs(threads: int, arguments: Sequence[str]) -> dict[str, str]:
        return {"train slmc": "same", "train svm": f"{threads}"}

    monkeypatch.setattr(determinism, "hashes", one_differs)
    failures = {outcome.what: (outcome.failures, outcome.remark) for outcome in determinism.run(0.0, 0)}
    assert sorted(failures.values()) == [(0, ""), (1, "differs: train svm"), (1, "differs: train svm")]
