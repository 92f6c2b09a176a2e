"""Contest: the rows, the device and the budget that baselines are trained, measured and judged on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen.arrays import Array
from sparsegen.bench import Cost
from sparsegen.devices import DEVICES, Device, Profile, thin
from sparsegen.devices._emulated import EmulatedDevice
from sparsegen.errors import SparsegenError
from sparsegen.lowering.agreement import NO_CLASS, label_indices
from sparsegen.promised import Accuracy
from sparsegen.report.baselines.peer_code import hosted
from sparsegen.report.subject import Subject
from sparsegen.report.tested import Indices
from sparsegen.targets import Export

MOST_RUN = 2000
"""Tested rows that are all run on the device."""
MEASURED_ROWS = 8
"""Rows that a baseline is measured over: an emulator takes long for the largest of them."""
MOST_ROWS = 4000
"""Training rows that baselines get: an SVC of many more would not fit any of these devices, and takes minutes."""


@dataclass(frozen=True)
class Baseline:
    """One baseline: what it is, how accurate, and what it costs."""

    name: str
    setting: str
    accuracy: Accuracy | None = None
    cost: Cost | None = None
    least_flash: int | None = None
    """Bytes that its tables alone take, where it could not be built."""
    remark: str = ""

    @property
    def flash(self) -> int | None:
        """Bytes of flash, or the least that it needs."""
        measured = None if self.cost is None else self.cost.measurement.flash
        return self.least_flash if measured is None else measured


@dataclass(frozen=True, eq=False)
class Contest:
    """The same rows, device and flash for every baseline."""

    X: Array
    y: Indices
    """Class indices."""
    tests: Array
    """The tested rows."""
    wanted: Indices
    basis: Accuracy
    """The model's own accuracy on the same rows, whose groups count here too."""
    n_classes: int
    device: str
    profile: Profile | None
    """The part that the device stands for."""
    flash: int
    """Bytes that each may take."""
    n_train: int
    """Training rows there were, before some were left out for time."""

    def accuracy(self, given: NDArray[np.integer[Any]]) -> Accuracy:
        """Return how many of the tested rows these class indices are right about."""
        return self.basis.on(int(np.count_nonzero(given == self.wanted)), len(self.wanted))

    def cost(self, export: Export, rows: NDArray[Any]) -> Cost:
        """Return what a peer's export costs on the device, over a few of the rows."""
        device = self._device
        timed = device if self.profile is None else device.timed_as(self.profile)
        measured = timed.measure(export, thin(rows, MEASURED_ROWS))
        row_bytes = export.n_features * export.input_dtype.itemsize
        made_by = device.made_by(measuring=True)
        return Cost(device.name, measured, export.table_bytes, self.profile, row_bytes, made_by=made_by)

    def judge(self, export: Export, rows: NDArray[Any], given: NDArray[np.integer[Any]]) -> tuple[Accuracy, str]:
        """Return how many of the tested rows a peer's C is right about, on the device.

        ``given`` are the class indices that its Python gives; of very many rows they count, with a remark on how they
        compare with the device's where the two differ.
        """
        place = np.arange(len(rows)) if len(rows) <= MOST_RUN else thin(np.arange(len(rows)))
        labels = self._device.run(export, rows[place]).labels
        if len(place) == len(rows):
            return self.accuracy(labels), ""
        wrong = int(np.count_nonzero(labels != given[place]))
        remark = f"accuracy as in Python; {wrong} of {len(place)} labels differ on the device" if wrong else ""
        return self.accuracy(given), remark

    @property
    def _device(self) -> Device:
        device = DEVICES[self.device]
        return hosted(device) if isinstance(device, EmulatedDevice) else device


def contest(subject: Subject) -> Contest | None:
    """Return the contest on the page's main device; ``None`` without training rows, or without a device."""
    found, cost, tested = subject.train_rows, subject.main_cost, subject.tested
    if found is None or cost is None or not tested.is_held_out or cost.measurement.flash is None:
        return None
    X, labels = found
    y = label_indices(subject.model, labels)
    known = np.flatnonzero(y != NO_CLASS)
    kept = known[thin(np.arange(len(known)), MOST_ROWS)]
    if len(np.unique(y[kept])) < len(subject.classes):  # peers number the classes that they have seen
        return None
    fill = subject.model.transform.filled
    budget = subject.flash_budget
    return Contest(
        np.asarray(fill(np.asarray(X, dtype=np.float64)))[kept],
        y[kept],
        subject.tested_features,
        subject.answers.wanted,
        subject.answers.accuracy,
        len(subject.classes),
        cost.device,
        cost.profile,
        cost.measurement.flash if budget is None else budget,
        len(known),
    )


def failed(baseline: Baseline, error: SparsegenError) -> Baseline:
    """Return the baseline with the first sentence of what went wrong."""
    return replace(baseline, remark=" ".join(str(error).split()).split("; ")[0][:160])
