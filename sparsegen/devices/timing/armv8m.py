"""Cortex-M33: Arm publishes no table of cycles, so these are bounds.

Slow: the Cortex-M4's most cycles, although the M33 does more in a clock cycle (Arm states 4.10 against 3.54
CoreMark/MHz). Fast: every instruction but a load, a store and those that take longer by nature is issued together with
another.
"""

from __future__ import annotations

from sparsegen.devices import _instructions as kinds
from sparsegen.devices.timing import TIMINGS, Range, Timing
from sparsegen.devices.timing.armv7m import FLOAT_WORDS, M4, WORDS, stalls

PAIRED = (kinds.ALU, kinds.BRANCH, kinds.CONDITIONAL_BRANCH, kinds.CALL, kinds.RETURN, kinds.LOAD_MULTIPLE)
FASTER = {kinds.LOAD: 0.0, kinds.FLOAT_LOAD: 0.0, kinds.FLOAT_MULTIPLY_ADD: 1.0}


def _cycles(kind: str) -> Range:
    least, most = M4[kind]
    return (0.5 if kind in PAIRED else FASTER.get(kind, least)), most


TIMINGS.register("cortex-m33")(
    Timing(
        "cortex-m33",
        "bounds on the cycles of each instruction, since Arm publishes none: the Cortex-M4's most, or two at a time",
        cycles={**{kind: _cycles(kind) for kind in kinds.KINDS}, kinds.FLOAT_DIVIDE: (1.0, 16.0)},
        word=WORDS | FLOAT_WORDS,
        refill=(0.0, 3.0),
        stalls=stalls,
    )
)
