"""A coverage-guided fuzzing loop for Python code that reads bytes, in a child process with limits.

An input that runs lines of sparsegen in an order not seen before is kept and mutated further. The loop is our own
rather than atheris: that builds on one platform and few versions of Python, and a gate that only some can run guards
little. What is fuzzed here is plain Python, where ``sys.settrace`` sees every line.
"""

from __future__ import annotations

import mmap
import multiprocessing
import os
import random
import resource
import signal
import struct
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np

import sparsegen

PACKAGE = str(Path(sparsegen.__file__).parent) + os.sep
MAX_INPUT = 1 << 13  # bytes of a variant; a seed may be longer
MIN_VARIANTS = 100  # that are tried after the seeds, however short the time is
MAX_STEPS = 50_000  # that are traced of one input; the rest only takes time
CPU_SECONDS = 4.0  # for one input; tracing takes its part of it
HANG_SECONDS = 60.0  # without an answer, in native code that no signal handler interrupts
MAX_GROWTH = 500 << 20  # bytes of memory that one small input may take
ADDRESS_SPACE = 3 << 30  # beyond what the process has at the start
STATE = struct.Struct("<qqq")  # inputs tried, lines reached, length of the current input, which follows


@dataclass(frozen=True)
class Target:
    """What is fuzzed."""

    name: str
    seeds: Callable[[], Sequence[bytes]]
    mutate: Callable[[random.Random, bytes, bytes], bytes]
    """Returns a variant of the first input; the second is another one, to splice in."""
    check: Callable[[bytes], None]
    """Raises whatever is wrong with how an input was treated; it does the same for the same input."""


@dataclass(frozen=True)
class Finding:
    """An input that was treated wrongly."""

    data: bytes
    reason: str
    key: str
    """The same for findings that probably have one cause."""


@dataclass
class Report:
    """What a run of the loop did."""

    tried: int = 0
    kept: int = 0
    """Seeds, and inputs that reached something new."""
    findings: dict[str, Finding] = field(default_factory=dict)
    """The shortest of each key."""

    def add(self, finding: Finding) -> None:
        """Keep a finding if it is the first or the shortest of its key."""
        known = self.findings.get(finding.key)
        if known is None or len(finding.data) < len(known.data):
            self.findings[finding.key] = finding


class TooSlow(BaseException):
    """The time of one input is over; not an Exception, so that no reader takes it for one of its own."""


class Tracer:
    """Steps from one line of sparsegen to another."""

    def __init__(self) -> None:
        self.seen: set[tuple[int, int]] = set()
        self._now: set[tuple[int, int]] = set()
        self._previous = self._left = 0
        self._number: dict[CodeType, int] = {}

    def run(self, check: Callable[[bytes], None], data: bytes) -> bool:
        """Run a check and return whether it made a step not seen before; what it raises passes through."""
        self._now, self._previous, self._left = set(), 0, MAX_STEPS
        sys.settrace(self._call)
        try:
            check(data)
        finally:
            sys.settrace(None)
            is_new = not self._now <= self.seen
            self.seen |= self._now
        return is_new

    def _call(self, frame: FrameType, event: str, argument: Any) -> Any:
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return None
        return self._line(frame, event, argument)

    def _line(self, frame: FrameType, event: str, _: Any) -> Any:
        number = self._number.setdefault(frame.f_code, len(self._number) + 1)
        here = number << 20 | frame.f_lineno
        self._now.add((self._previous, here))
        self._previous = here
        self._left -= 1
        if self._left < 0:
            sys.settrace(None)
        return self._line


def fuzz(target: Target, seconds: float, seed: int) -> Report:
    """Return what a child process found in about that many seconds."""
    context = multiprocessing.get_context("fork")
    current = mmap.mmap(-1, STATE.size + max(MAX_INPUT, *map(len, target.seeds())))
    receiving, sending = context.Pipe(duplex=False)
    child = context.Process(target=_run, args=(target, seconds, seed, current, sending), daemon=True)
    child.start()
    sending.close()
    report, last, since = Report(), -1, time.monotonic()
    hung = False
    while True:
        try:
            if receiving.poll(1.0):
                report.add(receiving.recv())
        except EOFError:
            break
        tried = STATE.unpack_from(current)[0]
        if tried != last:
            last, since = tried, time.monotonic()
        elif time.monotonic() - since > HANG_SECONDS:
            hung = True
            child.kill()
    child.join()
    report.tried, report.kept, length = STATE.unpack_from(current)
    if child.exitcode != 0:
        data = current[STATE.size : STATE.size + length]
        what = f"hangs for {HANG_SECONDS:g} s" if hung else f"ends the process with exit code {child.exitcode}"
        report.add(Finding(data, what, what))
    return report


def _run(target: Target, seconds: float, seed: int, current: mmap.mmap, found: Connection) -> None:
    deadline = time.monotonic() + seconds
    kept: list[bytes] = []
    rng, tracer = random.Random(seed), Tracer()  # noqa: S311 - a reproducible draw, not a secret
    signal.signal(signal.SIGPROF, _too_slow)
    np.seterr(all="ignore")
    seeds = list(target.seeds())
    _limit_memory()
    tried = 0
    while tried < len(seeds) + MIN_VARIANTS or time.monotonic() < deadline:
        data = seeds[tried] if tried < len(seeds) else _variant(target, rng, kept or seeds)
        STATE.pack_into(current, 0, tried, len(kept), len(data))
        current[STATE.size : STATE.size + len(data)] = data
        is_new, finding = _try(target, tracer, data)
        if finding is not None:
            found.send(finding)
        elif is_new or tried < len(seeds):
            kept.append(data)
        tried += 1
    STATE.pack_into(current, 0, tried, len(kept), 0)
    found.close()


def _variant(target: Target, rng: random.Random, kept: Sequence[bytes]) -> bytes:
    """Return a kept input, the latest more often than others, after a few mutations."""
    place = rng.randrange(len(kept)) if rng.random() < 0.5 else -1 - int(len(kept) * rng.random() ** 3)
    data = kept[place]
    for _ in range(1 << rng.choice((0, 0, 0, 1, 2, 3))):
        data = target.mutate(rng, data, rng.choice(kept))[:MAX_INPUT]
    return data


def _try(target: Target, tracer: Tracer, data: bytes) -> tuple[bool, Finding | None]:
    before = _peak_bytes()
    signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
    try:
        is_new = tracer.run(target.check, data)
    except (Exception, TooSlow) as error:
        return False, _finding(data, error)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
    growth = _peak_bytes() - before
    if growth > MAX_GROWTH:
        return False, Finding(data, f"{len(data)} bytes take {growth >> 20} MB of memory", "memory")
    return is_new, None


def _finding(data: bytes, error: BaseException) -> Finding:
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if frame.filename.startswith(PACKAGE)] or frames
    where = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}"
    return Finding(data, f"{type(error).__name__} at {where}: {error}"[:300], f"{type(error).__name__} at {where}")


def _too_slow(*_: object) -> None:
    raise TooSlow(f"more than {CPU_SECONDS:g} s of processor time")


def _peak_bytes() -> int:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak << 10


def _limit_memory() -> None:
    sizes = Path("/proc/self/statm")
    if sizes.exists():
        now = int(sizes.read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (now + ADDRESS_SPACE, resource.RLIM_INFINITY))
