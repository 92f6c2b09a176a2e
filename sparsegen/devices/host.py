"""This computer: the system's C compiler (or zig's clang) builds a small program around the model and runs it."""

from __future__ import annotations

import re
import shutil
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sparsegen.devices import DEVICES, Device, Measurement, Outputs, thin
from sparsegen.devices._harness import SOURCE, definitions, outputs_of, result_fields
from sparsegen.devices._image import read_image
from sparsegen.devices._toolchain import (
    DEVICES_EXTRA,
    SECTION_FLAGS,
    TOOL_SECONDS,
    compile_with,
    compiler_name,
    first_lines,
    host_compiler,
    installed,
    run_tool,
    standard,
    write_files,
)
from sparsegen.errors import ToolError
from sparsegen.targets import Export

OPTIMISE = "-O2"
TIMED_BATCHES = 101


class Host(Device):
    """The computer sparsegen runs on: parity and latency in real time.

    ``compiler`` replaces the compiler found on the PATH, and ``flags`` replace the language standard and ``-O2``; tests
    pass sanitizers or ``-x c++`` this way. A program for another processor is started by ``launcher``, such as
    ``qemu-s390x``, and reads and writes numbers in its ``byte_order``, ``<`` or ``>``.
    """

    name = "host"
    description = "this computer, with its own C compiler"
    runs = "c"
    compile_seconds: float = TOOL_SECONDS
    """The longest that a build may take."""

    def __init__(
        self,
        compiler: Sequence[str] | None = None,
        flags: Sequence[str] | None = None,
        launcher: Sequence[str] = (),
        byte_order: Literal["=", "<", ">"] = "=",
    ) -> None:
        self._compiler = tuple(compiler) if compiler else None
        self._flags = tuple(flags) if flags else None
        self._launcher = tuple(launcher)
        self._byte_order = byte_order

    def missing(self) -> str | None:
        """Return what to install, as a sentence, or ``None`` where the device can run here."""
        if self._compiler is not None:
            programs = (self._compiler[0], *self._launcher[:1])
            absent = [program for program in programs if shutil.which(program) is None]
            return f"{' and '.join(absent)} not found; install it or choose another compiler" if absent else None
        if host_compiler() is None:
            return f"no C compiler found; install cc, gcc or clang, or zig's with: {DEVICES_EXTRA}"
        return None

    def made_by(self, *, measuring: bool = False) -> str:
        """Return the compiler's name and version, and valgrind's where it counts instructions."""
        counter = " and valgrind" if measuring and shutil.which("valgrind") else ""
        return f"{compiler_name(self._command())}{counter}"

    def run(self, export: Export, X: NDArray[Any]) -> Outputs:
        """Return the scores and class indices this computer's build gives for every row."""
        rows = self.accept(export, X)
        with tempfile.TemporaryDirectory(prefix="sparsegen-") as name:
            folder = Path(name)
            return self._outputs(self._build(export, folder), export, rows, folder)

    def predict_and_count(self, export: Export, X: NDArray[Any], counted: int) -> tuple[Outputs, float | None]:
        """Return what the build gives for every row and the mean instructions of ``counted`` of them, from one build.

        The count is ``None`` where valgrind is not installed, or no row is to be counted.
        """
        rows = self.accept(export, X)
        with tempfile.TemporaryDirectory(prefix="sparsegen-") as name:
            folder = Path(name)
            program = self._build(export, folder)
            out = self._outputs(program, export, rows, folder)
            few = thin(rows, counted) if counted else rows[:0]
            return out, _count(program, few, folder, export.entry) if len(few) else None

    def _outputs(self, program: Path, export: Export, rows: NDArray[Any], folder: Path) -> Outputs:
        results = folder / "results.bin"
        stored = _store(rows.astype(rows.dtype.newbyteorder(self._byte_order)), folder)
        _execute([*self._launcher, str(program), str(stored), str(results)], folder, export.name)
        record = np.dtype(result_fields(export, "i4")).newbyteorder(self._byte_order)
        out = np.frombuffer(results.read_bytes(), dtype=record)
        if len(out) != len(rows):
            raise ToolError(f"{export.name} gave {len(out)} results for {len(rows)} rows; check the disk is not full")
        return outputs_of(out, export)

    def measure(self, export: Export, X: NDArray[Any]) -> Measurement:
        """Return flash, median latency and, where valgrind is installed, mean instructions of a prediction."""
        rows = self.accept(export, X)
        with tempfile.TemporaryDirectory(prefix="sparsegen-") as name:
            folder = Path(name)
            program = self._build(export, folder)
            return Measurement(
                flash=self._flash(export, folder),
                ram=None,
                instructions=_count(program, thin(rows), folder, export.entry),
                latency_us=_time(program, rows, folder, export.name),
            )

    def _command(self) -> tuple[str, ...]:
        compiler = self._compiler or host_compiler()
        if compiler is None:
            raise ToolError(f"device {self.name} cannot run here: {self.missing()}")
        return compiler

    def _compile(self, export: Export, arguments: Sequence[str], folder: Path) -> None:
        flags = self._flags or (standard(export), OPTIMISE)
        subject = f"{export.name} ({export.target})"
        compile_with(self._command(), [*flags, f"-I{folder}", *arguments], folder, subject, self.compile_seconds)

    def _build(self, export: Export, folder: Path) -> Path:
        sources = write_files(export, folder)
        harness = folder / ("sparsegen_harness" + Path(export.sources[0]).suffix)
        harness.write_text(SOURCE)
        program = folder / "sparsegen_run"
        self._compile(export, [*definitions(export), *sources, str(harness), "-o", str(program)], folder)
        return program

    def _flash(self, export: Export, folder: Path) -> int | None:
        """Return the bytes that a prediction links, or ``None`` where the result is not an ELF file."""
        if not installed("elftools"):
            return None
        image = folder / "sparsegen_size.elf"
        sources = [str(folder / name) for name in export.sources]
        # A call to memcpy that the compiler inserts stays unresolved: this image is weighed, never run.
        link = ["-Wl,--gc-sections", f"-Wl,-e,{export.entry}", "-Wl,--unresolved-symbols=ignore-all"]
        try:
            self._compile(export, [*SECTION_FLAGS, "-nostdlib", "-static", *sources, "-o", str(image), *link], folder)
        except ToolError:  # the program itself was built: only this linker cannot drop sections
            return None
        elf = image.read_bytes()
        return read_image(elf).flash if elf.startswith(b"\x7fELF") else None


def _store(rows: NDArray[Any], folder: Path) -> Path:
    path = folder / "rows.bin"
    path.write_bytes(rows.tobytes())
    return path


def _execute(command: Sequence[str], folder: Path, name: str) -> str:
    finished = run_tool(command, folder)
    if finished.returncode != 0:
        said = first_lines(finished.stderr.decode(errors="replace"), folder)
        raise ToolError(f"{name} crashed on this computer (exit code {finished.returncode}); it said: {said}")
    return finished.stdout.decode()


def _time(program: Path, rows: NDArray[Any], folder: Path, name: str) -> float:
    stored = str(_store(rows, folder))
    printed = _execute([str(program), stored, str(len(rows)), str(TIMED_BATCHES)], folder, name)
    return statistics.median(float(line) for line in printed.split())


def _count(program: Path, rows: NDArray[Any], folder: Path, function: str) -> float | None:
    """Return callgrind's mean count of instructions in ``function``, or ``None`` where valgrind cannot tell."""
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        return None
    profile = folder / "callgrind.out"
    options = ["--tool=callgrind", f"--toggle-collect={function}", f"--callgrind-out-file={profile}"]
    results = str(folder / "results.bin")
    finished = run_tool([valgrind, *options, str(program), str(_store(rows, folder)), results], folder)
    total = re.search(r"^(?:summary|totals): (\d+)", profile.read_text(), re.MULTILINE) if profile.exists() else None
    if finished.returncode != 0 or total is None or int(total[1]) == 0:
        return None
    return int(total[1]) / len(rows)


DEVICES.register("host")(Host())
