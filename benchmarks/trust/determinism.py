"""Same input, same bytes: trained and exported again, with 1 and 2 threads, in two processes and two Python threads."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from benchmarks.trust import Outcome
from sparsegen.methods import classifiers

TITLE = "determinism"
THREAD_SETTINGS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
SITUATIONS: Mapping[str, tuple[int, Sequence[str]]] = {
    "another process": (1, ()),
    "2 threads for BLAS and OpenMP": (2, ()),
    "two Python threads at once": (2, ("--at-once",)),
}
"""Threads allowed, and arguments, of the runs that are compared with one in a process of its own with 1 thread."""


def run(minutes: float, seed: int, methods: Sequence[str] = (*classifiers(),), rows: int = 300) -> Iterator[Outcome]:
    """Yield, for every situation, how many models and exports were compared and how many differed."""
    end = time.monotonic() + 60 * minutes
    tried, failed = Counter[str](), Counter[str]()
    remarks: dict[str, str] = {}
    for round_number in range(1_000_000):
        arguments = ["--rows", str(rows), "--seed", str(seed + round_number), "--methods", *methods]
        expected = hashes(1, arguments)
        for situation, (threads, more) in SITUATIONS.items():
            found = hashes(threads, [*arguments, *more])
            differing = [what for what, digest in expected.items() if found.get(what) != digest]
            tried[situation] += len(expected)
            failed[situation] += len(differing)
            if differing:
                remarks.setdefault(situation, f"differs: {', '.join(differing[:3])}")
        if time.monotonic() > end:
            break
    for situation in SITUATIONS:
        what = f"train by {len(methods)} methods and export, again in: {situation}"
        yield Outcome(what, tried[situation], "models and exports", failed[situation], remarks.get(situation, ""))


def hashes(threads: int, arguments: Sequence[str]) -> dict[str, str]:
    """Return what ``_digests`` prints in a new process that may use so many threads."""
    environment = {**os.environ, **dict.fromkeys(THREAD_SETTINGS, str(threads))}
    command = [sys.executable, "-m", "benchmarks.trust._digests", *arguments]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} failed: {ended.stderr[-2000:]}")
    found: dict[str, str] = json.loads(ended.stdout)
    return found
