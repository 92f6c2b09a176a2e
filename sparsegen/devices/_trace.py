"""Which blocks of instructions ran after which, and what that took: instructions, their kinds, clock cycles.

A block is decoded once however often it runs, so this is much faster than looking at every instruction. Pairs of blocks
are counted rather than blocks: they tell which branches were taken, and which instruction came before the first of a
block.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from sparsegen.devices._instructions import CONDITIONAL_BRANCH, Instruction
from sparsegen.devices.timing import Range, Timing

Block = tuple[int, int]
"""Where a block of instructions begins, and its bytes."""
Pair = tuple[Block | None, Block | None]
"""A block and the one that ran after it; ``None`` before the first and after the last of a call."""


@dataclass(frozen=True)
class Spent:
    """What some calls took."""

    instructions: int
    kinds: Counter[str]
    """How often each kind of instruction ran; conditional branches in two kinds, taken and not taken."""
    cycles: Range | None
    """The fewest and the most, where the core's timing is known."""


class Trace:
    """Counts pairs of blocks as they run."""

    def __init__(self, decode: Callable[[int, int], list[Instruction]]) -> None:
        self._decode = decode
        self._blocks: dict[Block, list[Instruction]] = {}
        self._costs: dict[tuple[str, Pair], Range] = {}
        self._pairs: dict[Pair, int] = {}
        self._last: Block | None = None

    def enter(self, address: int, size: int) -> None:
        """Count the block that begins at an address."""
        block = (address, size)
        pair = (self._last, block)
        self._pairs[pair] = self._pairs.get(pair, 0) + 1
        self._last = block

    def end(self) -> None:
        """Count the return from a call."""
        if self._last is not None:
            self._pairs[self._last, None] = self._pairs.get((self._last, None), 0) + 1
        self._last = None

    def take(self, timing: Timing | None) -> Spent:
        """Return what was spent since the last time, and begin anew."""
        pairs, self._pairs = self._pairs, {}
        instructions, kinds = 0, Counter[str]()
        for pair, times in pairs.items():
            for kind, number in self._kinds(pair).items():
                kinds[kind] += times * number
                instructions += times * number
        return Spent(instructions, kinds, None if timing is None else self._cycles(pairs, timing))

    def _instructions(self, block: Block) -> list[Instruction]:
        if block not in self._blocks:
            self._blocks[block] = self._decode(*block)
        return self._blocks[block]

    def _kinds(self, pair: Pair) -> Counter[str]:
        """Return the kinds of the second block, without its branch, and that of the first with what became of it."""
        before, after = pair
        kinds = Counter[str]()
        if after is not None:
            kinds.update(i.kind for i in self._instructions(after) if i.kind != CONDITIONAL_BRANCH)
        if before is not None and self._instructions(before)[-1].kind == CONDITIONAL_BRANCH:
            kinds[branch_kind(self._leaves(pair))] += 1
        return kinds

    def _leaves(self, pair: Pair) -> bool:
        """Return whether the first block ends in a jump that is taken."""
        before, after = pair
        if before is None:
            return False
        last = self._instructions(before)[-1]
        return last.may_leave and (not last.is_conditional or after is None or after[0] != sum(before))

    def _cycles(self, pairs: dict[Pair, int], timing: Timing) -> Range:
        least = most = 0.0
        turns: dict[int, list[int]] = {}
        for pair, times in pairs.items():
            cost = self._costs.get((timing.name, pair))
            if cost is None:
                cost = self._costs[timing.name, pair] = self._cost(pair, timing)
            least += times * cost[0]
            most += times * cost[1]
            if timing.misprediction and pair[0] is not None:
                turns.setdefault(sum(pair[0]), [0, 0])[self._leaves(pair)] += times  # by where the branch ends
        # A branch that goes the rarer way may be mispredicted there, and again as it goes the usual way.
        wrong = sum(2 * min(ways) for ways in turns.values())
        return least, most + timing.misprediction * wrong

    def _cost(self, pair: Pair, timing: Timing) -> Range:
        """Return the cycles of the second block's instructions, and of the way there if the first ends in a jump."""
        before, after = pair
        previous = None if before is None else self._instructions(before)[-1]
        least, most = timing.leave(previous) if previous is not None and self._leaves(pair) else (0.0, 0.0)
        for current in () if after is None else self._instructions(after):
            one = timing.issue(previous, current)
            least, most, previous = least + one[0], most + one[1], current
        return least, most


def branch_kind(taken: bool) -> str:
    """Return the kind that a conditional branch is counted as."""
    return f"{CONDITIONAL_BRANCH}, {'taken' if taken else 'not taken'}"
