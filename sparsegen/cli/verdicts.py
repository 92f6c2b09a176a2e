"""Verdicts in words and in JSON, printed by ``verify`` and by ``demo``, and who made the figures of a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from sparsegen.promised import bound

ACCURACIES = ("accuracy", "accuracy_interval", "held_out_rows", "held_out_accuracy", "held_out_interval")
"""What is said of labelled rows, in JSON."""
if TYPE_CHECKING:
    from sparsegen.bench import Cost
    from sparsegen.model.judged import Judged
    from sparsegen.model.judged_values import JudgedValues
    from sparsegen.verify import Verdict


def verdict_document(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict as JSON holds it."""
    known = {name: value for name, value in asdict(verdict).items() if name != "judged"}
    return {**known, **judged_document(verdict.judged), "accuracy": verdict.accuracy, "ok": verdict.ok}


def judged_document(found: Judged | JudgedValues | None) -> dict[str, Any]:
    """Return accuracies, or the errors of values, as JSON holds them; without labelled rows, all is ``None``."""
    return dict.fromkeys(ACCURACIES) if found is None else found.document()


def judged_lines(records: Sequence[Verdict | Cost]) -> list[str]:
    """Return the accuracies of devices in words, devices that agree on one line."""
    told: dict[str, list[str]] = {}
    for record in records:
        if record.judged is not None:
            told.setdefault(str(record.judged), []).append(record.device)
    return [sentence if len(told) == 1 else f"{', '.join(names)}: {sentence}" for sentence, names in told.items()]


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
