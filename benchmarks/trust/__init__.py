"""What stands guard over the promises that sparsegen prints: attacks that must all fail.

Each module here is one kind of attack. It has ``TITLE``, what it attacks, and ``run(minutes, seed)``, which yields an
:class:`Outcome` for everything it tried within about that many minutes. ``python -m benchmarks.trust`` runs them all.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Outcome:
    """What was tried, how often, and how often it failed."""

    what: str
    """What was tried, such as ``q7, rbf, projected: printed bound against inputs in range``."""
    tried: int
    unit: str
    """What was counted, such as ``inputs`` or ``files``."""
    failures: int
    remark: str = ""
    """The first failure, or why something was left out."""
