"""Verdicts in words and in JSON, printed by ``verify`` and by ``demo``, and who made the figures of a table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from sparsegen.promised import bound

if TYPE_CHECKING:
    from sparsegen.bench import Cost
    from sparsegen.verify import Verdict


def verdict_document(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict as JSON holds it."""
    return {**asdict(verdict), "ok": verdict.ok}


def result(verdict: Verdict) -> str:
    """Return a verdict in a word or three."""
    return "DIFFERS" if not verdict.agrees else "ok" if verdict.lost is None else f"LOSES {verdict.lost}"


def ties(verdicts: Iterable[Verdict]) -> list[str]:
    """Return a sentence for each device with rows that only rounding decides."""
    return [
        f"{v.device}: undecided: {v.undecided} of {v.rows} rows, where the model prefers its class by at most "
        f"{bound(v.largest_tie)} and rounding to float32 decides for another"
        for v in verdicts
        if v.undecided
    ]


def makers(records: Iterable[Verdict | Cost]) -> list[str]:
    """Return who made the figures of each device, devices that share it on one line."""
    devices: dict[str, list[str]] = {}
    for record in records:
        named = devices.setdefault(record.made_by, [])
        if record.device not in named:
            named.append(record.device)
    return [f"{', '.join(names)}: made by {maker}" for maker, names in devices.items()]
