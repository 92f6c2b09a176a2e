"""The table of a falling function, entry by entry."""

from __future__ import annotations

from collections.abc import Callable

Function = Callable[[float], float]


def shifts(exact: Function, largest: int, width: int) -> int:
    """How many doublings of the intervals it takes to reach the largest distance, or nothing but half a unit."""
    count = 0
    while (32 << (width + count)) <= largest and exact(float(32 << (width + count))) > 2.0**-16:
        count += 1
    return count


def table(exact: Function, largest: int, width: int) -> list[int]:
    """Entries in the middle of what a device cannot tell apart, lowered by half the mean bend of both neighbours."""
    octaves = shifts(exact, largest, width)
    places = [(i << width, 0) for i in range(32)]
    places += [(i << (width + octave), octave) for octave in range(1, octaves + 1) for i in range(16, 32)]
    places.append((32 << (width + octaves), octaves))
    cut = [max(2.0 ** (width + octave - 8), 1.0) - 1.0 for _, octave in places]
    at = [exact(end + dropped / 2) for (end, _), dropped in zip(places, cut, strict=True)]
    bends = []
    for i in range(len(places) - 1):
        first, last = places[i][0], places[i + 1][0]
        bends.append(0.0 if last - first == 1 else (at[i] + at[i + 1]) / 2 - exact((first + last + cut[i]) / 2))
    values: list[int] = []
    for i, value in enumerate(at):
        before, after = bends[max(i - 1, 0)], bends[i] if i < len(bends) else 0.0
        rounded = min(max(round((value - (before + after) / 4) * 2**15), 0), 2**15 - 1)
        values.append(min([rounded, *values[-1:]]))
    return values
