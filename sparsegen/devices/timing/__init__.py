"""How many clock cycles instructions take, one family of cores per file.

A timing gives the fewest and the most cycles of each instruction: what the maker's manual says where there is one,
bounds from the pipeline where there is none. Memory without wait states is the condition of all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sparsegen.devices._instructions import Instruction
from sparsegen.registry import Registry

Range = tuple[float, float]
"""The fewest and the most cycles."""
NONE: Range = (0.0, 0.0)


def no_stalls(previous: Instruction, current: Instruction) -> Range:
    """Return that no instruction waits for the one before it."""
    return NONE


@dataclass(frozen=True)
class Timing:
    """The cycles of a core's instructions."""

    name: str
    source: str
    """Where the figures come from and what they leave out, as the end of a sentence."""
    cycles: Mapping[str, Range]
    """By the kind of instruction; of those that move several words, without the words."""
    word: Mapping[str, Range] = field(default_factory=dict)
    """Cycles for each word that such a kind moves."""
    taken: Mapping[str, Range] = field(default_factory=dict)
    """Cycles more where a kind goes on elsewhere than at the next instruction."""
    refill: Range = NONE
    """The same for kinds that ``taken`` does not have."""
    stalls: Callable[[Instruction, Instruction], Range] = no_stalls
    """Cycles that an instruction waits, or saves, because of the one before it."""
    error: str = "compared with no real device"
    """How far off these cycles were found to be, as the end of a sentence."""
    misprediction: float = 0.0
    """The most cycles that a wrongly predicted branch adds."""

    def issue(self, previous: Instruction | None, current: Instruction) -> Range:
        """Return the cycles of an instruction after another, as if it went on at the next one."""
        least, most = self.cycles[current.kind]
        per_word = self.word.get(current.kind, NONE)
        stall = NONE if previous is None else self.stalls(previous, current)
        least += per_word[0] * current.words + stall[0]
        most += per_word[1] * current.words + stall[1]
        if current.is_conditional:  # one that is skipped takes a cycle
            least = min(least, 1.0)
        return max(least, 0.0), most

    def leave(self, current: Instruction) -> Range:
        """Return the cycles more that an instruction takes as it goes on elsewhere."""
        return self.taken.get(current.kind, self.refill)


TIMINGS: Registry[Timing] = Registry("core", __name__)
