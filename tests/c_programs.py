"""Compilers of this computer, and small C programs around exports."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from sparsegen.devices import DEVICES
from sparsegen.devices._emulated import EmulatedDevice
from sparsegen.devices._toolchain import installed, zig
from sparsegen.model import SparseModel
from sparsegen.targets import TARGETS, Export

if TYPE_CHECKING:
    from elftools.elf.elffile import ELFFile
    from elftools.elf.sections import Symbol


@dataclass(frozen=True)
class Written:
    model: SparseModel
    export: Export
    folder: Path


def written(model, name, folder) -> Written:
    export = TARGETS["c"].export(model, name)
    folder.mkdir()
    for file, content in export.files.items():
        (folder / file).write_bytes(content)
    return Written(model, export, folder)


def compiler(name: str) -> list[str]:
    """Return the command of a compiler, or skip the test."""
    if name == "zig":
        if not installed("ziglang"):
            pytest.skip("ziglang is not installed")
        return list(zig())
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"{name} is not on the PATH")
    return [path]


def warning_level(name: str, level: str) -> str:
    """Return the level at which a compiler warns of all it can: gcc must optimise to see some of it, clang need not."""
    return level if name.endswith("gcc") else "-O0"


def any_compiler() -> list[str]:
    return next(([found] for name in ("cc", "gcc", "clang") if (found := shutil.which(name))), list(zig()))


def compile_c(command, *arguments) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*command, *map(str, arguments)], capture_output=True, text=True, check=False, timeout=300)


def runs_with(command: list[str], flags: tuple[str, ...], folder: Path) -> bool:
    """Return whether a compiler takes flags and this computer runs what it makes of them."""
    fused = "volatile float a = 1.0f, b = 2.0f, c = 3.0f;\nint main(void) { return a * b + c != 5.0f; }\n"
    (folder / "probe.c").write_text(fused)  # a processor without fused products ends it with a signal
    if compile_c(command, *flags, folder / "probe.c", "-o", folder / "probe").returncode != 0:
        return False
    return subprocess.run([folder / "probe"], check=False, timeout=60).returncode == 0


def emulated(name: str) -> EmulatedDevice:
    """Return a device that an emulator stands in for."""
    device = DEVICES[name]
    assert isinstance(device, EmulatedDevice)
    return device


def symbols(object_file: ELFFile) -> list[Symbol]:
    """Return what an object defines and needs."""
    from elftools.elf.sections import SymbolTableSection

    table = object_file.get_section_by_name(".symtab")
    assert isinstance(table, SymbolTableSection)
    return list(table.iter_symbols())


def run_c(source: str, folder: Path, *flags: str, stdin: bytes = b"") -> bytes:
    """Compile one program that includes what it needs, run it and return what it prints."""
    (folder / "program.c").write_text(source)
    built = compile_c(any_compiler(), "-std=c99", "-O2", *flags, folder / "program.c", "-o", folder / "program")
    assert built.returncode == 0, built.stderr
    return subprocess.run([folder / "program"], input=stdin, capture_output=True, check=True, timeout=120).stdout


def in_range_of(export, folder, inputs):
    """Return what the compiled ``in_range`` says of every row."""
    for name, content in export.files.items():
        (folder / name).write_bytes(content)
    library = folder / "m.so"
    built = compile_c(any_compiler(), "-shared", "-fPIC", "-O2", folder / "m.c", "-o", library)
    assert built.returncode == 0, built.stderr
    function = ctypes.CDLL(str(library)).m_in_range
    rows = np.ascontiguousarray(inputs)
    return np.array([function(ctypes.c_void_p(row.ctypes.data)) for row in rows])


def damaged(export, table):
    """Return the export with the first number of a table 16 away from what it was."""
    source = export.files[f"{export.name}.c"].decode()
    # The last bits of a norm are below what scores can show: damage a vector or a coefficient.
    norm = r"(?:\d+u, )?" if table == "rows" else ""
    found = re.search(rf"_{table}\[\d+\] = [\s{{]*{norm}[\s{{]*(-?[\d.e+-]+f?)", source)
    assert found, table
    value = f"{float(found[1][:-1]) + 16.0}f" if found[1].endswith("f") else str(int(found[1]) ^ 16)
    changed = source[: found.start(1)] + value + source[found.end(1) :]
    return replace(export, files={**export.files, f"{export.name}.c": changed.encode()})
