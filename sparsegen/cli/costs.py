"""What a prediction costs, in words and in JSON: printed by ``bench`` and by ``demo``."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from sparsegen.cli.console import or_dash
from sparsegen.cli.verdicts import judged_document
from sparsegen.promised import bound, percent

if TYPE_CHECKING:
    from sparsegen.bench import Cost


def _share(share: float) -> str:
    """Return the share of a memory that is used, rounded up."""
    tenths = math.ceil(1000 * share)
    return f"{math.ceil(tenths / 10)} %" if tenths >= 100 else f"{tenths / 10} %"


def _cycles(cost: Cost) -> str:
    return or_dash(cost.cycles, lambda cycles: f"{ESTIMATED if cost.is_estimate else ''}{math.ceil(cycles):,}")


def _milliseconds(cost: Cost) -> str:
    return or_dash(cost.milliseconds, lambda ms: f"{ESTIMATED if cost.is_estimate else ''}{_time(ms)}")


def _time(ms: float) -> str:
    """Return milliseconds, rounded up."""
    return f"{math.ceil(ms):,}" if ms >= 1000 else bound(ms)


ESTIMATED = "~"
COLUMNS: dict[str, Callable[[Cost], str]] = {
    "instruc-\ntions": lambda c: or_dash(c.measurement.instructions, "{:,.0f}".format),
    "cycles": _cycles,
    "worst": lambda c: or_dash(c.measurement.worst_cycles or c.measurement.worst_instructions, "{:,}".format),
    "time\nms": _milliseconds,
    "latency\nus": lambda c: or_dash(c.measurement.latency_us, "{:.2f}".format),
    "flash\nbytes": lambda c: or_dash(c.measurement.flash, "{:,}".format),
    "of it\ntables": lambda c: f"{c.table_bytes:,}",
    "flash\nused": lambda c: or_dash(c.flash_share, _share),
    "RAM\nbytes": lambda c: or_dash(c.measurement.ram, "{:,}".format),
    "RAM\nused": lambda c: or_dash(c.ram_share, _share),
    "accuracy": lambda c: or_dash(c.accuracy, lambda found: percent(found.share)),
}
DEMO_COLUMNS = ("flash\nbytes", "RAM\nbytes", "instruc-\ntions", "latency\nus")


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
        "is_estimate": cost.is_estimate,
        "budget": None if cost.budget is None else asdict(cost.budget),
        "profile": None if cost.profile is None else asdict(cost.profile),
        "flash_share": cost.flash_share,
        "ram_share": cost.ram_share,
        **judged_document(cost.judged),
        "problem": cost.problem,
        "made_by": cost.made_by,
    }


def estimate_lines(costs: Sequence[Cost]) -> list[str]:
    """Return what each estimate of cycles is worth: its condition, its range, where it comes from."""
    lines = []
    for cost in costs:
        estimate = cost.measurement.estimate
        if not cost.is_estimate or estimate is None:
            continue
        most = f"{math.ceil(estimate.cycles):,}"
        least = "" if estimate.least_cycles == estimate.cycles else f"{math.floor(estimate.least_cycles):,} to "
        lines.append(
            f"{ESTIMATED} {cost.device}, {cost.clock}: an estimate: {least}{most} cycles if memory answers without "
            f"wait states (slower flash takes longer), by {estimate.model}; {estimate.error}"
        )
    return lines


def cost_facts(cost: Cost) -> dict[str, str]:
    """Return what the demo's table says of a cost, line by line."""
    named = {column.replace("-\n", "").replace("\n", " "): COLUMNS[column](cost) for column in DEMO_COLUMNS}
    return {f"{cost.device}: {name}": text for name, text in named.items() if text != "-"}
