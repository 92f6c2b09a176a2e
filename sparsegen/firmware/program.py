"""The files of a firmware: the exported model, a program that runs examples through it, and the board's own files.

How each family of boards is built, emulated and flashed is in the ``board.mk`` of firmware_demo/support, which the
demos use as well. A copy goes into the firmware's folder, so the firmware no longer needs sparsegen.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from sparsegen.arrays import Array
from sparsegen.devices import DEVICES, thin
from sparsegen.firmware.boards import Board
from sparsegen.lowering.lowered import Lowered
from sparsegen.model import SparseModel
from sparsegen.targets import TARGETS, Export
from sparsegen.targets.c.code import c_type
from sparsegen.targets.render import render

MAX_EXAMPLES = 16
CALL_FRAME_BYTES = 192
"""Stack for return addresses, saved registers and local numbers."""
SHARED_FILES = ("board.h", "console.c", "rules.mk")
"""Files of the support folder that every family needs."""


def make_firmware(
    lowered: Lowered, board: Board, rows: Array | None = None, name: str = "model"
) -> Mapping[str, bytes]:
    """Return the files of a complete program: model, examples (``rows``, or the model's own) and the board's files."""
    export = TARGETS["c"].write(lowered, name, DEVICES[board.device].loops)
    examples = lowered.selftest.rows if rows is None else thin(np.asarray(rows), MAX_EXAMPLES)
    values = {
        "name": name,
        "upper": name.upper(),
        "board": board.name,
        "family": board.family,
        "port_hint": " PORT=..." if board.serial_flash else "",
        "sources": export.sources,
        "input_type": c_type(export.input_dtype),
        "examples": lowered.inputs(examples).ravel(),
        "expected": expected_classes(lowered, examples),
        "stack_bytes": _stack_bytes(lowered.model, export),
    }
    support = support_folder()
    own = [f"{board.family}/{path.name}" for path in sorted((support / board.family).iterdir()) if path.is_file()]
    return {
        **{file: export.files[file] for file in (*export.sources, f"{name}.h")},
        "main.c": render("firmware/main.c.j2", **values),
        "Makefile": render("firmware/Makefile.j2", **values),
        **{f"support/{file}": (support / file).read_bytes() for file in (*SHARED_FILES, *own)},
    }


def expected_classes(lowered: Lowered, examples: Array) -> list[int]:
    """Return the class index that Python finds for each example."""
    return [int(index) for index in lowered.reference(examples).labels]


def _stack_bytes(model: SparseModel, export: Export) -> int:
    """Return the most stack that the self-test needs: a row, its scaled copy, the projection and the scores."""
    row = export.n_features * export.input_dtype.itemsize
    projected = 0 if model.transform.projection is None else 4 * len(model.transform.projection)
    return row + max(row, 2 * export.n_features) + projected + 8 * export.n_outputs + CALL_FRAME_BYTES


def support_folder() -> Path:
    """Return the folder of the boards' own files: inside an installed wheel, or a checkout's firmware_demo."""
    package = Path(__file__).resolve().parents[1]
    installed = package / "_firmware"
    return installed if installed.is_dir() else package.parent / "firmware_demo" / "support"
