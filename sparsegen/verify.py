"""Does the export compute what Python computed? Compile it, run every row on a device, compare.

A float32 export must give every score within a tolerance, and every label but those of rows that are undecided: there
the device's own scores are within the tolerance and give its label, so the model's lead is no larger than rounding. An
integer export must agree with its simulator bit by bit, and where labels are known it must be about as accurate as the
real-valued model. A regression has no labels to agree in: its values are its scores.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen import progress
from sparsegen.arrays import Array
from sparsegen.data.checks import numeric_labels
from sparsegen.devices import DEVICES, Device, Outputs
from sparsegen.errors import DataError, FitError, FitWarning, OptionError, ToolError
from sparsegen.lowering.agreement import Agreement, compare_labels, label_indices
from sparsegen.lowering.formats import FLOAT32, Format
from sparsegen.lowering.lowered import Lowered, Reference
from sparsegen.lowering.score_size import TOLERANCE
from sparsegen.lowering.value_agreement import ValueAgreement, compare_values
from sparsegen.model import SparseModel, class_indices
from sparsegen.model.decision import DECISIONS
from sparsegen.model.held_out import held_out
from sparsegen.model.judged import Judged
from sparsegen.model.judged_values import JudgedValues
from sparsegen.promised import bound, percent
from sparsegen.targets import Export, Target, as_target

PROBABILITY_TOLERANCE = 1e-5  # of float probabilities, given the scores: evaluators of graphs have other exponentials


@dataclass(frozen=True)
class Verdict:
    """The comparison of one device with the model."""

    target: str
    device: str
    rows: int
    mismatches: int
    """Rows whose label differs from the model's and that are not undecided, or whose probabilities are not those of
    their scores; for an integer export, rows that differ at all from its simulator."""
    max_difference: float
    """Largest absolute difference of a score; for an integer export, from its simulator and in units of the model."""
    relative_difference: float
    """The same, relative to the largest score of the model (at least 1), or to the spread of a regression's values."""
    accuracy: float | None
    """Share of rows the device labels correctly, where the data has labels."""
    dtype: str = FLOAT32.dtype
    same_labels: float | None = None
    """Share of rows whose label is the real-valued model's."""
    real_accuracy: float | None = None
    """Share of rows the real-valued model labels correctly, where the data has labels."""
    lost: str | None = None
    """What an integer export loses of the model's accuracy, or R2, on these rows, where that is too much."""
    undecided: int = 0
    """Rows of a float32 export whose label differs because rounding decides it: the model's scores all but tie."""
    largest_tie: float = 0.0
    """The largest lead of the model's label over the device's among the undecided rows."""
    made_by: str = ""
    """The compiler, emulator or evaluator that made this comparison, with versions."""
    judged: Judged | JudgedValues | None = None
    """How many labelled rows the device labels correctly, of all and of those held out in training; of a regression,
    how far its values are from the labels."""
    probability_difference: float | None = None
    """Largest absolute difference of a probability from the calibration of the device's own scores; ``None`` for a
    model without probabilities."""

    @property
    def agrees(self) -> bool:
        """Whether the device computes what it must: every label agrees, or is undecided, and every score is near."""
        return self.mismatches == 0 and self.relative_difference <= TOLERANCE

    @property
    def ok(self) -> bool:
        """Whether the device computes what it must, and that is about as accurate as the model."""
        return self.agrees and self.lost is None

    def __str__(self) -> str:
        result = "ok" if self.ok else "DIFFERS" if not self.agrees else f"LOSES {self.lost}"
        labels = (("same labels", self.same_labels), ("accuracy", self.accuracy), ("model", self.real_accuracy))
        shares = "".join(f", {name} {percent(share)}" for name, share in labels if share is not None)
        undecided = f", {self.undecided} undecided" if self.undecided else ""
        return (
            f"{self.device}, {self.dtype}: {result}: {self.mismatches} of {self.rows} rows differ{undecided}, "
            f"|score difference| at most {bound(self.max_difference)}{shares}"
        )


def devices_for(runs_as: str, names: Iterable[str] | None) -> list[Device]:
    """Return the named devices, or all that can run here; raise a ToolError for one that cannot, or if none can."""
    suitable = [device for device in DEVICES.values() if device.runs == runs_as]
    if names is None:
        able = [device for device in suitable if device.missing() is None]
        if not able:
            reasons = "; ".join(f"{device.name}: {device.missing()}" for device in suitable)
            raise ToolError(f"no device can run {runs_as} exports here; {reasons}")
        return able
    chosen = [DEVICES[name] for name in names]
    for device in chosen:
        if device.runs != runs_as:
            fitting = ", ".join(d.name for d in suitable)
            raise OptionError(f"device {device.name} does not run {runs_as} exports; choose from: {fitting}")
        device.require()
    return chosen


def verify(
    model: SparseModel,
    X: Array,
    y: NDArray[np.generic] | None = None,
    *,
    target: str | Target = "c",
    devices: Iterable[str] | None = None,
    name: str = "model",
    numbers: Format = FLOAT32,
) -> list[Verdict]:
    """Return one verdict per device, over every row of ``X``.

    ``target`` is a name, or a target with options of its own, such as ``TARGETS["onnx"].with_options(opset=12)``.

    Without ``devices``, those that the model does not fit are left out with a ``FitWarning``. It is a ``FitError`` if
    ``devices`` names such a device, or if none is left.
    """
    return verify_exports(Exports(model, target, name, numbers), X, y, devices)


def verify_exports(
    exports: Exports, X: Array, y: NDArray[np.generic] | None = None, devices: Iterable[str] | None = None
) -> list[Verdict]:
    """Return what :func:`verify` does for a model that is lowered already."""
    if len(X) == 0:
        raise DataError("there are no rows to verify on; pass at least one")
    lowered = exports.lowered
    model = lowered.model
    real = model.predict_index(X) if model.has_classes else model.predict(X)
    if y is not None:  # labels of something else are found out before anything is built
        if model.has_classes:
            label_indices(model, y)
        else:
            numeric_labels(y)
    chosen = devices_for(exports.runs_as, devices)
    held = None if y is None else held_out(lowered.model.card, X)
    rows = _Rows(lowered.inputs(X), y, lowered.reference(X), real, held)
    verdicts = []
    with progress.task("verifying", len(chosen)) as advance:
        for device in chosen:
            try:
                verdicts.append(_compare(device, exports[device.loops], lowered, rows))
            except FitError as error:
                if devices is not None or (device is chosen[-1] and not verdicts):
                    raise
                warnings.warn(f"{device.name} is left out: {error}", FitWarning, stacklevel=2)
            advance(device.name)
    return verdicts


class Exports:
    """One model's exports, one for each form of inner loops; the model is lowered once for all of them."""

    def __init__(self, model: SparseModel, target: str | Target, name: str, numbers: Format) -> None:
        self._target, self._name = as_target(target), name
        self.runs_as = self._target.runs_as
        self.lowered = self._target.lower(model, numbers)
        self._made: dict[str, Export] = {}

    def __getitem__(self, loops: str) -> Export:
        """Return the export with these loops."""
        if loops not in self._made:
            self._made[loops] = self._target.write(self.lowered, self._name, loops)
        return self._made[loops]


@dataclass(frozen=True)
class _Rows:
    """The rows that every device runs, and what they are compared with."""

    inputs: NDArray[Any]
    y: NDArray[np.generic] | None
    expected: Reference
    real: NDArray[Any]
    """Class indices, or values, of the real-valued model."""
    held_out: NDArray[np.bool_] | None = None
    """Which of them were held out in training."""


def _compare(device: Device, export: Export, lowered: Lowered, rows: _Rows) -> Verdict:
    expected = rows.expected
    out = device.run(export, rows.inputs)
    wrong = out.labels != expected.labels
    unlike, probability_difference = _unlike_probabilities(out, lowered)
    scale = expected.size
    tied = np.zeros(len(wrong), dtype=bool)
    if expected.is_exact:
        wrong |= np.any(out.scores != expected.scores, axis=1)
    else:
        tied = wrong & _within(out, expected.scores, TOLERANCE * scale, lowered.model.decision)
    difference = expected.unit * float(np.max(np.abs(out.scores.astype(np.float64) - expected.scores)))
    if np.isnan(difference):
        difference = float("inf")
    found = _agreement(out, lowered, rows)
    labelled = found if isinstance(found, Agreement) else None
    judged = expected.is_exact and rows.y is not None
    return Verdict(
        target=export.target,
        device=device.name,
        rows=len(rows.inputs),
        mismatches=int(np.count_nonzero((wrong & ~tied) | unlike)),
        max_difference=difference,
        relative_difference=difference / scale,
        accuracy=None if labelled is None else labelled.accuracy,
        dtype=lowered.format.dtype,
        same_labels=None if labelled is None else labelled.same_labels,
        real_accuracy=None if labelled is None else labelled.real_accuracy,
        lost=found.lost if judged else None,
        undecided=int(np.count_nonzero(tied)),
        largest_tie=float(np.max(_leads(expected, out, lowered.model)[tied], initial=0.0)),
        made_by=device.made_by(),
        judged=found.judged,
        probability_difference=probability_difference,
    )


def _agreement(out: Outputs, lowered: Lowered, rows: _Rows) -> Agreement | ValueAgreement:
    """Return how what the device gives agrees with the real-valued model, and both with what is known of the rows."""
    dtype = lowered.format.dtype
    if lowered.model.has_classes:
        return compare_labels(lowered.model, rows.real, out.labels, rows.y, dtype, held=rows.held_out)
    values = out.scores[:, 0].astype(np.float64) * rows.expected.unit
    return compare_values(lowered.model, rows.real, values, rows.y, dtype, held=rows.held_out)


def _unlike_probabilities(out: Outputs, lowered: Lowered) -> tuple[NDArray[np.bool_] | bool, float | None]:
    """Return in which rows probabilities are not those of the device's own scores, and how far they are off at most.

    Scores are compared by themselves. Integers must give each probability bit for bit.
    """
    made = lowered.probabilities
    if made is None:
        return False, None
    if out.probabilities is None:
        return np.ones(len(out.labels), dtype=np.bool_), float("inf")
    expected = made.of(out.scores).astype(np.float64)
    difference = np.abs(out.probabilities.astype(np.float64) - expected)
    difference = np.where(np.isnan(difference), np.inf, difference) / made.one
    allowed = 0.0 if lowered.format.numbers.is_exact else max(made.bound, PROBABILITY_TOLERANCE)
    return np.any(difference > allowed, axis=1), float(difference.max())


def _within(out: Outputs, expected: Array, tolerance: float, decision: str) -> NDArray[np.bool_]:
    """Return which rows have every score within a tolerance, and the label that their own scores decide for."""
    near = np.all(np.abs(out.scores - expected) <= tolerance, axis=1)
    return np.asarray(near & (class_indices(out.scores, decision) == out.labels))


def _leads(expected: Reference, out: Outputs, model: SparseModel) -> Array:
    """Return by how much the model's scores prefer its own classes to the device's."""
    known = (out.labels >= 0) & (out.labels < len(model.classes))  # a device may give any index
    labels = np.where(known, out.labels, expected.labels)
    return DECISIONS[model.decision].leads_over(expected.scores, expected.labels, out.scores, labels)
