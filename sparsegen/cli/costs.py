"""What ``bench`` and ``list devices`` print: costs, shares of a part's memory, and what does not fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from sparsegen.bench import Cost
from sparsegen.cli.console import or_dash, print_json, print_table, print_warnings
from sparsegen.devices import Device


def _share(share: float) -> str:
    return f"{100 * share:.{0 if share >= 0.0995 else 1}f} %"


COLUMNS: dict[str, Callable[[Cost], str]] = {
    "instruc-\ntions": lambda c: or_dash(c.measurement.instructions, "{:,.0f}".format),
    "cycles": lambda c: or_dash(c.measurement.cycles, "{:,.0f}".format),
    "worst": lambda c: or_dash(c.measurement.worst_cycles or c.measurement.worst_instructions, "{:,}".format),
    "time\nms": lambda c: or_dash(c.milliseconds, lambda ms: f"{ms:,.0f}" if ms >= 1000 else f"{ms:.3g}"),
    "latency\nus": lambda c: or_dash(c.measurement.latency_us, "{:.2f}".format),
    "flash\nbytes": lambda c: or_dash(c.measurement.flash, "{:,}".format),
    "of it\ntables": lambda c: f"{c.table_bytes:,}",
    "flash\nused": lambda c: or_dash(c.flash_share, _share),
    "RAM\nbytes": lambda c: or_dash(c.measurement.ram, "{:,}".format),
    "RAM\nused": lambda c: or_dash(c.ram_share, _share),
}
DEMO_COLUMNS = ("flash\nbytes", "RAM\nbytes", "instruc-\ntions", "latency\nus")


def print_costs(costs: Sequence[Cost], as_json: bool) -> None:
    """Print what a prediction costs on each device; columns that no device fills are left out."""
    if as_json:
        print_json([cost_document(cost) for cost in costs])
        return
    for dtype in dict.fromkeys(cost.dtype for cost in costs):
        alike = [cost for cost in costs if cost.dtype == dtype]
        filled = {name: cells for name, show in COLUMNS.items() if set(cells := [show(c) for c in alike]) != {"-"}}
        rows = list(zip([cost.device for cost in alike], *filled.values(), strict=True))
        print_table(f"one prediction, {dtype}; RAM used: with its input", ("device", *filled), rows)


def print_problems(costs: Sequence[Cost], *, named: bool) -> bool:
    """Print a sentence for each device the model does not fit; return whether that is an error.

    It is one for devices that were named, or where no device is left; for others it is a warning.
    """
    problems = [cost.problem for cost in costs if cost.problem is not None]
    wrong = bool(problems) and (named or len(problems) == len(costs))
    print_warnings(problems, "error" if wrong else "warning")
    return wrong


def cost_document(cost: Cost) -> dict[str, Any]:
    """Return a cost as JSON holds it."""
    return {
        "device": cost.device,
        "dtype": cost.dtype,
        **asdict(cost.measurement),
        "table_bytes": cost.table_bytes,
        "input_bytes": cost.input_bytes,
        "milliseconds": cost.milliseconds,
        "worst_milliseconds": cost.worst_milliseconds,
        "profile": None if cost.profile is None else asdict(cost.profile),
        "flash_share": cost.flash_share,
        "ram_share": cost.ram_share,
        "problem": cost.problem,
    }


def cost_facts(cost: Cost) -> dict[str, str]:
    """Return what the demo's table says of a cost, line by line."""
    named = {column.replace("-\n", "").replace("\n", " "): COLUMNS[column](cost) for column in DEMO_COLUMNS}
    return {f"{cost.device}: {name}": text for name, text in named.items() if text != "-"}


def device_document(device: Device) -> dict[str, Any]:
    """Return a device as JSON holds it."""
    nothing = {"part": None, "clock_hz": None, "flash_bytes": None, "ram_bytes": None}
    return {
        "name": device.name,
        "runs": device.runs,
        "what": device.description,
        **(nothing if device.profile is None else asdict(device.profile)),
        "missing": device.missing(),
    }


def device_cells(document: dict[str, Any]) -> dict[str, str]:
    """Return what the list of devices says of one, column by column."""
    part, missing = "-", document["missing"]
    if document["part"] is not None:
        memory = f"{_memory(document['flash_bytes'])} flash, {_memory(document['ram_bytes'])} RAM"
        part = f"{document['part']}: {document['clock_hz'] / 1e6:g} MHz, {memory}"
    return {
        "name": document["name"],
        "runs": document["runs"],
        "what": document["what"],
        "typical part": part,
        "runs here": "yes" if missing is None else f"no: {missing}",
    }


def _memory(n: int) -> str:
    """Return bytes as data sheets write them."""
    return f"{n >> 20} MB" if n >= 1 << 20 else f"{n >> 10} KB" if n >= 1 << 10 else f"{n} B"
