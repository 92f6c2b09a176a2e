"""One model on one device: accuracy, agreement with its own Python, and what a prediction costs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.peers._stage import Cost

Labels = NDArray[np.int64]


@dataclass(frozen=True)
class Row:
    """One line of the table; ``None`` where a figure could not be had, and the remark says why."""

    problem: str
    code: str
    setting: str
    device: str = ""
    accuracy: float | None = None
    """On the test rows, as the generated code labels them."""
    agreement: float | None = None
    """Share of the test rows that it labels as its own Python model does."""
    flash: int | None = None
    ram: int | None = None
    cost: float | None = None
    unit: str = ""
    remark: str = ""
    is_base: bool = False
    """Whether the others are divided by this one."""

    def on(self, device: str, **figures: Any) -> Row:
        """Return the row for a device."""
        return replace(self, device=device, **figures)


def fill(blank: Row, device: str, cost: Cost, truth: Labels, python_labels: Labels) -> Row:
    """Return a row with the figures of one device."""
    accuracy = agreement = None
    if cost.labels is not None:
        accuracy = float(np.mean(cost.labels == truth))
        agreement = float(np.mean(cost.labels == python_labels))
    return blank.on(
        device,
        accuracy=accuracy,
        agreement=agreement,
        flash=cost.flash,
        ram=cost.ram,
        cost=cost.value,
        unit=cost.unit,
        remark=cost.remark,
    )
