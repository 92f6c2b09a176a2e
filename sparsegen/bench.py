"""What a prediction costs: instructions, cycles or latency, flash and RAM, per device, and whether it fits."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparsegen import progress
from sparsegen.arrays import Array
from sparsegen.devices import Measurement, Profile
from sparsegen.lowering.formats import FLOAT32, Format
from sparsegen.model import SparseModel
from sparsegen.model.judged import Judged
from sparsegen.model.judged_values import JudgedValues
from sparsegen.targets import Target
from sparsegen.verify import Exports, devices_for


@dataclass(frozen=True)
class Cost:
    """The cost of one prediction on one device."""

    device: str
    measurement: Measurement
    table_bytes: int
    profile: Profile | None = None
    """The microcontroller that the device stands for."""
    input_bytes: int = 0
    """RAM that the features take, which the measurement leaves out."""
    dtype: str = FLOAT32.dtype
    made_by: str = ""
    """The compiler, emulator or evaluator that made these figures, with versions."""
    judged: Judged | JudgedValues | None = None
    """How many of the rows the program labels correctly, where they have labels, or how far its values are off: in the
    simulator."""

    @property
    def ram_with_input(self) -> int | None:
        """Bytes of RAM with the features; ``None`` if the device cannot measure it."""
        return None if self.measurement.ram is None else self.measurement.ram + self.input_bytes

    @property
    def flash_share(self) -> float | None:
        """Share of the part's flash."""
        return None if self.profile is None else _share(self.measurement.flash, self.profile.flash_bytes)

    @property
    def ram_share(self) -> float | None:
        """Share of the part's RAM, features included."""
        return None if self.profile is None else _share(self.ram_with_input, self.profile.ram_bytes)

    @property
    def milliseconds(self) -> float | None:
        """Mean time at the part's clock, if cycles are known."""
        return None if self.profile is None else _share(self.measurement.cycles, self.profile.clock_hz / 1000)

    @property
    def worst_milliseconds(self) -> float | None:
        """Longest time of any measured row at the part's clock, if cycles are known."""
        return None if self.profile is None else _share(self.measurement.worst_cycles, self.profile.clock_hz / 1000)

    @property
    def problem(self) -> str | None:
        """A sentence if the model does not fit the part, otherwise ``None``."""
        if self.profile is None:
            return None
        ram = self.input_bytes if self.ram_with_input is None else self.ram_with_input
        short = self.profile.shortage(self.measurement.flash, ram)
        if short is None:
            return None
        included = " with its input" if ram > self.profile.ram_bytes else ""
        return self.profile.misfit("the model", self.device, f"it{included} {short}")

    def __str__(self) -> str:
        measured = self.measurement
        figures = (
            ("{:,} bytes of flash", measured.flash),
            ("{:,} bytes of RAM with its input", self.ram_with_input),
            ("{:,.0f} instructions", measured.instructions),
            ("{:,.0f} cycles", measured.cycles),
            ("{:.3g} ms", self.milliseconds),
            ("{:.2f} microseconds", measured.latency_us),
        )
        known = ", ".join(text.format(figure) for text, figure in figures if figure is not None)
        problem = "" if self.problem is None else f"; {self.problem}"
        return f"{self.device}, {self.dtype}: {known or 'nothing measured'}{problem}"


def _share(value: float | None, whole: float) -> float | None:
    return None if value is None else value / whole


def bench(
    model: SparseModel,
    X: Array | None = None,
    y: NDArray[np.generic] | None = None,
    *,
    target: str | Target = "c",
    devices: Iterable[str] | None = None,
    name: str = "model",
    numbers: Format = FLOAT32,
) -> list[Cost]:
    """Return one cost per device over the rows of ``X``, or over the export's own examples.

    With labels ``y`` every cost tells the accuracy on those rows too.
    """
    return bench_exports(Exports(model, target, name, numbers), X, devices, y)


def bench_exports(
    exports: Exports,
    X: Array | None = None,
    devices: Iterable[str] | None = None,
    y: NDArray[np.generic] | None = None,
) -> list[Cost]:
    """Return what :func:`bench` does for a model that is lowered already."""
    lowered = exports.lowered
    found = None if X is None or y is None else lowered.test(X, y)
    inputs = lowered.inputs(lowered.selftest.rows if X is None else np.asarray(X))
    chosen = devices_for(exports.runs_as, devices)
    costs = []
    with progress.task("measuring", len(chosen)) as advance:
        for device in chosen:
            export = exports[device.loops]
            measured = device.measure(export, inputs)
            input_bytes = export.n_features * export.input_dtype.itemsize
            costs.append(
                Cost(
                    device=device.name,
                    measurement=measured,
                    table_bytes=export.table_bytes,
                    profile=device.profile,
                    input_bytes=input_bytes,
                    dtype=lowered.format.dtype,
                    made_by=device.made_by(measuring=True),
                    judged=found,
                )
            )
            advance(device.name)
    return costs
