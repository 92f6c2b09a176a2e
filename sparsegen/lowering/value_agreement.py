"""How close an integer program's values are to the real-valued model's, measured on rows, and whether that is enough.

What is lost is counted in points of R2, the share of the variance of the true values that is explained, in percent:
``100 (R2 of the model - R2 of the program)``. Where the true values are not known the model's own stand for them, and
what is lost is the mean squared difference as a share of their variance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen.arrays import Array
from sparsegen.data.checks import numeric_labels
from sparsegen.lowering.agreement import MAX_LOSS
from sparsegen.lowering.integer_program import IntegerProgram
from sparsegen.model import SparseModel
from sparsegen.model.held_out import held_out
from sparsegen.model.judged_values import JudgedValues, judge_values
from sparsegen.promised import bound, points

ALL_LOST = 1e6
"""Points for any error at all where values have no variance that could be explained."""


@dataclass(frozen=True)
class ValueAgreement:
    """How values of rows in a number format compare with the real-valued model's and with the true ones."""

    dtype: str
    rows: int
    calibrated: bool
    """Whether the rows are the user's; otherwise they are points made up near the model's vectors."""
    largest: float
    """The largest difference between a value and the model's."""
    loss: float
    """Points of R2 lost."""
    judged: JudgedValues | None = None
    """How far the values are from the true ones, where these are known."""

    lost_class = None
    """There are no classes to lose."""

    @property
    def lost(self) -> str | None:
        """What is lost, in words, where that is too much; otherwise ``None``."""
        return f"{points(self.loss)} points of R2" if self.loss > MAX_LOSS else None

    @property
    def problem(self) -> str | None:
        """A sentence where the program does not stand for its model; otherwise ``None``."""
        return None if self.lost is None else f"{self.lost} would be lost in {self.dtype}: {self}"

    def __str__(self) -> str:
        kind = "calibration rows" if self.calibrated else "points near the vectors"
        truth = "" if self.judged is not None else " of the model's own values"
        return (
            f"values of {self.rows} {kind} differ by at most {bound(self.largest)}; "
            f"{points(max(self.loss, 0.0))} points of R2{truth} are lost"
        )


def value_agreement(
    program: IntegerProgram,
    model: SparseModel,
    rows: Array,
    labels: NDArray[Any] | None = None,
    *,
    calibrated: bool = True,
) -> ValueAgreement:
    """Return how close a program's values are to the model's on rows: the user's, or made up if not ``calibrated``."""
    ours = program.scores(program.inputs(rows))[:, 0].astype(np.float64) * program.unit
    held = None if labels is None else held_out(model.card, rows)
    return compare_values(
        model, model.predict(rows), ours, labels, program.numbers.name, calibrated=calibrated, held=held
    )


def compare_values(
    model: SparseModel,
    real: Array,
    ours: Array,
    labels: NDArray[Any] | None,
    dtype: str,
    *,
    calibrated: bool = True,
    held: NDArray[np.bool_] | None = None,
) -> ValueAgreement:
    """Return how the values ``ours`` agree with the real-valued model's, and both with the known ones.

    ``held`` says which of the rows were held out in training.
    """
    largest = float(np.abs(ours - real).max())
    if labels is None:
        return ValueAgreement(dtype, len(real), calibrated, largest, _points_lost(ours, real, real))
    truth = numeric_labels(labels)
    lost = _points_lost(ours, truth, truth) - _points_lost(real, truth, truth)
    found = judge_values(model, ours, real, truth, held)
    return ValueAgreement(dtype, len(real), calibrated, largest, lost, found)


def _points_lost(values: Array, truth: Array, of: Array) -> float:
    """Return the mean squared error of values, in percent of a variance; any error is too much where there is none."""
    error, variance = float(((values - truth) ** 2).mean()), float(of.var())
    if variance > 0.0:
        return 100.0 * error / variance
    return 0.0 if error == 0.0 else ALL_LOST
