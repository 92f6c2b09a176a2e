"""AVR microcontrollers, ATmega328P and ATtiny85: avr-gcc builds the program, simavr runs it, exact to the cycle."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen.devices import DEVICES, Device, Measurement, Outputs, Profile, thin
from sparsegen.devices._avr_program import COMPILER, SIMULATOR, AvrBuild, has_library
from sparsegen.devices._harness import outputs_of, result_fields
from sparsegen.devices._toolchain import DEVICES_EXTRA, compiler_name, installed
from sparsegen.errors import FitError
from sparsegen.targets import Export

DEBIAN = "gcc-avr avr-libc simavr"
RETURN_CYCLES = 4
"""What ``ret`` takes with a 16-bit program counter: it belongs to the function, the call to its caller."""


class Avr(Device):
    """An AVR in simavr: exact cycles, flash and RAM.

    Flash is the image with only a prediction and what it reaches, without start-up code; RAM is its static data
    plus the deepest stack over the measured rows, return address included; cycles run from a prediction's first
    instruction to its return.
    """

    runs = "c"
    loops = "avr"
    profile: Profile

    def __init__(self, name: str, description: str, profile: Profile) -> None:
        self.name = name
        self.description = description
        self.profile = profile

    def missing(self) -> str | None:
        """Return what to install, as a sentence, or ``None`` where the device can run here."""
        programs = [program for program in (COMPILER, SIMULATOR) if shutil.which(program) is None]
        if not programs and not has_library(COMPILER):
            programs = ["avr-libc"]
        if programs:
            return f"{' and '.join(programs)} not found; install them (Debian: apt-get install {DEBIAN})"
        return None if installed("elftools") else f"elftools not found; install it with: {DEVICES_EXTRA}"

    def made_by(self, *, measuring: bool = False) -> str:
        """Return the compiler's name and version, and the simulator's name: it tells no version."""
        return f"{compiler_name((COMPILER,))} and {SIMULATOR}"

    def run(self, export: Export, X: NDArray[Any]) -> Outputs:
        """Return the scores and class indices the simulated processor computes for every row."""
        rows = self.accept(export, X)
        with tempfile.TemporaryDirectory(prefix="sparsegen-") as folder:
            built = AvrBuild(export, self.name, self.profile, Path(folder))
            shown = b"".join(row for printed in built.simulate(rows, measure=False) for row in printed.rows)
        record = np.dtype(result_fields(export, "i2")).newbyteorder("<")
        return outputs_of(np.frombuffer(shown, dtype=record), export)

    def measure(self, export: Export, X: NDArray[Any]) -> Measurement:
        """Return flash, RAM and cycles over (at most 64 of) the rows; no cycles where the export does not fit."""
        rows = thin(self.accept(export, X))
        with tempfile.TemporaryDirectory(prefix="sparsegen-") as folder:
            try:
                built = AvrBuild(export, self.name, self.profile, Path(folder))
            except FitError:
                return Measurement(export.table_bytes, None, None, None)
            image = built.weigh()
            try:
                batches = list(built.simulate(rows, measure=True))
            except FitError as error:
                return Measurement(image.flash, max(image.static_ram + built.frame(), error.ram), None, None)
        cycles = [call - empty + RETURN_CYCLES for empty, *calls in (b.cycles for b in batches) for call in calls]
        return Measurement(
            flash=image.flash,
            ram=image.static_ram + max(batch.stack for batch in batches),
            instructions=None,
            latency_us=None,
            cycles=sum(cycles) / len(cycles),
            worst_cycles=max(cycles),
        )


ATMEGA328P = Profile("ATmega328P", 16_000_000, 32 << 10, 2 << 10)
ATTINY85 = Profile("ATtiny85", 8_000_000, 8 << 10, 512)

for name, description, profile in (
    ("atmega328p", "8-bit AVR, no FPU (Arduino Uno and Nano)", ATMEGA328P),
    ("attiny85", "8-bit AVR, no FPU and no multiplier", ATTINY85),
):
    DEVICES.register(name)(Avr(name, description, profile))
