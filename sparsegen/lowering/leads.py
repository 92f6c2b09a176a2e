"""How a program's guarantee compares with how clearly the real-valued model decides, measured on rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparsegen.arrays import Array
from sparsegen.lowering.integer_program import IntegerProgram
from sparsegen.model import SparseModel
from sparsegen.model.decision import DECISIONS
from sparsegen.promised import at_least, bound, percent


@dataclass(frozen=True)
class Leads:
    """How far the real-valued model's class is ahead on rows, and on how many of them that proves the label."""

    rows: int
    calibrated: bool
    """Whether the rows are the user's; otherwise they are points made up near the model's vectors."""
    words: tuple[str, str]
    """How its decision says that a lead is at least a number, and that it is more than one."""
    typical: float
    """At least half of the rows have this lead, as the model's decision has it."""
    margin: str
    """The lead that proves the label of a row in range, as it is printed."""
    proved: int
    """Rows in range with a larger lead than that."""

    def sentences(self) -> tuple[tuple[str, str], ...]:
        """Return what was measured as pairs of subject and sentence."""
        rows = f"{self.rows} {'calibration rows' if self.calibrated else 'points near the vectors'}"
        shown, clear = self.words[0].format(at_least(self.typical)), self.words[1].format(self.margin)
        lead = f"the real-valued model's {shown} on half of {rows}"
        share = percent(self.proved / self.rows)
        return (("lead", lead), ("proved", f"the labels of {share} of {rows}: they are in range and {clear}"))


def leads(program: IntegerProgram, model: SparseModel, rows: Array, margin: float, *, calibrated: bool) -> Leads:
    """Return how clearly the model decides on rows, compared with the margin that a guarantee states."""
    printed = bound(margin)
    decision = DECISIONS[model.decision]
    found = decision.leads(model.scores(rows))
    at_half = float(np.sort(found)[::-1][(len(found) + 1) // 2 - 1])
    proved = int(np.count_nonzero((found > float(printed)) & program.covers(rows)))
    # rows are counted with the margin that is shown, so that the count is true of it
    return Leads(len(rows), calibrated, decision.lead_words(model.n_outputs), at_half, printed, proved)
