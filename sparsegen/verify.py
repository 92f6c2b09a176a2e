"""Does the export compute what Python computed? Compile it, run every row on a device, compare."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparsegen import progress
from sparsegen.devices import Device
from sparsegen.errors import DataError, FitError, FitWarning, OptionError, ToolError
from sparsegen.expression import Array
from sparsegen.model import SparseModel
from sparsegen.registry import DEVICES, TARGETS
from sparsegen.targets import Export

TOLERANCE = 1e-4  # of the scores, relative to the largest


@dataclass(frozen=True)
class Verdict:
    """The comparison of one device with the model."""

    target: str
    device: str
    rows: int
    mismatches: int
    """Rows whose label differs from the model's."""
    max_difference: float
    """Largest absolute difference of a score."""
    relative_difference: float
    """The same, relative to the largest score of the model (at least 1)."""
    accuracy: float | None
    """Share of rows the device labels correctly, where the data has labels."""

    @property
    def ok(self) -> bool:
        """Whether every label agrees and every score is within tolerance."""
        return self.mismatches == 0 and self.relative_difference <= TOLERANCE


def devices_for(runs_as: str, names: Iterable[str] | None) -> list[Device]:
    """Return the named devices, or all that can run here; one that cannot, or none at all, is a ToolError."""
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
) -> list[Verdict]:
    """Return one verdict per device, over every row of ``X``.

    Of the devices that can run here, one that the model does not fit is left out with a ``FitWarning``; where
    ``devices`` names it, or none is left, that is a ``FitError``.
    """
    if len(X) == 0:
        raise DataError("there are no rows to verify on; pass at least one")
    export = TARGETS[target].export(model, name)
    scores, labels = model.scores(X), model.predict_index(X)
    chosen = devices_for(export.runs_as, devices)
    verdicts = []
    with progress.task("verifying", len(chosen)) as advance:
        for device in chosen:
            try:
                verdicts.append(_compare(device, export, model, X, y, scores, labels))
            except FitError as error:
                if devices is not None or (device is chosen[-1] and not verdicts):
                    raise
                warnings.warn(f"{device.name} is left out: {error}", FitWarning, stacklevel=2)
            advance(device.name)
    return verdicts


def _compare(
    device: Device,
    export: Export,
    model: SparseModel,
    X: Array,
    y: NDArray[np.generic] | None,
    scores: Array,
    labels: NDArray[np.int64],
) -> Verdict:
    out = device.run(export, as_float32(X))
    difference = float(np.max(np.abs(out.scores.astype(np.float64) - scores)))
    if np.isnan(difference):
        difference = float("inf")
    accuracy = None
    if y is not None:
        names = dict(enumerate(str(c) for c in model.classes))  # a broken export may give an index that has no label
        accuracy = float(np.mean([names.get(int(i)) == str(label) for i, label in zip(out.labels, y, strict=True)]))
    return Verdict(
        target=export.target,
        device=device.name,
        rows=len(X),
        mismatches=int(np.count_nonzero(out.labels != labels)),
        max_difference=difference,
        relative_difference=difference / max(1.0, float(np.abs(scores).max())),
        accuracy=accuracy,
    )


def as_float32(X: Array) -> NDArray[np.float32]:
    """Return rows as a device takes them, or raise where float32 cannot hold a value."""
    given = np.asarray(X)
    with np.errstate(over="ignore"):
        rows = given.astype(np.float32)
    if not np.isfinite(rows).all():
        row, column = np.argwhere(~np.isfinite(rows))[0]
        if not np.isfinite(given[row, column]):
            raise DataError(f"row {row + 1}, feature {column + 1} is not a finite number; devices need one")
        raise DataError(
            f"row {row + 1}, feature {column + 1} holds a value beyond float32, which devices take; rescale it"
        )
    return rows
