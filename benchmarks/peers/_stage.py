"""Where everything runs: one compiler, one set of flags and one harness per device, for peers and for us.

Labels come from this computer, for all rows; a device then labels the rows it is measured on, which must be the same.
Emulated devices are built with ``-fhosted``, so that ``pow(x, 2.0)`` is a product as in usual firmware, and with the
few declarations of ``templates/peers/include`` instead of a C library.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen.devices import DEVICES, Device, Measurement, thin
from sparsegen.devices._emulated import EmulatedDevice
from sparsegen.devices._toolchain import standard
from sparsegen.devices.host import OPTIMISE, Host
from sparsegen.errors import SparsegenError
from sparsegen.model import SparseModel
from sparsegen.report.baselines.peer_code import COMPILE_SECONDS, hosted
from sparsegen.targets import Export

HOST = "host"
MEASURED_ROWS = 16
INSTRUCTIONS, CYCLES = "instructions", "cycles"
KEEP_LIBRARIES = "-Wl,--no-as-needed"  # they stand before the sources


@dataclass(frozen=True)
class Cost:
    """What one build on one device gave."""

    labels: NDArray[np.int32] | None = None
    """Class indices of all test rows."""
    flash: int | None = None
    ram: int | None = None
    value: float | None = None
    unit: str = ""
    remark: str = ""


class Stage:
    """The devices that take part."""

    def __init__(self, devices: Sequence[str]) -> None:
        self.devices = tuple(devices)
        self.models: dict[str, list[tuple[SparseModel, bool]]] = {}
        """Our models of every problem, and which is the chosen one."""

    def costs(
        self,
        export: Callable[[str], Export],
        inputs: NDArray[Any],
        devices: Sequence[str],
        measured_rows: int = MEASURED_ROWS,
        link_flags: Sequence[str] = (),
    ) -> dict[str, Cost]:
        """Return the cost on every device of the export made for it; what goes wrong is a remark."""
        on_host = _on_host(export(HOST), inputs, measured_rows if HOST in devices else 0, link_flags)
        costs = {HOST: on_host}
        for name in devices:
            if name != HOST:
                costs[name] = _on(name, export(name), inputs, on_host, measured_rows)
        return costs


def _on_host(export: Export, inputs: NDArray[Any], measured_rows: int, link_flags: Sequence[str]) -> Cost:
    host = Host(flags=(standard(export), OPTIMISE, KEEP_LIBRARIES, *link_flags, "-lm"))
    host.compile_seconds = COMPILE_SECONDS
    try:
        out, instructions = host.predict_and_count(export, inputs, measured_rows)
    except SparsegenError as error:
        return Cost(remark=_sentence(error))
    return Cost(out.labels, value=instructions, unit=INSTRUCTIONS)


def _on(name: str, export: Export, inputs: NDArray[Any], on_host: Cost, measured_rows: int) -> Cost:
    device = DEVICES[name]
    few = thin(np.arange(len(inputs)), measured_rows)
    try:
        labels, measured = _measure(device, export, inputs[few])
    except SparsegenError as error:
        return replace(on_host, value=None, unit="", remark=_sentence(error))
    value, unit = measured.instructions, INSTRUCTIONS
    if value is None:
        value, unit = measured.cycles, CYCLES
    remarks = []
    if device.profile is not None:
        row_bytes = export.n_features * export.input_dtype.itemsize
        with_row = None if measured.ram is None else measured.ram + row_bytes
        short = device.profile.shortage(measured.flash, with_row)
        remarks += [f"does not fit the {device.profile.part} with its row: {short}"] if short else []
    if labels is not None and on_host.labels is not None:
        wrong = int(np.count_nonzero(labels != on_host.labels[few]))
        remarks += [f"{wrong} of {len(few)} labels differ from this computer's"] if wrong else []
    return Cost(on_host.labels, measured.flash, measured.ram, value, unit, "; ".join(remarks))


def _measure(device: Device, export: Export, rows: NDArray[Any]) -> tuple[NDArray[np.int32] | None, Measurement]:
    if isinstance(device, EmulatedDevice):
        return hosted(device).predict_and_measure(export, rows)
    measured = device.measure(export, rows)
    return (None if measured.cycles is None else device.run(export, rows).labels), measured


def _sentence(error: SparsegenError) -> str:
    """Return the beginning of what went wrong, in one line."""
    said = re.sub(r"\s+", " ", str(error))
    return said if len(said) < 160 else f"{said[:157]}..."
