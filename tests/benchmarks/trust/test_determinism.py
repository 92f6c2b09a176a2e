from __future__ import annotations

from collections.abc import Sequence

import pytest

from benchmarks.trust import determinism
from sparsegen.methods import METHODS


def test_every_method_and_export_gives_the_same_bytes() -> None:
    outcomes = list(determinism.run(0.0, 0, rows=150))
    assert len(outcomes) == len(determinism.SITUATIONS)
    for outcome in outcomes:
        assert outcome.failures == 0, outcome
        assert outcome.tried > len(METHODS)


def test_a_difference_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def one_differs(threads: int, arguments: Sequence[str]) -> dict[str, str]:
        return {"train slmc": "same", "train svm": f"{threads}"}

    monkeypatch.setattr(determinism, "hashes", one_differs)
    failures = {outcome.what: (outcome.failures, outcome.remark) for outcome in determinism.run(0.0, 0)}
    assert sorted(failures.values()) == [(0, ""), (1, "differs: train svm"), (1, "differs: train svm")]
