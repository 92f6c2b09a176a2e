"""Every compiler must give the same: integers bit for bit as the simulator, floats within the tolerance of ``verify``.

Models of every kernel, number format, input kind, shape and form of loops are put into one program per input type. It
is built as C99 and as C++17, with every compiler and level, under sanitizers, for 32 bits, for big-endian processors
and for one of those with Arm's DSP instructions, and runs rows that hold every extreme. qemu runs what this computer
cannot.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from benchmarks.trust import Outcome
from benchmarks.trust._together import EXTREME_FLOATS, make_integer_case, shared_inputs, simulated, together
from sparsegen.devices._toolchain import zig
from sparsegen.devices.host import Host
from sparsegen.errors import SparsegenError, ToolError
from sparsegen.kernels import KERNELS
from sparsegen.lowering.formats import F32, FORMATS, INPUT_KINDS, Format
from sparsegen.lowering.score_size import TOLERANCE
from sparsegen.model import class_indices
from sparsegen.targets import PORTABLE, TARGETS, Export
from sparsegen.targets.c.package import SPECIAL_LOOPS

TITLE = "compilers"

LEVELS = ("-O0", "-O2", "-O3", "-Os")
STANDARDS = {"C99": ("-std=c99",), "C++17": ("-x", "c++", "-std=c++17")}
STOP = ("-g", "-fno-sanitize-recover=all")
MEMORY = ("-fsanitize=address,undefined", *STOP)
EXCEPTIONS = Path(__file__).with_name("wraps_on_purpose.txt")
"""The functions that compute modulo 2^32 on purpose."""
INTEGER = ("-fsanitize=integer", f"-fsanitize-ignorelist={EXCEPTIONS}", *STOP)
UNIT = "scores and labels"
NOT_RUN = "not run"
NO_TIME = f"{NOT_RUN}: needs more minutes"
STRIDE = 5  # so that the builds of the first round see different models and levels
SHAPES: tuple[dict[str, Any], ...] = (
    {"n_classes": 2},
    {"n_classes": 3},
    {"n_classes": 3, "projected": True},
    {"n_classes": 2, "early_exit": True},
    {"n_classes": 4, "early_exit": True},
)
FEATURE_COUNTS = (1, 2, 3, 5, 7, 8, 9, 16, 17, 31, 33)
"""Around the steps of every unrolled loop."""
ORDINARY = 1000.0
"""Larger features are extremes, for which floats promise no score."""


@dataclass(frozen=True)
class Build:
    """One way to build a program and to run it."""

    what: str
    compiler: tuple[str, ...]
    flags: tuple[str, ...] = STANDARDS["C99"]
    levels: tuple[str, ...] = LEVELS
    launcher: tuple[str, ...] = ()
    byte_order: Literal["=", "<", ">"] = "="
    is_slow: bool = False
    """Whether its compiler first builds a C library, which takes a minute: not in the first round."""

    def device(self, level: str) -> Host:
        """Return this computer with the build's compiler."""
        return Host(self.compiler, (*self.flags, level), self.launcher, self.byte_order)


def builds() -> list[Build]:
    """Return every way to build; whether its tools are there shows when it is used."""
    gcc, clang = ("gcc",), ("clang",)
    native = {"gcc": gcc, "clang": clang, "zig": zig()}
    big_endian = (("s390x-linux-gnu-gcc", "qemu-s390x"), ("powerpc-linux-gnu-gcc", "qemu-ppc"))
    dsp = (*zig(), "-target", "armeb-linux-musleabi", "-mcpu=cortex_a7")
    c99 = STANDARDS["C99"]
    return [
        *(
            Build(f"{name}, {standard}", compiler, flags)
            for name, compiler in native.items()
            for standard, flags in STANDARDS.items()
        ),
        *(Build(f"{c[0]}, address and undefined sanitizers", c, (*c99, *MEMORY), ("-O1",)) for c in (gcc, clang)),
        Build("clang, integer sanitizer", clang, (*c99, *INTEGER), ("-O1",)),
        *(Build(f"{c[0]} -m32", c, (*c99, "-m32")) for c in (gcc, clang)),
        Build("gcc -m32, GNU C99", gcc, ("-std=gnu99", "-m32")),
        *(Build(f"{c}, big-endian", (c,), (*c99, "-static"), LEVELS, (qemu,), ">") for c, qemu in big_endian),
        Build("zig armeb, big-endian with DSP", dsp, (*c99, "-static"), ("-Os",), ("qemu-armeb",), ">", is_slow=True),
    ]


@dataclass(frozen=True)
class Group:
    """Exports that read and write the same types, with rows for all of them."""

    what: str
    exports: Sequence[Export]
    inputs: NDArray[Any]

    def of(self, exports: Sequence[Export]) -> Group:
        """Return the group with other exports, and what they read of the rows."""
        return Group(self.what, exports, self.inputs[:, : max(export.n_features for export in exports)])

    def differing(self, results: NDArray[Any]) -> NDArray[np.int64]:
        """Return the places of wrong results; the class indices follow the scores of all exports."""
        if self.exports[0].score_dtype != np.float32:
            return np.argwhere(results != simulated(self.exports, self.inputs))
        wrong = np.zeros(results.shape, dtype=bool)
        ordinary = np.flatnonzero((np.abs(self.inputs) < ORDINARY).all(axis=1))
        label, at = results.shape[1] - len(self.exports), 0
        for export in self.exports:
            end = at + export.n_outputs
            assert export.lowered is not None
            model = export.lowered.model
            expected = model.scores(self.inputs[ordinary, : export.n_features].astype(np.float64))
            allowed = TOLERANCE * max(1.0, float(np.abs(expected).max()))
            wrong[ordinary, at:end] = ~(np.abs(results[ordinary, at:end] - expected) <= allowed)
            wrong[:, label] = ~((results[:, label] >= 0) & (results[:, label] < len(model.classes)))
            wrong[ordinary, label] |= results[ordinary, label] != class_indices(
                results[ordinary, at:end], model.decision
            )
            label, at = label + 1, end
        return np.argwhere(wrong)


def run(minutes: float, seed: int, chosen: Sequence[Build] | None = None) -> Iterator[Outcome]:
    """Build and run with everything there is, or with some of it.

    The first round gives each build the models of one input type, and those after it all; another starts while there
    is time.
    """
    end = time.monotonic() + 60.0 * minutes
    every = builds() if chosen is None else chosen
    tallies = [Outcome(build.what, 0, UNIT, 0) for build in every]
    for number in itertools.count():
        groups = make_groups(seed, number)
        for at, build in enumerate(every):
            tries = list(itertools.product(groups, build.levels))
            if number == 0:
                tries = [] if build.is_slow else [tries[at * STRIDE % len(tries)]]
            for group, level in tries:
                if tallies[at].remark.startswith(NOT_RUN) or (number > 0 and time.monotonic() > end):
                    break
                tallies[at] = added(tallies[at], build, level, group)
        if time.monotonic() > end:
            break
    yield from (tally if tally.tried or tally.remark else replace(tally, remark=NO_TIME) for tally in tallies)


def added(tally: Outcome, build: Build, level: str, group: Group) -> Outcome:
    """Return the tally after one more program."""
    where = f"{level}, {group.what}"
    try:
        out = build.device(level).run(together(group.exports), group.inputs)
    except ToolError as error:
        if not works(build, level):
            return replace(tally, remark=f"{NOT_RUN}: {one_line(error)}")
        return failed(tally, 1, f"{where}: {one_line(error)}")
    wrong, broken = group.differing(out.scores), int(out.labels[0])
    tally = replace(tally, tried=tally.tried + out.scores.size)
    if len(wrong):
        row, column = wrong[0]
        return failed(tally, len(wrong), f"{where}: row {row}, result {column} is {out.scores[row, column]}")
    return failed(tally, broken, f"{where}: {broken} self-tests failed") if broken else tally


def failed(tally: Outcome, times: int, remark: str) -> Outcome:
    """Return the tally with failures; it keeps the first remark."""
    return replace(tally, failures=tally.failures + times, remark=tally.remark or remark)


def one_line(error: Exception) -> str:
    """Return the start of a message without its line breaks."""
    return " ".join(str(error).split())[:200]


@cache
def works(build: Build, level: str) -> bool:
    """Return whether a build can run a program that is no model."""
    kind = np.dtype(np.float32)
    source = (
        b"void m_scores(const float *x, float *s) { s[0] = x[0]; }\nint m_predict(const float *x) { return x[0] > 0; }"
    )
    header = b"void m_scores(const float *x, float *s);\nint m_predict(const float *x);\n"
    files = {"m.c": source + b"\n", "m.h": header}
    trivial = Export("c", "c", "m", files, ("m.c",), 1, 1, 0, "", input_dtype=kind, score_dtype=kind)
    try:
        return bool(build.device(level).run(trivial, np.ones((1, 1), kind)).labels[0] == 1)
    except ToolError:
        return False


@lru_cache(maxsize=1)  # other attacks take the same models
def make_groups(seed: int, number: int) -> list[Group]:
    """Return the models of a round, by input type: of every kernel, format and input one, in a shape of its own."""
    rng = np.random.default_rng([seed, number])
    loops = (PORTABLE, *SPECIAL_LOOPS)
    gathered: dict[str, list[Export]] = {}
    for count, (kernel, dtype, reads) in enumerate(itertools.product(KERNELS, FORMATS, INPUT_KINDS)):
        shape = dict(SHAPES[(count + number) % len(SHAPES)])
        early_exit = shape.pop("early_exit", False) and dtype != F32.name
        d = int(rng.choice(FEATURE_COUNTS))
        case = make_integer_case(int(rng.integers(2**32)), kernel, d=d, m=int(rng.integers(1, 9)), raw=True, **shape)
        try:
            wanted = Format(dtype, reads, early_exit=early_exit, rows=case.rows)
            export = TARGETS["c"].export(case.model, f"m{count}", wanted, loops[(count + number) % len(loops)])
        except SparsegenError:  # a kernel without an integer form, floats that read integers
            continue
        kind = "grid of" if reads == "grid" else "reads"
        gathered.setdefault(f"{dtype if dtype == F32.name else 'integers'}, {kind} {export.input_dtype}", []).append(
            export
        )
    return [Group(what, exports, _inputs(exports, seed)) for what, exports in gathered.items()]


def _inputs(exports: Sequence[Export], seed: int) -> NDArray[Any]:
    if exports[0].score_dtype != np.float32:
        return shared_inputs(exports, seed)
    rng = np.random.default_rng(seed)
    n = max(export.n_features for export in exports)
    extremes = rng.choice([*EXTREME_FLOATS, np.inf, -np.inf, 0.0], (30, n))
    return np.vstack([128.0 + 40.0 * rng.normal(size=(40, n)), extremes]).astype(np.float32)
