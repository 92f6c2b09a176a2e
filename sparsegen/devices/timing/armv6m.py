"""Cortex-M0 and M0+, as Arm's Technical Reference Manuals have them (DDI 0432C and DDI 0484C, table 3-1)."""

from __future__ import annotations

from sparsegen.devices import _instructions as kinds
from sparsegen.devices.timing import TIMINGS, Range, Timing

ONE: Range = (1.0, 1.0)
UNKNOWN: Range = (1.0, 4.0)
MEMORY = (kinds.LOAD, kinds.STORE, kinds.LOAD_MULTIPLE, kinds.STORE_MULTIPLE)


def _exactly(cycles: float) -> Range:
    return cycles, cycles


for name, manual, refill, call, from_stack, system in (
    ("cortex-m0plus", "Cortex-M0+ manual (DDI 0484C, table 3-1)", 1, 2, 2, 3),
    ("cortex-m0", "Cortex-M0 manual (DDI 0432C, table 3-1)", 2, 3, 3, 4),
):
    TIMINGS.register(name)(
        Timing(
            name,
            f"cycles of each instruction from Arm's {manual}, with the single-cycle multiplier",
            cycles={**dict.fromkeys(kinds.KINDS, ONE), kinds.SYSTEM: _exactly(system), kinds.OTHER: UNKNOWN},
            word=dict.fromkeys(MEMORY, ONE),  # 1 + N
            taken={kinds.CALL: _exactly(call), kinds.LOAD_MULTIPLE: _exactly(from_stack)},
            refill=_exactly(refill),
        )
    )
