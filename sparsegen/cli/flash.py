"""``sparsegen flash``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sparsegen.cli.app import app
from sparsegen.cli.console import print_json, say
from sparsegen.cli.formats import lowered_by
from sparsegen.cli.inputs import rows_for
from sparsegen.cli.options import Calibrate, ForceExport, Input, Json, LabelColumn, MaxLoss, ModelFile, OneDtype, Quiet
from sparsegen.errors import OptionError

if TYPE_CHECKING:
    from sparsegen.firmware.build import Firmware


@app.command()
def flash(
    model_file: ModelFile,
    board: Annotated[str, typer.Option(help="Board; see: sparsegen list boards.", show_default=False)],
    port: Annotated[str | None, typer.Option(help="Serial port of the board, such as /dev/ttyACM0.")] = None,
    emulated: Annotated[bool, typer.Option("--emulate", help="Run in the board's emulator; no hardware.")] = False,
    dtype: OneDtype = "f32",
    reads: Input = "f32",
    calibrate: Calibrate = None,
    data_file: Annotated[
        Path | None,
        typer.Option("--data", metavar="DATA", help="Rows to store as examples; default: the model's own examples."),
    ] = None,
    label: LabelColumn = None,
    max_loss: MaxLoss = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="DIR", help="Keep the firmware's files in this folder.")
    ] = None,
    force: ForceExport = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Build firmware around a model and write it to a board, or run it in the board's emulator."""
    if emulated and port is not None:
        raise OptionError("--emulate needs no board and --port names one; give one of them")

    from sparsegen.files import folder_or_temporary, require_folder
    from sparsegen.firmware import emulate
    from sparsegen.firmware import flash as flashing
    from sparsegen.firmware.boards import BOARDS
    from sparsegen.firmware.build import build
    from sparsegen.firmware.program import make_firmware
    from sparsegen.model import SparseModel
    from sparsegen.targets import TARGETS

    chosen = BOARDS[board]
    if output is not None:
        require_folder(output)
    flashing.check_access(chosen, port, emulated=emulated)
    model = SparseModel.load(model_file)
    rows = None if data_file is None else rows_for(model, data_file, label)[0]
    lowered = lowered_by(TARGETS["c"], model, dtype, reads, calibrate, label, max_loss, force=force)
    with folder_or_temporary(output) as folder:
        firmware = build(make_firmware(lowered, chosen, rows), chosen, folder, force=force)
        if not emulated:
            flashing.flash(firmware, port)
        lines = emulate.emulate(firmware) if emulated else None
    print_firmware(firmware, lines, output, port, as_json)
    if lines is not None and not emulate.succeeded(lines):
        raise typer.Exit(1)


def print_firmware(
    firmware: Firmware, lines: Sequence[str] | None, folder: Path | None, port: str | None, as_json: bool
) -> None:
    """Print how large the firmware is, and what it said in the emulator or how to hear it on the board."""
    board = firmware.board
    if as_json:
        sizes = {"flash": firmware.flash, "ram": firmware.ram}
        print_json({"board": board.name, **sizes, "folder": None if folder is None else str(folder), "serial": lines})
        return
    say(
        f"{board.name}: {firmware.flash:,} of {board.flash_bytes:,} bytes of flash, "
        f"{firmware.ram:,} of {board.ram_bytes:,} bytes of RAM, examples included"
    )
    if folder is not None:
        say(f"files in {folder}: make, make emulate, make size and make flash work there")
    if lines is None:
        say(f"flashed; its serial line ({port or 'USB'}, 115200 baud) tells the results after a reset")
    for line in lines or ():
        say(line)
