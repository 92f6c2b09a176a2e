"""The stack that a header promises, against what compilers say and what devices use.

Compilers tell the frame of each function (``-fstack-usage``); along the calls they add up. What they do not tell, the
frames of the libraries that compute floats on processors without an FPU, is in what devices use: their stack is
painted before a prediction.
"""

from __future__ import annotations

import itertools
import re
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple, dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.trust import Outcome
from benchmarks.trust._together import together
from benchmarks.trust.compilers import make_groups
from sparsegen.devices import DEVICES, Device
from sparsegen.devices._toolchain import run_tool, write_files
from sparsegen.errors import FitError, ToolError
from sparsegen.lowering.integer_program import IntegerProgram
from sparsegen.targets import PORTABLE, TARGETS, Export

TITLE = "stack"
LEVELS = ("-Os", "-O2")
DEVICE_NAMES = ("cortex-m0plus", "cortex-m3", "cortex-m4f", "rv32imc", "atmega328p")
LIBRARY = 64
"""Bytes that we allow a function of libgcc that computes floats; what zig's takes is in what devices use."""
OWN = (
    *("scores", "score", "predict", "predict_score", "label", "selftest", "sum", "in_range"),
    *("weigh", "weight", "share", "probabilities", "predict_or_reject"),
)
"""The functions that are no helpers of a score."""
PROJECTING = ("project", "dots", "dot")
"""Helpers that call the next one."""


@dataclass(frozen=True)
class Stack:
    """Bytes of stack."""

    predict: int
    selftest: int
    probabilities: int = 0
    """Of a program that has none: 0."""

    def exceeds(self, other: Stack) -> bool:
        """Return whether any of it is more."""
        pairs = zip(astuple(self), astuple(other), strict=True)
        return any(mine > theirs for mine, theirs in pairs)


def promised(export: Export, level: str) -> Stack:
    """Return what the header states."""
    header = export.files[f"{export.name}.h"].decode()
    found = re.search(rf"stack at {level}: at most (\d+) bytes for a prediction, (\d+) for the self-test", header)
    assert found is not None, f"{export.name}.h states no stack"
    weighing = re.search(rf"stack for probabilities: at most .*?(\d+) bytes at {level}", header)
    return Stack(int(found[1]), int(found[2]), 0 if weighing is None else int(weighing[1]))


@dataclass(frozen=True)
class Compiler:
    """A compiler for one processor, and the loops that suit it."""

    command: tuple[str, ...]
    loops: str = PORTABLE
    has_fpu: bool = False

    def stack(self, export: Export, level: str) -> Stack:
        """Return the sums of the frames along the calls."""
        (found,) = self.stacks([export], level)
        return found

    def stacks(self, exports: Sequence[Export], level: str) -> list[Stack]:
        """Return them for exports of different names, which one call of the compiler takes together."""
        with tempfile.TemporaryDirectory(prefix="sparsegen-") as name:
            folder = Path(name)
            sources = [source for export in exports for source in write_files(export, folder)]
            finished = run_tool([*self.command, level, "-fstack-usage", "-S", *sources], folder)
            if finished.returncode != 0:
                raise ToolError(finished.stderr.decode(errors="replace"))
            said = [(folder / f"{Path(source).stem}.su").read_text() for source in sources]
        return [
            self._with_library(export, along_the_calls(export, text))
            for export, text in zip(exports, said, strict=True)
        ]

    def _with_library(self, export: Export, found: Stack) -> Stack:
        """Return the stack with what the compiler's own float functions take."""
        computes_floats = np.float32 in (export.input_dtype, export.score_dtype)
        library = LIBRARY if computes_floats and not self.has_fpu else 0
        weighing = found.probabilities + library if found.probabilities else 0
        return Stack(found.predict + library, found.selftest + library, weighing)


def along_the_calls(export: Export, said: str) -> Stack:
    """Return the sums of frames along the calls, as a file of ``-fstack-usage`` gives them."""
    assert export.lowered is not None
    program, wanted = export.lowered.program, export.lowered.format
    frames = dict.fromkeys((*OWN, *PROJECTING), 0)
    frames |= {f: int(size) for f, size in re.findall(rf"\b{export.name}_(\w+)\t(\d+)\t", said)}
    helper = max((size for function, size in frames.items() if function not in OWN), default=0)
    helper = max(helper, sum(frames[function] for function in PROJECTING))
    is_integer = isinstance(program, IntegerProgram)
    score = frames["score"] + helper
    has_score = is_integer and export.n_outputs == 1
    scores = frames["scores"] + (score if has_score else helper)
    stops_early = isinstance(program, IntegerProgram) and wanted.early_exit and not program.is_linear
    predict = frames["predict"] + (helper if stops_early else score if has_score else scores)
    weigh = 0
    if export.lowered.probabilities is not None:
        inside = score if has_score else scores  # float scores call what computes exponentials, as weighing does
        weigh = frames["weigh"] + max(inside, frames["weight"], frames["share"], 0 if is_integer else helper)
    shown = weigh + frames["probabilities"] if weigh else 0
    asked = weigh + max(frames["probabilities"], frames["predict_or_reject"]) if weigh else 0
    selftest = frames["selftest"] + max(frames["sum"], scores, 0 if is_integer else predict, shown)
    return Stack(predict, selftest, asked)


ARM, RISCV = ("arm-none-eabi-gcc", "-mthumb", "-std=c99"), ("riscv64-unknown-elf-gcc", "-std=c99")
CLANG = ("clang", "-ffreestanding", "-std=c99")
M4F = ("-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard")
COMPILERS = {
    "gcc for Cortex-M0+": Compiler((*ARM, "-mcpu=cortex-m0plus")),
    "gcc for Cortex-M3": Compiler((*ARM, "-mcpu=cortex-m3")),
    "gcc for Cortex-M4F": Compiler((*ARM, *M4F), "dsp", has_fpu=True),
    "gcc for RV32IMC": Compiler((*RISCV, "-march=rv32imc", "-mabi=ilp32", "-ffreestanding")),
    "gcc for ATmega328P": Compiler(("avr-gcc", "-mmcu=atmega328p", "-std=gnu99"), "avr"),
    "clang for Cortex-M0+": Compiler((*CLANG, "--target=thumbv6m-none-eabi")),
    "clang for Cortex-M4F": Compiler(
        (*CLANG, "--target=thumbv7em-none-eabihf", "-mcpu=cortex-m4"), "dsp", has_fpu=True
    ),
    "clang for RV32IMC": Compiler((*CLANG, "--target=riscv32-none-elf", "-march=rv32imc")),
}


def used(device: Device, export: Export) -> Stack:
    """Return the RAM that a prediction and the self-test use on a device; ``together`` predicts by testing itself."""
    assert export.lowered is not None and export.lowered.format.rows is not None
    inputs = export.lowered.inputs(export.lowered.format.rows[:4])
    predict, selftest = (device.measure(e, inputs).ram for e in (export, together([export])))
    if predict is None or selftest is None:
        raise FitError(f"{export.name} does not fit {device.name}")
    return Stack(predict, selftest)


def run(minutes: float, seed: int, only: str = "") -> Iterator[Outcome]:
    """Compare as many exports as there is time for, the same with every compiler and device, or some of them."""
    end = time.monotonic() + 60.0 * minutes
    tallies: dict[str, Outcome] = {}
    for number in itertools.count():
        exports = [export for group in make_groups(seed, number) for export in group.exports]
        order = np.random.default_rng([seed, number]).permutation(len(exports))
        for at in order:
            for name, loops, level, measure in (way for way in measurements() if only in way[0]):
                lowered = exports[at].lowered
                assert lowered is not None
                export = TARGETS["c"].write(lowered, "m", loops)
                tallies[name] = added(tallies.get(name, Outcome(name, 0, "exports", 0)), export, level, measure)
            if time.monotonic() > end:
                yield from tallies.values()
                return


def measurements() -> Iterator[tuple[str, str, str, Callable[[Export], Stack]]]:
    """Yield every way to find a stack: what it is, the loops that it takes, the level, and the way itself."""
    for (name, compiler), level in itertools.product(COMPILERS.items(), LEVELS):
        yield f"{name} {level}: frames along the calls", compiler.loops, level, partial(compiler.stack, level=level)
    for name in DEVICE_NAMES:
        device = DEVICES[name]
        yield f"{name}: painted stack", device.loops, LEVELS[0], partial(used, device)


def added(tally: Outcome, export: Export, level: str, measure: Callable[[Export], Stack]) -> Outcome:
    """Return the tally after one more export."""
    try:
        found = measure(export)
    except ToolError as error:
        return tally if tally.tried else replace(tally, remark=f"not run: {' '.join(str(error).split())[:120]}")
    stated = promised(export, level)
    tally = replace(tally, tried=tally.tried + 1)
    if not found.exceeds(stated):
        return tally
    return replace(tally, failures=tally.failures + 1, remark=tally.remark or f"{found} against {stated}")
