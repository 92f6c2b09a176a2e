"""What a prediction costs: instructions or latency, flash and RAM, per device."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from sparsegen import progress
from sparsegen.devices import Measurement
from sparsegen.expression import Array
from sparsegen.model import SparseModel
from sparsegen.registry import TARGETS
from sparsegen.selftest import make_selftest
from sparsegen.verify import as_float32, devices_for


@dataclass(frozen=True)
class Cost:
    """The cost of one prediction on one device."""

    device: str
    measurement: Measurement
    table_bytes: int


def bench(
    model: SparseModel,
    X: Array | None = None,
    *,
    target: str = "c",
    devices: Iterable[str] | None = None,
    name: str = "model",
) -> list[Cost]:
    """Return one cost per device over the rows of ``X``, or over the export's own examples."""
    export = TARGETS[target].export(model, name)
    rows = as_float32(make_selftest(model).inputs if X is None else np.asarray(X))
    chosen = devices_for(export.runs_as, devices)
    costs = []
    with progress.task("measuring", len(chosen)) as advance:
        for device in chosen:
            costs.append(Cost(device.name, device.measure(export, rows), export.table_bytes))
            advance(device.name)
    return costs
