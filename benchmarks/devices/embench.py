"""Estimated cycles of Embench programs beside those measured on a real Cortex-M4: is the estimate's range true?

Embench (https://github.com/embench/embench-iot, release 1.0; not part of sparsegen) ships the milliseconds that each of
its programs took on an STM32F4 Discovery at 16 MHz, where flash has no wait states, built by gcc with -O2. The same
programs are built here, with whatever arm-none-eabi-gcc is installed, run in the emulator, and timed by our model::

    python -m benchmarks.devices.embench --embench embench-iot

Compilers differ by a few per cent, so a ratio a little outside of the range is no proof against the model.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from sparsegen.devices._emulator import EmulatedProcessor
from sparsegen.devices._image import LINKER_SCRIPT, read_image
from sparsegen.devices.cortex_m import CortexM
from sparsegen.devices.timing import TIMINGS

CLOCK_MHZ = 16
CYCLES_PER_MS = 1000 * CLOCK_MHZ
GCC = "arm-none-eabi-gcc"
FLAGS = ("-mcpu=cortex-m4", "-mthumb", "-O2", "-ffunction-sections", "-fdata-sections", "-DCPU_MHZ=1", "-nostartfiles")
ROOTS = ("initialise_benchmark", "benchmark")


@dataclass(frozen=True)
class Compared:
    """One program: cycles measured on the board, and estimated."""

    program: str
    measured: float
    least: float
    most: float
    instructions: int


def compare(folder: Path, core: str = "cortex-m4") -> list[Compared]:
    """Return the cycles of every program that Embench measured and that builds without its own support files."""
    milliseconds = json.loads((folder / "baseline-data" / "speed.json").read_text())
    found = []
    for program, taken in milliseconds.items():
        sources = sorted((folder / "src" / program).glob("*.c"))
        with tempfile.TemporaryDirectory() as name:
            elf = _built(sources, folder / "support", Path(name)) if sources else None
        if elf is None:
            continue
        image = read_image(elf)
        machine = EmulatedProcessor(CortexM("CORTEX_M4"), image, 4, 1)
        machine.predict("initialise_benchmark")
        machine.count_instructions()
        machine.predict("benchmark")
        spent = machine.trace.take(TIMINGS[core])
        if spent.cycles is not None:
            # A program's repetitions scale with CPU_MHZ: 16 on the board, 1 here.
            found.append(Compared(program, taken * CYCLES_PER_MS / CLOCK_MHZ, *spent.cycles, spent.instructions))
    return found


def _built(sources: Sequence[Path], support: Path, folder: Path) -> bytes | None:
    """Return the linked program, or ``None`` where gcc cannot build it from these sources alone."""
    script, elf = folder / "link.ld", folder / "program.elf"
    script.write_text(LINKER_SCRIPT % {"roots": " ".join(ROOTS)})
    (folder / "support.h").write_text('#include <stdint.h>\n#include "beebsc.h"\n')
    command = [GCC, *FLAGS, "--specs=nosys.specs", f"-I{folder}", f"-I{support}", *map(str, sources)]
    command += [str(support / "beebsc.c"), f"-Wl,-T,{script}"]
    command += ["-Wl,--gc-sections", f"-Wl,-e,{ROOTS[1]}", "-o", str(elf)]
    finished = subprocess.run(command, capture_output=True, check=False)
    return elf.read_bytes() if finished.returncode == 0 else None


def table(found: Sequence[Compared]) -> str:
    """Return the comparison as Markdown; ratios are of the estimate to the measurement."""
    lines = [
        "| program | measured, Mcycles | fewest / measured | most / measured | cycles per instruction |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    lines += [
        f"| {c.program} | {c.measured / 1e6:.3f} | {c.least / c.measured:.2f} | {c.most / c.measured:.2f} "
        f"| {c.measured / c.instructions:.2f} |"
        for c in found
    ]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> str:
    """Return the comparison."""
    parser = argparse.ArgumentParser(description=re.split(r"\n\n", __doc__ or "")[0])
    parser.add_argument("--embench", type=Path, required=True, help="folder of Embench's sources")
    parser.add_argument("--json", action="store_true", help="one JSON document instead of a table")
    options = parser.parse_args(arguments)
    found = compare(options.embench)
    return json.dumps([asdict(one) for one in found], indent=2) if options.json else table(found)


if __name__ == "__main__":
    print(main())
