"""[K06, 3]: how SpSVM's training time and memory grow with the rows and with the limit on basis functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks import _report
from benchmarks.papers import TABLES
from benchmarks.papers._lab import Lab, Outcome
from benchmarks.papers._results import Claim, Section
from benchmarks.scaling import CANDIDATES, FEATURES, Growth, Point, growth_of, measure_apart

ROWS = (8_000, 16_000, 32_000, 64_000)
VECTORS = (16, 32, 64, 128, 256)
MIDDLE = 64
"""Basis functions while the rows grow; while the basis functions grow, the rows are the fewest."""
ROUGHLY = 0.1
"""By how much an exponent may exceed the paper's."""

FIXED, RANDOM, GROWING = f"{CANDIDATES} candidates", "1 candidate (random rows)", "d_max candidates"

NOTES = f"""\
`python -m benchmarks.scaling` with fewer rows: for each point the faster of two fits in a process of its own, on
generated data with {FEATURES} features and without a cache for candidates. Time is that of the processor. Time and
memory are multiples of those of the first point of their line; an exponent is the slope of a straight line through the
logarithms. While the rows grow, d_max is {MIDDLE}; while d_max grows, there are {ROWS[0]:,} rows. An exponent below the
paper's is no contradiction: O() is an upper bound, and fixed costs still count at the smallest sizes."""


def measure(folder: Path | None, rows: int, vectors: int, candidates: int) -> Outcome:
    """Return time and memory of one fit."""
    return asdict(measure_apart(rows, vectors, candidates, seed=0))


def growths(lab: Lab) -> dict[str, dict[str, Growth]]:
    """Return the growth with n and with d_max, for each way to choose the number of candidates."""
    found: dict[str, dict[str, Growth]] = {}
    for name in (FIXED, RANDOM, GROWING):
        sweeps = {"n": [(n, MIDDLE) for n in ROWS], "d_max": [(ROWS[0], d) for d in VECTORS]}
        found[name] = {size: growth_of(size, _points(lab, name, sweep)) for size, sweep in sweeps.items()}
    return found


def _points(lab: Lab, name: str, sweep: Sequence[tuple[int, int]]) -> list[Point]:
    cases = [
        {"rows": n, "vectors": d, "candidates": {FIXED: CANDIDATES, RANDOM: 1, GROWING: d}[name]} for n, d in sweep
    ]
    return [Point(**outcome) for outcome in lab.map(measure, cases, f"scaling: {name}")]


@TABLES.register("k06-scaling")
def scaling(lab: Lab, folder: Path) -> Section:
    """Return the growth of time and memory."""
    found = growths(lab)
    rows = []
    for name, both in found.items():
        for size, growth in both.items():
            first = growth.points[0]
            for what, values, slope in (
                ("time", [p.seconds / first.seconds for p in growth.points], growth.seconds_slope),
                ("memory", [p.megabytes / first.megabytes for p in growth.points], growth.megabytes_slope),
            ):
                rows.append([name, size, what, ", ".join(f"{value:.1f}" for value in values), f"{slope:.2f}"])
    sizes = [
        f"n: {', '.join(f'{n:,}' for n in ROWS)}",
        f"d_max: {', '.join(map(str, VECTORS))}",
    ]
    header = ["SpSVM with", "as grows", "measured", f"multiples of the first ({'; '.join(sizes)})", "exponent"]
    title = "[K06], section 3: how training grows"
    return Section(title, NOTES, _report.markdown(header, rows, text=3), claims=claims(found))


def claims(found: dict[str, dict[str, Growth]]) -> list[Claim]:
    """Return what the paper says of its cost, in its words."""
    texts = {
        FIXED: ("[K06] abstract", "it is efficient and roughly scales as O(n dmax^2)"),
        RANDOM: (
            "[K06] 3",
            "O(n dmax^2) is also the complexity of the method in which basis functions are chosen randomly",
        ),
        GROWING: (
            "[K06] 3",
            "If dmax is specified, one can choose κ = O(dmax) without increasing the overall complexity beyond "
            "O(n dmax^2)",
        ),
    }
    return [
        Claim(
            *texts[name],
            f"time grows as n^{both['n'].seconds_slope:.2f} and d_max^{both['d_max'].seconds_slope:.2f} with {name}",
            f"exponents of at most {1 + ROUGHLY:g} and {2 + ROUGHLY:g}",
            both["n"].seconds_slope <= 1 + ROUGHLY and both["d_max"].seconds_slope <= 2 + ROUGHLY,
        )
        for name, both in found.items()
    ]
