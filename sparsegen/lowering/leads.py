"""How a program's guarantee compares with how clearly the real-valued model decides, measured on rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparsegen.arrays import Array
from sparsegen.lowering.integer_program import IntegerProgram
from sparsegen.model import SparseModel
from sparsegen.promised import at_least, bound, percent


@dataclass(frozen=True)
class Leads:
    """How far the real-valued model's class is ahead on rows, and on how many of them that proves the label."""

    rows: int
    calibrated: bool
    """Whether the rows are the user's; otherwise they are points made up near the model's vectors."""
    is_binary: bool
    typical: float
    """At least half of the rows have this lead: a score's distance from 0 (two classes), or from the next score."""
    margin: str
    """The lead that proves the label of a row in range, as it is printed."""
    proved: int
    """Rows in range with a larger lead than that."""

    def __str__(self) -> str:
        rows = f"{self.rows} {'calibration rows' if self.calibrated else 'points near the vectors'}"
        lead = "score is at least {} from 0" if self.is_binary else "lead is at least {}"
        shown = lead.format(at_least(self.typical))
        more = f"it is {'further than' if self.is_binary else 'more than'} {self.margin}"
        return (
            f"the real-valued model's {shown} on half of {rows}; on {percent(self.proved / self.rows)} of them {more} "
            "and they are in range, which proves their label"
        )


def leads(program: IntegerProgram, model: SparseModel, rows: Array, margin: float, *, calibrated: bool) -> Leads:
    """Return how clearly the model decides on rows, compared with the margin that a guarantee states."""
    printed = bound(margin)
    found = lead_of(model.scores(rows))
    at_half = float(np.sort(found)[::-1][(len(found) + 1) // 2 - 1])
    proved = int(np.count_nonzero((found > float(printed)) & program.covers(rows)))
    # rows are counted with the margin that is shown, so that the count is true of it
    return Leads(len(rows), calibrated, model.n_outputs == 1, at_half, printed, proved)


def lead_of(scores: Array) -> Array:
    """Return by how much each row's class is ahead: of 0 for one score, of the next largest for several."""
    if scores.shape[1] == 1:
        return np.abs(scores[:, 0])
    largest = np.partition(scores, -2, axis=1)[:, -2:]
    return np.asarray(largest[:, 1] - largest[:, 0])
