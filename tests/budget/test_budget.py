"""A budget says what is beyond it, and nothing of what is unknown."""

from __future__ import annotations

import pytest

from sparsegen.budget.budget import Budget
from sparsegen.errors import OptionError


def test_within_the_budget_to_the_last_byte():
    budget = Budget(4096, 256, 1.0)
    assert budget.shortage(4096, 256, 1.0) is None
    assert budget.shortage(None, None, None) is None
    assert Budget().shortage(10**9, 10**9, 1e9) is None


def test_every_shortage_is_told():
    told = Budget(4096, 256, 1.0).shortage(4097, 257, 1.00000001)
    assert told == (
        "needs 4,097 bytes of flash, and the budget is 4,096; 257 bytes of RAM, and the budget is 256; "
        "1.001 ms, and the budget is 1 ms"
    )
    assert Budget(flash=10).shortage(11, 999, 999) == "needs 11 bytes of flash, and the budget is 10"


@pytest.mark.parametrize("limits", [{"flash": 0}, {"ram": -1}, {"milliseconds": 0.0}, {"milliseconds": float("nan")}])
def test_a_budget_of_nothing_is_refused(limits):
    with pytest.raises(OptionError, match="leaves no room for a model; give more than 0"):
        Budget(**limits)
