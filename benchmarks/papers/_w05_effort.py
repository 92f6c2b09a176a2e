"""How much work each column of [W05, Table 1] is worth."""

from __future__ import annotations

from dataclasses import dataclass, replace

from benchmarks.papers._w05_machines import USPS


@dataclass(frozen=True)
class Effort:
    """How finely parameters are chosen, and how many starts and draws there are."""

    C: tuple[float, ...]
    gamma_factors: tuple[float, ...]
    """Of the reference SVM's gamma, for RSVM."""
    rvm_gamma_factors: tuple[float, ...]
    selection_rows: int | None
    """Training rows that parameters are chosen on; ``None`` for all."""
    selection_splits: int
    selection_draws: int
    """Of the rows of RSVM."""
    rs_starts: int
    draws: int
    slmc_starts: int
    rvm_starts: int
    rvm_candidates: int
    rvm_changes: int
    """Most changes of one machine."""


IDA_EFFORT = Effort(
    C=(1.0, 30.0, 1000.0),
    gamma_factors=(1 / 16, 1 / 4, 1.0, 4.0),
    rvm_gamma_factors=(1 / 4, 1 / 2, 1.0, 2.0, 4.0),
    selection_rows=None,
    selection_splits=5,
    selection_draws=2,
    rs_starts=4,
    draws=5,
    slmc_starts=3,
    rvm_starts=2,
    rvm_candidates=2000,
    rvm_changes=5000,
)
USPS_EFFORT = Effort(
    C=(10.0, 100.0),
    gamma_factors=(1 / 2, 1.0, 2.0),
    rvm_gamma_factors=(1.0,),
    selection_rows=2000,
    selection_splits=1,
    selection_draws=1,
    rs_starts=1,
    draws=2,
    slmc_starts=1,
    rvm_starts=1,
    rvm_candidates=3000,
    rvm_changes=5000,
)
EFFORTS = {
    USPS: USPS_EFFORT,
    "image": replace(IDA_EFFORT, rvm_gamma_factors=(1 / 2, 1.0, 2.0), selection_splits=1, selection_draws=5),
}  # IDA_EFFORT for all others
