"""Bytes, milliseconds and hertz as people write them: ``4K``, ``1ms``, ``72MHz``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal

from sparsegen.errors import OptionError

NUMBER = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(e[+-]?[0-9]{1,2})?\s*([a-zµμ]*)", re.IGNORECASE)
BYTES = {"": 1, "b": 1, "k": 1 << 10, "kb": 1 << 10, "kib": 1 << 10, "m": 1 << 20, "mb": 1 << 20, "mib": 1 << 20}
"""Data sheets and linkers count memory in powers of two, whatever they call them: 64 KB of flash are 65,536 bytes."""
MILLISECONDS = {
    "": Decimal(1),
    "s": Decimal(1000),
    "ms": Decimal(1),
    "us": Decimal("0.001"),
    "µs": Decimal("0.001"),
    "ns": Decimal("0.000001"),
}
HERTZ = {"": 1, "hz": 1, "k": 1000, "khz": 1000, "m": 1_000_000, "mhz": 1_000_000, "g": 10**9, "ghz": 10**9}
SECONDS = {"": 1, "s": 1, "sec": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400}
MOST_BYTES = 1 << 32
LEAST_MILLISECONDS, MOST_MILLISECONDS = Decimal("1e-6"), Decimal(10**9)
MOST_HERTZ = 10**11
MOST_SECONDS = 10**7


def parse_bytes(text: str) -> int:
    """Return the bytes that ``4096``, ``4K``, ``4k``, ``4KB`` or ``4 KiB`` (all the same) or ``1M`` stands for."""
    amount = _amount(text, BYTES)
    if amount is None or amount != int(amount) or not 0 < amount <= MOST_BYTES:
        raise OptionError(f"{text!r} is no number of bytes; write it as 4096, 4K (which is 4096) or 1M")
    return int(amount)


def parse_milliseconds(text: str) -> float:
    """Return the milliseconds that ``1ms``, ``250us``, ``0.5s`` or ``2`` (milliseconds) stands for."""
    amount = _amount(text, MILLISECONDS)
    if amount is None or not LEAST_MILLISECONDS <= amount <= MOST_MILLISECONDS:
        raise OptionError(f"{text!r} is no time; write it as 1ms, 250us or 0.5s")
    return float(amount)


def parse_hertz(text: str) -> int:
    """Return the hertz that ``72MHz``, ``48 MHz``, ``32k``, ``16e6`` or ``8000000`` stands for."""
    amount = _amount(text, HERTZ)
    if amount is None or amount != int(amount) or not 0 < amount <= MOST_HERTZ:
        raise OptionError(f"{text!r} is no clock frequency; write it as 72MHz, 32kHz or 16e6")
    return int(amount)


def parse_seconds(text: str) -> float:
    """Return the seconds that ``10m``, ``90s``, ``1.5h`` or ``600`` (seconds) stands for."""
    amount = _amount(text, SECONDS)
    if amount is None or not 0 < amount <= MOST_SECONDS:
        raise OptionError(f"{text!r} is no length of time; write it as 90s, 10m or 1h")
    return float(amount)


def _amount(text: str, units: Mapping[str, int | Decimal]) -> Decimal | None:
    """Return the number times its unit, exactly, or ``None`` where the text is none."""
    found = NUMBER.fullmatch(text.strip())
    unit = None if found is None else units.get(found[3].lower().replace("μ", "µ"))
    return None if found is None or unit is None else Decimal(found[1] + (found[2] or "")) * unit
