"""A small part of the attack on the promised stack, and that it notices too small a promise."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from golden_models import SMALL

from benchmarks.trust import Outcome, stack
from sparsegen.targets import TARGETS

EMPTY = Outcome("test", 0, "exports", 0)
EXPORT = TARGETS["c"].export(SMALL["binary_rbf"], "m")
SAID = """
m.c:9:5:m_exp2\t8\tstatic
m.c:20:6:m_scores\t100\tstatic
m.c:60:5:m_predict\t16\tstatic
m.c:90:5:m_selftest\t50\tstatic
"""


@pytest.mark.parametrize("only", ["gcc for Cortex-M0+", "cortex-m0plus"])
def test_the_promise_holds_for_one_export(only: str) -> None:
    """The attack itself, which the gate runs too, takes every compiler and device."""
    outcomes = list(stack.run(0.0, 0, only))
    assert len(outcomes) == (2 if only.startswith("gcc") else 1)
    assert [outcome for outcome in outcomes if outcome.failures] == []
    assert all(outcome.tried or outcome.remark.startswith("not run") for outcome in outcomes)


def test_frames_are_added_along_the_calls() -> None:
    assert stack.along_the_calls(EXPORT, SAID) == stack.Stack(predict=16 + 100 + 8, selftest=50 + 16 + 100 + 8)


@pytest.mark.parametrize(("change", "failures"), [(0, 0), (1, 1)])
def test_a_promise_that_is_too_small_is_reported(change: int, failures: int) -> None:
    stated = stack.promised(EXPORT, "-Os")
    measured = stack.Stack(stated.predict, stated.selftest + change)
    assert stack.added(EMPTY, EXPORT, "-Os", lambda _: measured).failures == failures


def test_a_header_without_a_promise_is_noticed() -> None:
    header = f"{EXPORT.name}.h"
    silent = re.sub(rb"at most", b"about", EXPORT.files[header])
    with pytest.raises(AssertionError, match="states no stack"):
        stack.promised(replace(EXPORT, files={**EXPORT.files, header: silent}), "-Os")
