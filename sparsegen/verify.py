"""Does the export compute what Python computed? Compile it, run every row on a device, compare."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen import progress
from sparsegen.arrays import Array
from sparsegen.devices import DEVICES, Device
from sparsegen.errors import DataError, FitError, FitWarning, OptionError, ToolError
from sparsegen.lowering.formats import FLOAT32, Format
from sparsegen.lowering.lowered import Lowered, Reference
from sparsegen.model import SparseModel
from sparsegen.targets import TARGETS, Export

TOLERANCE = 1e-4  # of the scores, relative to the largest


@dataclass(frozen=True)
class Verdict:
    """The comparison of one device with the model."""

    target: str
    device: str
    rows: int
    mismatches: int
    """Rows whose label differs from the model's; for an integer export, rows that differ at all from its simulator."""
    max_difference: float
    """Largest absolute difference of a score; for an integer export, from its simulator and in units of the model."""
    relative_difference: float
    """The same, relative to the largest score of the model (at least 1)."""
    accuracy: float | None
    """Share of rows the device labels correctly, where the data has labels."""
    dtype: str = FLOAT32.dtype
    same_labels: float | None = None
    """Share of rows whose label is the real-valued model's."""

    @property
    def ok(self) -> bool:
        """Whether every label agrees and every score is within tolerance."""
        return self.mismatches == 0 and self.relative_difference <= TOLERANCE


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
    target: str = "c",
    devices: Iterable[str] | None = None,
    name: str = "model",
    numbers: Format = FLOAT32,
) -> list[Verdict]:
    """Return one verdict per device, over every row of ``X``.

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
    labels = lowered.model.predict_index(X)
    chosen = devices_for(exports.runs_as, devices)
    rows = _Rows(lowered.inputs(X), y, lowered.reference(X), labels)
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

    def __init__(self, model: SparseModel, target: str, name: str, numbers: Format) -> None:
        self._target, self._name = TARGETS[target], name
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
    labels: NDArray[np.int64]
    """Class indices of the real-valued model."""


def _compare(device: Device, export: Export, lowered: Lowered, rows: _Rows) -> Verdict:
    expected, y = rows.expected, rows.y
    out = device.run(export, rows.inputs)
    wrong = out.labels != expected.labels
    if expected.is_exact:
        wrong |= np.any(out.scores != expected.scores, axis=1)
    difference = expected.unit * float(np.max(np.abs(out.scores.astype(np.float64) - expected.scores)))
    if np.isnan(difference):
        difference = float("inf")
    accuracy = None
    if y is not None:
        names = dict(enumerate(str(c) for c in lowered.model.classes))  # a broken export may give any index
        accuracy = float(np.mean([names.get(int(i)) == str(label) for i, label in zip(out.labels, y, strict=True)]))
    return Verdict(
        target=export.target,
        device=device.name,
        rows=len(rows.inputs),
        mismatches=int(np.count_nonzero(wrong)),
        max_difference=difference,
        relative_difference=difference / max(1.0, expected.unit * float(np.abs(expected.scores).max())),
        accuracy=accuracy,
        dtype=lowered.format.dtype,
        same_labels=float(np.mean(out.labels == rows.labels)),
    )
