"""Cortex-M3 and M4, as Arm's Technical Reference Manuals have them (DDI 0337I and 100166, tables 3-1 and 7-1).

P, the cycles of a pipeline refill, is 1 to 3. Loads that follow each other overlap, stores hide in the write buffer:
the fewest cycles take every such chance, the most cycles none.
"""

from __future__ import annotations

from sparsegen.devices import _instructions as kinds
from sparsegen.devices._instructions import FLOAT_ARITHMETIC, LOADS, Instruction
from sparsegen.devices.timing import TIMINGS, Range, Timing

ONE: Range = (1.0, 1.0)
DIVIDE: Range = (2.0, 12.0)
PIPELINE_REFILL: Range = (1.0, 3.0)
INTEGER = {
    **dict.fromkeys(kinds.KINDS, ONE),
    kinds.DIVIDE: DIVIDE,
    kinds.STORE: (0.0, 1.0),  # the write buffer
    kinds.TABLE_BRANCH: (2.0, 3.0),
    kinds.CONDITION: (0.0, 1.0),  # may be folded into the instruction before it
    kinds.SYSTEM: (1.0, 4.0),
    kinds.OTHER: (1.0, 14.0),
}
M4 = {
    **INTEGER,
    kinds.FLOAT: (0.0, 0.0),
    kinds.FLOAT_MULTIPLY_ADD: (3.0, 3.0),
    kinds.FLOAT_DIVIDE: (1.0, 14.0),  # other instructions may go on meanwhile
    kinds.FLOAT_STORE: (0.0, 1.0),
}
WORDS = dict.fromkeys((kinds.LOAD, kinds.STORE, kinds.LOAD_MULTIPLE, kinds.STORE_MULTIPLE), ONE)
FLOAT_WORDS = dict.fromkeys(
    (kinds.FLOAT, kinds.FLOAT_LOAD, kinds.FLOAT_STORE, kinds.FLOAT_LOAD_MULTIPLE, kinds.FLOAT_STORE_MULTIPLE), ONE
)


def stalls(previous: Instruction, current: Instruction) -> Range:
    """Return what an instruction waits for the result of the one before it, and what overlapping loads save."""
    least = most = 0.0
    waits = previous.writes & current.address
    if current.kind in LOADS and current.words == 1 and previous.kind in LOADS and previous.words == 1 and not waits:
        least -= 1.0
    if current.is_literal:
        most += 1.0  # the fetch unit reads the same memory
    if waits and previous.kind not in LOADS:
        most += 1.0  # there is no forwarding path to an address
    if previous.kind in FLOAT_ARITHMETIC and previous.writes & current.reads:
        most += 1.0
    return least, most


TIMINGS.register("cortex-m3")(
    Timing(
        "cortex-m3",
        "fewest and most cycles of each instruction from Arm's Cortex-M3 manual (DDI 0337I, section 3.3)",
        cycles={
            **INTEGER,
            kinds.MULTIPLY_ADD: (2.0, 2.0),
            kinds.MULTIPLY_LONG: (3.0, 5.0),
            kinds.MULTIPLY_LONG_ADD: (4.0, 7.0),
        },
        word=WORDS,
        refill=PIPELINE_REFILL,
        stalls=stalls,
    )
)
TIMINGS.register("cortex-m4")(
    Timing(
        "cortex-m4",
        "fewest and most cycles of each instruction from Arm's Cortex-M4 manual (100166, tables 3-1 and 7-1)",
        cycles=M4,
        word=WORDS | FLOAT_WORDS,
        refill=PIPELINE_REFILL,
        stalls=stalls,
    )
)
