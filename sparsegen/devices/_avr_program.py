"""AVR programs: built by avr-gcc around an export, filled with rows, run in simavr, and what they printed."""

from __future__ import annotations

import io
import re
import subprocess
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from sparsegen import progress
from sparsegen.devices import Profile
from sparsegen.devices._avr_harness import ROWS, SOURCE
from sparsegen.devices._harness import definitions
from sparsegen.devices._image import Image, read_image
from sparsegen.devices._toolchain import SECTION_FLAGS, TOOL_SECONDS, compile_with, first_lines, run_tool, write_files
from sparsegen.errors import FitError, ToolError
from sparsegen.targets import Export

COMPILER, SIMULATOR = "avr-gcc", "simavr"
OPTIMISE = "-Os"
SIMULATED_HZ = 100_000_000
"""One cycle is then 10 ns, the unit in which simavr writes its trace; cycles do not depend on it."""
BATCH_ROWS = 500
"""Most rows of one simulation, so that progress shows."""
MAX_ARRAY_BYTES = 32_000
"""avr-gcc takes arrays of less than half the address space."""
COUNT_BYTES = 2
RAM = 0x80_0000
"""What the linker adds to addresses in RAM, to tell them from those in flash."""
FIRST_ROW_SECONDS = 30
END, STACK_MET_DATA = ".", "*"
CRASHED = "avr_sadly_crashed"
TRACE_FILE = "trace.vcd"
# The linker is told of more flash than there is, and to continue after errors: what does not fit is weighed too.
ANY_SIZE = ("-Wl,--defsym=__TEXT_REGION_LENGTH__=0x100000", "-Wl,--noinhibit-exec")
# Start-up code belongs to the program around the model.
NO_START = ("-nostartfiles", "-Wl,--defsym=__do_copy_data=0", "-Wl,--defsym=__do_clear_bss=0")
HARNESS = (f'-DTRACE_FILE="{TRACE_FILE}"', "-DCONSOLE=GPIOR0", "-DTRACE=GPIOR1")
MMCU = ("-Wl,--undefined=sparsegen_mmcu", "-Wl,--section-start=.mmcu=0x910000")


@dataclass(frozen=True)
class Printed:
    """The output of one simulation."""

    rows: list[bytes]
    """The bytes that the program printed for every row."""
    stack: int
    """Bytes of stack below that of ``main``."""
    cycles: list[int]
    """Cycles of every traced call."""


class AvrBuild:
    """Builds one export for one part in a temporary folder; the model is compiled once.

    Raises a FitError where the tables alone, or one row alone, are too large.
    """

    def __init__(self, export: Export, device: str, profile: Profile, folder: Path) -> None:
        self.export, self.device, self.profile, self.folder = export, device, profile, folder
        self._subject = f"{export.name} ({export.target})"
        self._row_bytes = export.n_features * export.input_dtype.itemsize
        short = profile.shortage(export.table_bytes, self._row_bytes)
        if short is not None:
            raise self._misfit(f"it {short}")
        self._objects = [self._compile(Path(source), "-fstack-usage") for source in write_files(export, folder)]

    def weigh(self) -> Image:
        """Return the image with only a prediction and what it reaches, without start-up code."""
        root = self.export.entry
        image = read_image(self._link([f"-Wl,-e,{root}", f"-Wl,--undefined={root}", *NO_START, *ANY_SIZE]))
        self._require(image, root)
        return image

    def frame(self) -> int:
        """Return a lower bound on a prediction's stack: the compiler's figure for its largest function."""
        said = "\n".join(Path(made).with_suffix(".su").read_text() for made in self._objects)
        functions = re.findall(rf"\b{self.export.name}_(?:predict|value|scores)\b.*\t(\d+)\t", said)
        return max(map(int, functions), default=0)

    def simulate(self, rows: NDArray[Any], *, measure: bool) -> Iterator[Printed]:
        """Yield the output of each batch of rows: scores and labels, or stack and cycles of the predictions."""
        folder, suffix = self.folder / "sparsegen_harness", Path(self.export.sources[0]).suffix
        folder.mkdir()
        source, table = folder / f"main{suffix}", folder / f"rows{suffix}"
        source.write_text(SOURCE)
        table.write_text(ROWS)
        harness = self._compile(source, *HARNESS, *definitions(self.export), *(["-DMEASURE"] if measure else []))

        def program(n_rows: int, *options: str) -> bytes:
            filled = self._compile(table, f"-DCAPACITY={COUNT_BYTES + n_rows * self._row_bytes}")
            return self._link([harness, filled, *MMCU, *options])

        smallest = read_image(program(1, *ANY_SIZE))
        made = () if self.export.probability_row is None else ("probabilities",)
        others = () if measure else ("scores", *made)
        for function in (self.export.entry, *(f"{self.export.name}_{other}" for other in others)):
            self._require(smallest, function)
        room = min(self._room(smallest), MAX_ARRAY_BYTES)
        batch = min(BATCH_ROWS, 1 + room // self._row_bytes, len(rows))
        elf = program(batch)
        at = _place_in_file(elf, "sparsegen_rows")
        ends = [*range(1, len(rows), batch), len(rows)]  # the first row alone: a model that never returns shows soon
        with progress.task(f"simulating {self.device}", len(ends)) as advance:
            for first, end in zip([0, *ends], ends, strict=False):
                content = (end - first).to_bytes(COUNT_BYTES, "little") + rows[first:end].tobytes()
                filled = elf[:at] + content + elf[at + len(content) :]
                yield self._run(filled, TOOL_SECONDS if first else FIRST_ROW_SECONDS)
                advance("")

    def _room(self, image: Image) -> int:
        """Return the bytes of flash left beside the program with one row, or raise where there are none."""
        flash, free = image.symbols["__data_load_end"], image.symbols["__stack"] + 1 + RAM - image.symbols["_end"]
        short = self.profile.shortage(flash, self.profile.ram_bytes - free + self.frame())
        if short is not None:
            raise self._misfit(f"with one row and the program that feeds it, it {short}")
        return self.profile.flash_bytes - flash

    def _misfit(self, why: str, ram: int = 0) -> FitError:
        return FitError(self.profile.misfit(self.export.name, self.device, why), ram)

    def _require(self, image: Image, function: str) -> None:
        if function not in image.symbols:
            raise ToolError(f"{self._subject} does not define the C function {function}; export it again")

    def _compile(self, source: Path, *flags: str) -> str:
        made = str(source.with_suffix(".o"))
        standard = "-std=gnu99" if source.suffix == ".c" else "-std=gnu++11"
        options = [f"-mmcu={self.device}", standard, OPTIMISE, *SECTION_FLAGS, f"-I{self.folder}", *flags]
        compile_with((COMPILER,), [*options, "-c", str(source), "-o", made], self.folder, self._subject)
        return made

    def _link(self, arguments: Sequence[str]) -> bytes:
        made = self.folder / "sparsegen_image.elf"
        options = [f"-mmcu={self.device}", "-Wl,--gc-sections", *self._objects, *arguments, "-o", str(made)]
        compile_with((COMPILER,), options, self.folder, self._subject)
        return made.read_bytes()

    def _run(self, elf: bytes, seconds: float) -> Printed:
        program, trace = self.folder / "sparsegen_run.elf", self.folder / TRACE_FILE
        program.write_bytes(elf)
        trace.unlink(missing_ok=True)
        said = _simavr(["-m", self.device, "-f", str(SIMULATED_HZ), str(program)], self.folder, seconds)
        *rows, last = re.findall(r"^O:([A-P]*[.!*]?)\r?$", said, re.MULTILINE) or [""]
        if last == STACK_MET_DATA:
            short = self.profile.ram_bytes + 1
            raise self._misfit(f"its stack {self.profile.shortage(None, short)}", short - self._row_bytes)
        if not last.endswith(END):
            raise ToolError(
                f"{self.export.name} crashed in simavr{_complaint(said, self.folder)}; the generated code reads or "
                "writes outside its arrays, or its stack needs more RAM than there is"
            )
        traced = _calls(trace.read_text()) if trace.exists() else []
        return Printed([_bytes(row) for row in rows], int.from_bytes(_bytes(last[:-1]), "little"), traced)


@cache
def has_library(compiler: str) -> bool:
    """Return whether avr-libc, a package of its own, is installed: its libm holds the soft-float functions."""
    found = run_tool([compiler, "-mmcu=atmega328p", "-print-file-name=libm.a"], Path()).stdout
    return Path(found.decode().strip()).is_absolute()


def _simavr(arguments: Sequence[str], folder: Path, seconds: float) -> str:
    """Return what simavr prints; after a crash it would wait for a debugger, so it is killed."""
    command = [SIMULATOR, "-v", *arguments]
    lines = []
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        limit = threading.Timer(seconds, process.kill)
        limit.start()
        for line in process.stderr or ():
            lines.append(re.sub(r"\x1b\[\d*m", "", line.decode(errors="replace")))
            if CRASHED in lines[-1]:
                process.kill()
        in_time = limit.is_alive()
        limit.cancel()
    if not in_time:
        raise ToolError(f"simavr did not end within {seconds:g} s; try fewer rows or a smaller model")
    return "".join(lines)


def _place_in_file(elf: bytes, symbol: str) -> int:
    """Return the offset in the file of a symbol in flash."""
    from elftools.elf.elffile import ELFFile

    section: Any = ELFFile(io.BytesIO(elf)).get_section_by_name(".text")
    place: int = section["sh_offset"] + read_image(elf).symbols[symbol] - section["sh_addr"]
    return place


def _bytes(letters: str) -> bytes:
    """Return the bytes shown as two letters each, A to P."""
    return bytes.fromhex(letters.translate(str.maketrans("ABCDEFGHIJKLMNOP", "0123456789abcdef")))


def _calls(trace: str) -> list[int]:
    """Return the cycles between each rise and the next fall in a VCD file."""
    unit = re.search(r"\$timescale (\d+)ns", trace)
    if unit is None:
        raise ToolError("simavr wrote a trace without a time scale in ns; install simavr 1.6 or later")
    changes = re.findall(r"^#(\d+)\nb(\d+) ", trace, re.MULTILINE)
    times = [int(time) * int(unit[1]) * SIMULATED_HZ // 10**9 for time, _ in changes]
    return [end - start for start, end in zip(times[::2], times[1::2], strict=True)]


def _complaint(said: str, folder: Path) -> str:
    """Return simavr's own message, if it printed one."""
    own = "\n".join(line for line in said.splitlines() if not line.startswith(("O:", CRASHED)))
    return f", which says: {first_lines(own, folder)}" if own.strip() else ""
