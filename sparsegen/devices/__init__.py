"""Devices, one family per file: build an export, run it, count instructions, measure flash and RAM."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen.errors import DataError, OptionError, ToolError
from sparsegen.lowering.locate_data import thinned
from sparsegen.registry import Registry
from sparsegen.targets import Export

MEASURED_ROWS = 64
"""Most rows that instructions and stack are measured over, so that a measurement stays quick."""


@dataclass(frozen=True)
class Outputs:
    """What a device computed for each row."""

    scores: NDArray[Any]
    """(n, n_outputs), float32, or int32 of an integer export"""
    labels: NDArray[np.int32]
    """(n,) class indices"""
    probabilities: NDArray[Any] | None = None
    """(n, n_classes), float32, or uint16 of an integer export; ``None`` where the export has none"""


@dataclass(frozen=True)
class Profile:
    """A typical part: its clock and its memory."""

    part: str
    clock_hz: int
    flash_bytes: int
    ram_bytes: int
    core: str | None = None
    """The core whose timing it has, where that is not the device's own."""

    def shortage(self, flash: int | None, ram: int | None) -> str | None:
        """Return in words what is needed beyond what the part has, or ``None`` where it has enough."""
        needs = (("flash", flash, self.flash_bytes), ("RAM", ram, self.ram_bytes))
        short = [
            f"{need:,} bytes of {memory}, and there are {there:,}"
            for memory, need, there in needs
            if need is not None and need > there
        ]
        return f"needs at least {'; '.join(short)}" if short else None

    def misfit(self, model: str, device: str, why: str) -> str:
        """Return the sentence for a model that does not fit this part."""
        advice = "use fewer vectors or features, a projection, or a larger part"
        return f"{model} does not fit device {device} ({self.part}): {why}; {advice}"


@dataclass(frozen=True)
class CycleEstimate:
    """Clock cycles of a prediction as a model of a core's timing has them: an estimate, not a measurement."""

    cycles: float
    """Mean per prediction, on the slow side."""
    least_cycles: float
    """Mean per prediction, on the fast side."""
    worst_cycles: int
    """Most of any measured row, on the slow side."""
    core: str
    """The core whose timing it is."""
    model: str
    """What the cycles follow from and where that is from."""
    error: str
    """How far off such estimates were found to be."""


@dataclass(frozen=True)
class Measurement:
    """The cost of one prediction on a device; ``None`` where the device cannot tell."""

    flash: int | None
    """Bytes of code and constants linked for a prediction (unused sections dropped)."""
    ram: int | None
    """Bytes of static data plus the deepest stack of a prediction."""
    instructions: float | None
    """Mean instructions per prediction."""
    latency_us: float | None
    """Median microseconds per prediction, where the device runs in real time."""
    cycles: float | None = None
    """Mean clock cycles per prediction, where the simulator is exact to the cycle."""
    worst_instructions: int | None = None
    """Most instructions of any measured row: more than the mean where a prediction may stop early."""
    worst_cycles: int | None = None
    """Most clock cycles of any measured row."""
    estimate: CycleEstimate | None = None
    """Clock cycles where the emulator counts instructions only."""
    mix: Mapping[str, float] | None = None
    """Mean instructions of each kind per prediction, where the emulator tells."""


class Device(ABC):
    """Something an export can be built for and run on."""

    name: str
    description: str
    runs: str
    """The kind of export it runs: ``c`` or ``onnx``."""
    loops: str = "portable"
    """The inner loops of C that suit it best."""
    profile: Profile | None = None
    """Clock, flash and RAM of a typical part; ``None`` for a computer."""

    @abstractmethod
    def missing(self) -> str | None:
        """Return what to install, as a sentence, or ``None`` where the device can run here."""

    @abstractmethod
    def made_by(self, *, measuring: bool = False) -> str:
        """Return the programs that make its results here, with versions: compiler, emulator or evaluator.

        ``measuring`` adds those that only a measurement needs. It is asked only where nothing is missing.
        """

    @abstractmethod
    def run(self, export: Export, X: NDArray[Any]) -> Outputs:
        """Return what ``export`` computes on the device for every row of ``X``."""

    @abstractmethod
    def measure(self, export: Export, X: NDArray[Any]) -> Measurement:
        """Return the cost of a prediction of ``export`` on the device, over the rows of ``X``."""

    def timed_as(self, profile: Profile) -> Device:
        """Return the device with the timing of a part's core; only estimates of cycles depend on it."""
        return self

    def require(self) -> None:
        """Raise an error that says what to install where the device cannot run here."""
        reason = self.missing()
        if reason is not None:
            raise ToolError(f"device {self.name} cannot run here: {reason}")

    def accept(self, export: Export, X: NDArray[Any]) -> NDArray[Any]:
        """Return the rows in the export's input type, or raise where device, export and rows do not go together."""
        if export.runs_as != self.runs:
            raise OptionError(
                f"device {self.name} runs {self.runs} exports, but target {export.target} makes {export.runs_as}; "
                f"choose a device that runs {export.runs_as}"
            )
        self.require()
        rows = np.ascontiguousarray(X, dtype=export.input_dtype)
        if rows.ndim != 2 or rows.shape[1] != export.n_features or len(rows) == 0:
            raise DataError(
                f"{export.name} takes rows of {export.n_features} features, got an array of shape {rows.shape}; "
                "pass at least one row with every feature"
            )
        return rows


def thin(rows: NDArray[Any], most: int = MEASURED_ROWS) -> NDArray[Any]:
    """Return at most ``most`` of the rows, evenly spaced and the same ones every time."""
    return thinned(rows, most)


DEVICES: Registry[Device] = Registry("device", __name__)
