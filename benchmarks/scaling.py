"""How SpSVM's training time and memory grow: with the rows n, and with the limit d_max on basis functions [K06, 3].

The paper promises O(n d_max^2) time; the Gram columns of the basis are O(n d_max) memory. Every point is the faster of
two equal fits in a process of its own, after one that compiles; its memory is the peak, data included, less what the
process held before. The cache for columns of candidates, which is bounded whatever n is, is switched off: it would
hide the rest.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from mmap import PAGESIZE
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks import _report
from benchmarks.train import generated
from sparsegen.methods.spsvm import SpSVM

FEATURES = 20
CANDIDATES = 59  # the default of SpSVM
FITS = 2  # of a point, the faster counts: other processes can only slow a fit down
DOUBLINGS = 4
PROC_STATUS = Path("/proc/self/status")


@dataclass(frozen=True)
class Point:
    """One fit."""

    rows: int
    vectors: int
    seconds: float
    """Of the processor."""
    megabytes: float
    """The most that the fit and its data added to the process."""


@dataclass(frozen=True)
class Growth:
    """Fits as one size grows, and the slopes of the logarithms of their seconds and megabytes."""

    size: str
    points: list[Point]
    seconds_slope: float
    megabytes_slope: float


def main(arguments: Sequence[str]) -> str:
    """Return the table, or JSON."""
    options = _options().parse_args(arguments)
    rows = sorted({max(max(options.vectors), options.max_rows >> k) for k in range(DOUBLINGS + 1)})
    middle = sorted(options.vectors)[len(options.vectors) // 2]
    sweeps = {"n": [(n, middle) for n in rows], "d_max": [(rows[0], d) for d in sorted(options.vectors)]}
    sizes = list(dict.fromkeys(size for sweep in sweeps.values() for size in sweep))
    points = (measure_apart(n, d, CANDIDATES, options.seed) for n, d in sizes)
    measured = dict(zip(sizes, _report.track(points, "fits", len(sizes)), strict=True))
    growth = [growth_of(size, [measured[pair] for pair in sweep]) for size, sweep in sweeps.items()]
    if options.json:
        return _report.as_json([asdict(g) for g in growth])
    return _table(growth)


def _options() -> argparse.ArgumentParser:
    options = _report.parser(__doc__ or "")
    options.add_argument(
        "--max-rows", type=_report.count, default=200_000, help="halved four times for the other points"
    )
    options.add_argument(
        "--vectors",
        type=_report.count,
        nargs="+",
        default=[16, 32, 64, 128, 256],
        help="d_max: all at the fewest rows, the middle one at every number of rows",
    )
    return options


def measure_apart(n: int, d: int, n_candidates: int, seed: int) -> Point:
    """Return time and memory of one fit in a new process, since a process never forgets its peak."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(_measure, n, d, n_candidates, seed).result()


def _measure(n: int, d: int, n_candidates: int, seed: int) -> Point:
    _fit(100, 4, n_candidates, seed)
    before, _ = held()
    seconds = min(_fit(n, d, n_candidates, seed) for _ in range(FITS))
    return Point(n, d, seconds, max(PAGESIZE, held()[1] - before) / 1e6)


def _fit(n: int, d: int, n_candidates: int, seed: int) -> float:
    X, y = generated(n, FEATURES, seed)
    machine = SpSVM(d, n_candidates=n_candidates, gamma=0.5 / FEATURES, cache_bytes=0, random_state=seed)
    with threadpool_limits(1):
        start = time.process_time()  # other processes may share the cores
        machine.fit(X, y)
        return time.process_time() - start


def held() -> tuple[int, int]:
    """Return the bytes this process holds and the most it ever held.

    Linux counts the parent into ``ru_maxrss`` of a new process, but not into its status file.
    """
    if PROC_STATUS.is_file():
        fields = dict(line.split(":", 1) for line in PROC_STATUS.read_text().splitlines())
        now, most = (int(fields[key].split()[0]) * 1024 for key in ("VmRSS", "VmHWM"))
        return now, most
    unit = 1 if sys.platform == "darwin" else 1024
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    return most, most


def growth_of(size: str, points: list[Point]) -> Growth:
    """Return how time and memory grow with ``size``: "n", or the number of basis functions."""
    values = [point.rows if size == "n" else point.vectors for point in points]
    return Growth(
        size, points, slope(values, [p.seconds for p in points]), slope(values, [p.megabytes for p in points])
    )


def slope(sizes: list[int], measured: list[float]) -> float:
    """Return the slope of the logarithms; none of one point."""
    return float(np.polyfit(np.log(sizes), np.log(measured), 1)[0]) if len(sizes) > 1 else float("nan")


def _table(growth: list[Growth]) -> str:
    rows = [
        [g.size, f"{p.rows:,}", str(p.vectors), f"{p.seconds:.2f}", f"{p.megabytes:.0f}"]
        for g in growth
        for p in g.points
    ]
    slopes = [
        f"- as {g.size} grows: time with log-log slope {g.seconds_slope:.2f}, memory with {g.megabytes_slope:.2f}"
        for g in growth
    ]
    table = _report.markdown(["SpSVM as it grows", "rows n", "d_max", "CPU s", "memory MB"], rows)
    return "\n\n".join([table, "\n".join(slopes)])


if __name__ == "__main__":
    raise SystemExit(_report.run(main))
