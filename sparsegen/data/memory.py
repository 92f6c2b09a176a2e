"""Memory that data take: refused before it is allocated, not after the machine swaps."""

from __future__ import annotations

import os
import re
from pathlib import Path

from sparsegen.errors import DataError

COPIES = 2
"""How often rows are in memory at once: as read, and as split into training and test rows."""


def check_memory(n_bytes: int, what: str) -> None:
    """Raise an error where ``n_bytes`` of rows, and the copies that are made of them, are more than is free."""
    free = free_memory()
    if free is not None and COPIES * n_bytes > free:
        raise DataError(
            f"{what} takes {_mib(COPIES * n_bytes)} of memory, but {_mib(free)} are free; use a sample of its rows"
        )


def free_memory() -> int | None:
    """Return the bytes that can be allocated without swapping, or ``None`` where the system does not tell."""
    try:
        found = re.search(r"^MemAvailable:\s+(\d+) kB$", Path("/proc/meminfo").read_text("ascii"), re.MULTILINE)
        if found is not None:
            return 1024 * int(found[1])
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        return None


def _mib(n_bytes: int) -> str:
    return f"{n_bytes >> 20:,} MiB"
