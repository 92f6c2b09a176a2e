"""What a prediction costs: instructions, cycles or latency, flash and RAM, per device, and whether it fits."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen import progress
from sparsegen.arrays import Array
from sparsegen.budget.budget import Budget
from sparsegen.devices import Device, Measurement, Profile
from sparsegen.errors import FitError, OptionError
from sparsegen.lowering.formats import FLOAT32, Format
from sparsegen.lowering.lowered import Lowered
from sparsegen.model import SparseModel
from sparsegen.model.judged import Judged
from sparsegen.model.judged_values import JudgedValues
from sparsegen.promised import Accuracy, bound
from sparsegen.targets import Export, Target
from sparsegen.verify import Exports, devices_for

ADVICE = "use fewer vectors or features, a projection, or a larger budget"


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
    budget: Budget | None = None
    """What it may cost."""

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
    def is_estimate(self) -> bool:
        """Whether the cycles, and the time with them, are those of a model of the core's timing."""
        return self.measurement.cycles is None and self.measurement.estimate is not None

    @property
    def cycles(self) -> float | None:
        """Mean clock cycles: exact, or an estimate on the slow side; ``None`` where neither is known."""
        estimate = self.measurement.estimate
        return estimate.cycles if self.is_estimate and estimate is not None else self.measurement.cycles

    @property
    def worst_cycles(self) -> int | None:
        """Most clock cycles of any measured row: exact, or an estimate on the slow side."""
        estimate = self.measurement.estimate
        return estimate.worst_cycles if self.is_estimate and estimate is not None else self.measurement.worst_cycles

    @property
    def milliseconds(self) -> float | None:
        """Mean time at the part's clock, if cycles are known or estimated."""
        return None if self.profile is None else _share(self.cycles, self.profile.clock_hz / 1000)

    @property
    def worst_milliseconds(self) -> float | None:
        """Longest time of any measured row at the part's clock, if cycles are known or estimated."""
        return None if self.profile is None else _share(self.worst_cycles, self.profile.clock_hz / 1000)

    @property
    def problem(self) -> str | None:
        """A sentence if the model does not fit the part or is over the budget, otherwise ``None``."""
        ram = self.input_bytes if self.ram_with_input is None else self.ram_with_input
        if self.profile is not None:
            short = self.profile.shortage(self.measurement.flash, ram)
            if short is not None:
                included = " with its input" if ram > self.profile.ram_bytes else ""
                return self.profile.misfit("the model", self.device, f"it{included} {short}")
        if self.budget is None:
            return None
        where = self.device if self.profile is None else f"{self.device} ({self.profile.part})"
        over = self.budget.shortage(self.measurement.flash, ram, self.worst_milliseconds)
        if over is not None:
            return (
                f"the model is over its budget on device {where}: with its input it {over}{self._condition}; {ADVICE}"
            )
        known = {"flash": self.measurement.flash, "ram": self.ram_with_input, "milliseconds": self.worst_milliseconds}
        for limit, needed in known.items():
            if needed is None and getattr(self.budget, limit) is not None:
                return (
                    f"device {where} does not tell the {limit} that a prediction needs, so that the budget cannot be "
                    "checked; choose an emulated device or a part"
                )
        return None

    @property
    def _condition(self) -> str:
        """What a time is worth, where the budget has one."""
        if self.budget is None or self.budget.milliseconds is None or self.milliseconds is None:
            return ""
        kind = "a slow-side estimate of the" if self.is_estimate else "the"
        return f" (time: {kind} slowest measured row at {self.clock})"

    @property
    def clock(self) -> str:
        """The part's clock in words."""
        return "an unknown clock" if self.profile is None else f"{self.profile.clock_hz / 1e6:g} MHz"

    @property
    def accuracy(self) -> Accuracy | None:
        """The accuracy on the labelled rows, on those that were held out where that is known; ``None`` of values."""
        return self.judged.held_out or self.judged.rows if isinstance(self.judged, Judged) else None

    @property
    def _times(self) -> str | None:
        """The mean time, and where it is another, that of the slowest row, which a budget limits."""
        if self.milliseconds is None or self.worst_milliseconds is None:
            return None
        mean, worst = bound(self.milliseconds), bound(self.worst_milliseconds)
        return f"{mean} ms" if mean == worst else f"{mean} ms in the mean and {worst} ms for the slowest measured row"

    def __str__(self) -> str:
        measured, kind = self.measurement, "estimated cycles" if self.is_estimate else "cycles"
        condition = " if memory has no wait states" if self.is_estimate else ""
        figures = (
            ("{:,} bytes of flash", measured.flash),
            ("{:,} bytes of RAM with its input", self.ram_with_input),
            ("{:,.0f} instructions", measured.instructions),
            (f"{{:,}} {kind}", None if self.cycles is None else math.ceil(self.cycles)),
            (f"{{}} at {self.clock}{condition}", self._times),
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
    profile: Profile | None = None,
    clock_hz: int | None = None,
    budget: Budget | None = None,
) -> list[Cost]:
    """Return one cost per device over the rows of ``X``, or over the export's own examples.

    With labels ``y`` every cost tells the accuracy on those rows too. ``profile`` is the part that the devices stand
    for, instead of their own; ``clock_hz`` overrides its clock. A cost over the ``budget`` says so in its ``problem``.
    """
    exports = Exports(model, target, name, numbers)
    return bench_exports(exports, X, devices, y, profile=profile, clock_hz=clock_hz, budget=budget)


def bench_exports(
    exports: Exports,
    X: Array | None = None,
    devices: Iterable[str] | None = None,
    y: NDArray[np.generic] | None = None,
    *,
    profile: Profile | None = None,
    clock_hz: int | None = None,
    budget: Budget | None = None,
) -> list[Cost]:
    """Return what :func:`bench` does for a model that is lowered already."""
    lowered = exports.lowered
    found = None if X is None or y is None else lowered.test(X, y)
    inputs = lowered.inputs(lowered.selftest.rows if X is None else np.asarray(X))
    chosen = devices_for(exports.runs_as, devices)
    parts = {device.name: part_of(device, profile, clock_hz) for device in chosen}
    if clock_hz is not None and not any(parts.values()):
        raise OptionError(f"{', '.join(parts)} cannot be given a clock: it runs in real time; choose a microcontroller")
    costs = []
    with progress.task("measuring", len(chosen)) as advance:
        for device in chosen:
            cost = cost_on(device, exports[device.loops], lowered, inputs, parts[device.name], budget)
            costs.append(replace(cost, judged=found))
            advance(device.name)
    return costs


def part_of(device: Device, profile: Profile | None, clock_hz: int | None) -> Profile | None:
    """Return the part that a device stands for, at another clock if one is given."""
    part = device.profile if profile is None else profile
    return part if part is None or clock_hz is None else replace(part, clock_hz=clock_hz)


def cost_on(
    device: Device,
    export: Export,
    lowered: Lowered,
    inputs: NDArray[Any],
    profile: Profile | None,
    budget: Budget | None = None,
) -> Cost:
    """Return what an export costs on one device, as the part ``profile``, over rows as the export reads them."""
    timed = device if profile is None else device.timed_as(profile)
    return Cost(
        device=device.name,
        measurement=timed.measure(export, inputs),
        table_bytes=export.table_bytes,
        profile=profile,
        input_bytes=export.n_features * export.input_dtype.itemsize,
        dtype=lowered.format.dtype,
        made_by=device.made_by(measuring=True),
        budget=budget,
    )


def require_fit(
    device: Device,
    export: Export,
    lowered: Lowered,
    profile: Profile | None = None,
    clock_hz: int | None = None,
    budget: Budget | None = None,
) -> Cost:
    """Return what an export costs on a device over its own examples; raise a FitError where that is too much."""
    inputs = lowered.inputs(lowered.selftest.rows)
    cost = cost_on(device, export, lowered, inputs, part_of(device, profile, clock_hz), budget)
    if cost.problem is not None:
        raise FitError(cost.problem)
    return cost
