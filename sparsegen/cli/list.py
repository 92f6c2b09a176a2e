"""``sparsegen list``: each list loads its own registry and no other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

from sparsegen.cli.app import app
from sparsegen.cli.console import print_json, print_table
from sparsegen.cli.options import Json
from sparsegen.errors import OptionError, nearest

Entry = dict[str, Any]


@app.command("list")
def list_registry(
    what: Annotated[str, typer.Argument(metavar="methods|kernels|targets|devices|parts|boards", show_default=False)],
    as_json: Json = False,
) -> None:
    """List the methods, kernels, targets, devices, parts or boards there are."""
    if what not in LISTS:
        raise OptionError(f"there is no list of {what!r}{nearest(what, LISTS)}; choose one of: {', '.join(LISTS)}")
    entries = LISTS[what]()
    if as_json:
        print_json(entries)
        return
    rows = [_cells(entry) for entry in entries]
    print_table(what, tuple(rows[0]), [tuple(row.values()) for row in rows], text=len(rows[0]))


def _methods() -> list[Entry]:
    from sparsegen.methods import METHODS

    return [{"name": name, "what": entry.summary} for name, entry in METHODS.items()]


def _kernels() -> list[Entry]:
    from sparsegen.kernels import KERNELS

    return [
        {"name": name, "what": entry.formula, "parameters": ", ".join(entry.parameters) or "none"}
        for name, entry in KERNELS.items()
    ]


def _targets() -> list[Entry]:
    from sparsegen.targets import TARGETS

    return [{"name": name, "what": entry.description} for name, entry in TARGETS.items()]


def _devices() -> list[Entry]:
    from sparsegen.devices import DEVICES

    no_part = {"part": None, "clock_hz": None, "flash_bytes": None, "ram_bytes": None}
    return [
        {
            "name": device.name,
            "runs": device.runs,
            "what": device.description,
            **(no_part if device.profile is None else {key: getattr(device.profile, key) for key in no_part}),
            "missing": device.missing(),
            "made_by": None if device.missing() is not None else device.made_by(measuring=True),
        }
        for device in DEVICES.values()
    ]


def _parts() -> list[Entry]:
    from sparsegen.budget.parts import PARTS

    return [
        {
            "name": name,
            "device": part.device,
            "clock_hz": part.profile.clock_hz,
            "flash_bytes": part.profile.flash_bytes,
            "ram_bytes": part.profile.ram_bytes,
        }
        for name, part in PARTS.items()
    ]


def _boards() -> list[Entry]:
    from sparsegen.firmware.boards import BOARDS

    return [
        {"name": name, "device": board.device, "what": board.description, "missing": board.missing()}
        for name, board in BOARDS.items()
    ]


LISTS: dict[str, Callable[[], list[Entry]]] = {
    "methods": _methods,
    "kernels": _kernels,
    "targets": _targets,
    "devices": _devices,
    "parts": _parts,
    "boards": _boards,
}


def _cells(entry: Entry) -> dict[str, str]:
    """Return an entry column by column, with one cell for a part and one for what is missing."""
    cells = dict(entry)
    if "part" in cells:
        part, clock_hz, flash, ram = (cells.pop(key) for key in ("part", "clock_hz", "flash_bytes", "ram_bytes"))
        memory = "" if part is None else f"{_memory(flash)} flash, {_memory(ram)} RAM"
        cells["typical part"] = "-" if part is None else f"{part}: {clock_hz / 1e6:g} MHz, {memory}"
    if "clock_hz" in cells:
        clock_hz, flash, ram = (cells.pop(key) for key in ("clock_hz", "flash_bytes", "ram_bytes"))
        cells |= {"clock": f"{clock_hz / 1e6:g} MHz", "flash": _memory(flash), "RAM": _memory(ram)}
    if "missing" in cells:
        missing, maker = cells.pop("missing"), cells.pop("made_by", None)
        with_what = "" if maker is None else f", with {maker}"
        cells["runs here"] = f"yes{with_what}" if missing is None else f"no: {missing}"
    return cells


def _memory(n: int) -> str:
    """Return bytes as data sheets write them."""
    return f"{n >> 20} MB" if n >= 1 << 20 else f"{n >> 10} KB" if n >= 1 << 10 else f"{n} B"
