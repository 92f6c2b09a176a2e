"""Compilers: finds them, hands them an export's files, and turns their failures into sentences."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import metadata
from pathlib import Path

from sparsegen.errors import OptionError, ToolError
from sparsegen.files import inside
from sparsegen.targets import Export

HOST_COMPILERS = ("cc", "gcc", "clang")
DEVICES_EXTRA = "pip install 'sparsegen[devices]'"
TOOL_SECONDS = 300
MESSAGE_LINES = 6
GNU = "Free Software Foundation"

# One section per function and table, so that the linker drops what a prediction never reaches; unwind tables would be
# counted as flash although nothing on a microcontroller reads them.
SECTION_FLAGS = (
    "-ffunction-sections",
    "-fdata-sections",
    "-fno-unwind-tables",
    "-fno-asynchronous-unwind-tables",
    "-fno-exceptions",
)


def installed(module: str) -> bool:
    """Return whether a Python package can be imported, without importing it."""
    return importlib.util.find_spec(module) is not None


def absent(modules: Iterable[str]) -> list[str]:
    """Return the packages that are not installed."""
    return [module for module in modules if not installed(module)]


def versioned(name: str, package: str) -> str:
    """Return a name with the version of the Python package behind it."""
    try:
        return f"{name} {metadata.version(package)}"
    except metadata.PackageNotFoundError:  # importable all the same: it lies on the path without being installed
        return name


def zig() -> tuple[str, ...]:
    """Return the command of zig's clang; the debug-mode sanitizer it turns on needs a runtime and is switched off."""
    return (sys.executable, "-m", "ziglang", "cc", "-fno-sanitize=undefined")


def host_compiler() -> tuple[str, ...] | None:
    """Return the command of the system's C compiler, else of zig's, else ``None``."""
    for name in HOST_COMPILERS:
        path = shutil.which(name)
        if path is not None:
            return (path,)
    return zig() if installed("ziglang") else None


def compiler_name(command: Sequence[str]) -> str:
    """Return what a compiler is and its version: ``cc`` may be gcc or clang."""
    return versioned("clang of zig", "ziglang") if tuple(command) == zig() else _told_name(command[0])


@cache
def _told_name(program: str) -> str:
    told = run_tool([program, "--version"], Path()).stdout.decode(errors="replace")
    first = told.partition("\n")[0]
    name = Path(program).name
    if name == "cc":
        name = "clang" if "clang" in first else "gcc" if GNU in told else name
    numbers = re.findall(r"(?<![\w.+-])\d+(?:\.\d+)+", first)  # gcc's own version comes after its packager's
    return f"{name} {numbers[-1]}" if numbers else name


def standard(export: Export) -> str:
    """Return the flag for the language standard the sources are written in."""
    return "-std=c99" if all(name.endswith(".c") for name in export.sources) else "-std=c++17"


def has_classes(export: Export) -> bool:
    """Return whether a prediction is a class, as that of code not lowered from a model is; otherwise it is a value."""
    return export.lowered is None or bool(export.lowered.model.classes)


def entry(export: Export) -> str:
    """Return the function that makes a prediction."""
    return f"{export.name}_{'predict' if has_classes(export) else 'value'}"


def write_files(export: Export, folder: Path) -> list[str]:
    """Write the export into ``folder`` and return the paths of the files to compile."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", export.name):
        raise OptionError(f"{export.name!r} cannot prefix C symbols; use letters, digits and underscores")
    for name, content in export.files.items():
        path = inside(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return [str(folder / name) for name in export.sources]


def compile_with(
    compiler: Sequence[str], arguments: Sequence[str], folder: Path, subject: str, seconds: float = TOOL_SECONDS
) -> None:
    """Run the compiler in ``folder``, or raise with the first lines of what it said about ``subject``."""
    finished = run_tool([*compiler, *arguments], folder, seconds)
    if finished.returncode != 0:
        said = first_lines(finished.stderr.decode(errors="replace"), folder)
        raise ToolError(f"{subject} does not compile; the compiler says: {said}")


def run_tool(command: Sequence[str], folder: Path, seconds: float = TOOL_SECONDS) -> subprocess.CompletedProcess[bytes]:
    """Return the finished process, or raise where the tool cannot start or does not end."""
    program = Path(command[0]).name
    try:
        return subprocess.run(command, cwd=folder, capture_output=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        raise ToolError(f"{program} did not end within {seconds:g} s; try fewer rows or a smaller model") from None
    except OSError as error:
        raise ToolError(f"{program} cannot be started: {error.strerror}; check your installation") from error


def first_lines(text: str, folder: Path) -> str:
    """Return the start of a tool's message, from its first error on, without the temporary folder's name."""
    lines = [line.rstrip() for line in text.replace(f"{folder}/", "").splitlines() if line.strip()]
    start = next((i for i, line in enumerate(lines) if "error" in line.lower()), 0)
    return "\n".join(lines[start : start + MESSAGE_LINES]) or "nothing"
