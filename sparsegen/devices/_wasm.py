"""WebAssembly: an export as a module for any browser, built by zig's clang from the very C, with nothing around it.

The module exports the functions of the model, its memory and ``__heap_base``, where free memory begins: whoever calls a
function puts the row there. It imports nothing. WebAssembly rounds every float operation as IEEE 754 says and has no
fused multiply-add, so the same module gives the same bits in every browser.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from sparsegen.devices._toolchain import (
    DEVICES_EXTRA,
    SECTION_FLAGS,
    TOOL_SECONDS,
    compile_with,
    entry,
    has_classes,
    installed,
    standard,
    write_files,
    zig,
)
from sparsegen.errors import ToolError
from sparsegen.targets import Export

OPTIMISE = "-O2"
STACK_BYTES = 1 << 16
"""Beside the buffers of a row."""
BYTES_PER_VALUE = 32
"""More than all buffers of a prediction and of the self-test take for one feature, output or class."""
WORD_BYTES = 16
TARGET = ("-target", "wasm32-freestanding")
LINK = (
    "-nostdlib",
    "-Wl,--no-entry",
    "-Wl,--strip-all",
    "-Wl,--export=__heap_base",
)


def missing() -> str | None:
    """Return what to install, as a sentence, or ``None`` where modules can be built here."""
    return None if installed("ziglang") else f"ziglang not found; install it with: {DEVICES_EXTRA}"


def functions(export: Export) -> tuple[str, ...]:
    """Return the model's functions that the module exports."""
    integer = export.score_dtype.kind != "f"
    names = ["scores", "selftest"]
    names += ["label"] if has_classes(export) else []
    names += ["in_range"] if integer else []
    names += [] if export.probability_row is None else ["probabilities"]
    return (entry(export), *(f"{export.name}_{what}" for what in names))


def build_module(export: Export, seconds: float = TOOL_SECONDS) -> bytes:
    """Return an export of plain C as a WebAssembly module; the same export gives the same bytes."""
    reason = missing()
    if reason is not None:
        raise ToolError(f"WebAssembly cannot be built here: {reason}")
    with tempfile.TemporaryDirectory(prefix="sparsegen-") as name:
        folder = Path(name)
        sources = write_files(export, folder)
        module = folder / "sparsegen_module.wasm"
        flags = [standard(export), OPTIMISE, "-ffreestanding", *SECTION_FLAGS, *TARGET, f"-I{folder}"]
        exports = [f"-Wl,--export={function}" for function in functions(export)]
        exports.append(f"-Wl,-z,stack-size={_stack_bytes(export)}")
        arguments = [*flags, *sources, "-o", str(module), *LINK, *exports]
        compile_with(zig(), arguments, folder, f"{export.name} ({export.target})", seconds)
        return module.read_bytes()


def _stack_bytes(export: Export) -> int:
    shares = 0 if export.probability_row is None else export.probability_row.shape[0]
    values = export.n_features + export.n_outputs + shares
    return -(-(STACK_BYTES + BYTES_PER_VALUE * values) // WORD_BYTES) * WORD_BYTES
