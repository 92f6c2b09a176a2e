"""Mutants run: a planted defect is found, an equal one is not, and nothing is run twice."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from benchmarks.mutation import Area
from benchmarks.mutation.__main__ import main
from benchmarks.mutation.campaign import Campaign, Verdict, sample
from benchmarks.mutation.campaign import Test as ReachingTest
from benchmarks.mutation.mutants import Mutant

if sys.platform == "win32":
    pytest.skip("mutants are forked", allow_module_level=True)

SMALL = Area("model", ("model/test_predictions.py",))


def drawn(mutated: str) -> Mutant:
    (found,) = [mutant for mutant in sample(SMALL, None, 0) if mutant.mutated == mutated]
    return found


def test_a_defect_is_killed_once_and_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = drawn("None if model.calibration is not None else model.calibration(scores).tolist(),")
    unseen = next(mutant for mutant in sample(SMALL, None, 0) if mutant.where == "Transform.after")
    with Campaign(tmp_path, jobs=1, slowest=5.0, say=lambda text: None) as campaign:
        killed, survived = campaign.judge(SMALL, [seen, unseen])
    assert killed.killed_by is not None
    assert killed.killed_by.startswith("tests/model/test_predictions.py::")
    assert (survived.killed_by, survived.n_tests) == (None, 0), "no test of these reaches it"
    with Campaign(tmp_path, jobs=1, slowest=5.0, say=lambda text: None) as again:
        monkeypatch.setattr(again, "_ask", lambda job: pytest.fail("this was known"))
        assert list(again.judge(SMALL, [seen, unseen])) == [killed, survived]


def test_what_few_tests_of_a_file_left_alive_is_not_known_for_more(tmp_path: Path) -> None:
    """Which tests of a file are run depends on ``slowest``."""
    campaign = Campaign(tmp_path, jobs=1, slowest=5.0, say=lambda text: None)
    fast, slow = (ReachingTest(f"tests/model/test_predictions.py::{name}", 0.1, {}) for name in ("fast", "slow"))
    known = {"killed_by": None, "tests": campaign._state([fast])}
    assert campaign._still_holds(known, [fast])
    assert not campaign._still_holds(known, [fast, slow])
    assert campaign._state([fast, slow]) == campaign._state([slow, fast])


@pytest.mark.parametrize(("survivors", "code"), [(0, 0), (1, 1), (2, 1)])
def test_survivors_without_a_reason_are_reported(survivors: int, code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def judge(self: Campaign, area: Area, chosen: Sequence[Mutant]) -> Iterator[Verdict]:
        for i, mutant in enumerate(chosen):
            yield Verdict(area.name, mutant, None if i < survivors else "a test", 1)

    monkeypatch.setattr(Campaign, "judge", judge)
    options = ["--areas", "model", "--sample", "20", "--jobs", "1", "--only", "model/describe"]
    text, found = main([*options, "--json"])
    (score,) = json.loads(text)
    assert score["mutants"] - score["killed"] == len(score["survivors_without"]) == survivors
    assert found == code
    text, found = main(options)
    assert text.count("sparsegen/model/describe.py:") == survivors
    assert found == code
