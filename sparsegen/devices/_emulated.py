"""Emulated devices: zig's clang builds the image, unicorn runs it. Everything comes from PyPI."""

from __future__ import annotations

import copy
import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen import progress
from sparsegen.devices import CycleEstimate, Device, Measurement, Outputs, Profile, thin
from sparsegen.devices._emulator import EmulatedProcessor, Processor
from sparsegen.devices._image import Image, build_elf, build_image, read_image
from sparsegen.devices._parts import CodeParts, PartOf, PartTrace, weigh
from sparsegen.devices._toolchain import DEVICES_EXTRA, TOOL_SECONDS, absent, compiler_name, entry, versioned, zig
from sparsegen.devices._trace import Spent
from sparsegen.devices.timing import TIMINGS, Timing
from sparsegen.targets import Export

PACKAGES = ("ziglang", "unicorn", "elftools", "capstone")


class EmulatedDevice(Device):
    """A microcontroller in the emulator: exact instruction counts, flash and RAM, and an estimate of the cycles.

    Flash is the image with only ``NAME_predict``, or ``NAME_value``, and what it reaches, soft-float helpers included.
    RAM is its static data plus the deepest stack seen over the measured rows.
    """

    runs = "c"
    compile_seconds: float = TOOL_SECONDS
    """The longest that building an image may take."""

    def __init__(
        self,
        name: str,
        description: str,
        target: str,
        cpu: str,
        processor: Processor,
        profile: Profile,
        loops: str = "portable",
        core: str | None = None,
    ) -> None:
        self.name = name
        self.description = description
        self.profile = profile
        self.loops = loops
        self.processor = processor
        self.core = core
        self.compiler_flags: tuple[str, ...] = ("-target", target, f"-mcpu={cpu}")

    def missing(self) -> str | None:
        """Return what to install, as a sentence, or ``None`` where the device can run here."""
        packages = absent(PACKAGES)
        if not packages:
            return None
        return f"{', '.join(packages)} not found; install the emulators with: {DEVICES_EXTRA}"

    def made_by(self, *, measuring: bool = False) -> str:
        """Return the compiler's and the emulator's name and version."""
        return f"{compiler_name(zig())} and {versioned('unicorn', 'unicorn')}"

    def timed_as(self, profile: Profile) -> EmulatedDevice:
        """Return the device with the timing of a part's core."""
        if profile.core in (None, self.core):
            return self
        other = copy.copy(self)
        other.core = profile.core
        return other

    def run(self, export: Export, X: NDArray[Any]) -> Outputs:
        """Return the scores and class indices the emulated processor computes for every row."""
        rows = self.accept(export, X)
        predict, scores, share = export.entry, f"{export.name}_scores", f"{export.name}_probabilities"
        row = export.probability_row
        roots = (predict, scores) if row is None else (predict, scores, share)
        emulated = self._boot(export, build_image(export, self.compiler_flags, roots, self.compile_seconds))
        out = Outputs(
            np.empty((len(rows), export.n_outputs), dtype=export.score_dtype),
            np.empty(len(rows), dtype=np.int32),
            None if row is None else np.empty(len(rows), dtype=row),
        )
        with progress.task(f"emulating {self.name}", len(rows)) as advance:
            for i, row in enumerate(rows):
                emulated.write_row(row)
                out.scores[i] = emulated.scores(scores)
                returned = emulated.predict(predict)
                out.labels[i] = returned if export.has_classes else _label_of(returned, out.scores[i])
                if out.probabilities is not None:
                    out.probabilities[i] = emulated.probabilities(share)
                advance("")
        return out

    def measure(self, export: Export, X: NDArray[Any]) -> Measurement:
        """Return flash, RAM and instructions (mean and most) of a prediction over (at most 64 of) the rows."""
        return self.predict_and_measure(export, thin(self.accept(export, X)))[1]

    def predict_and_measure(self, export: Export, X: NDArray[Any]) -> tuple[NDArray[np.int32], Measurement]:
        """Return the class index of every row, 0 where there are no classes, and what a prediction costs: one build."""
        rows = self.accept(export, X)
        predict = export.entry
        image = build_image(export, self.compiler_flags, (predict,), self.compile_seconds)
        emulated = self._boot(export, image)
        emulated.count_instructions()
        emulated.paint_stack()
        labels = np.empty(len(rows), dtype=np.int32)
        timing = None if self.core is None else TIMINGS[self.core]
        spent = []
        for i, row in enumerate(rows):
            emulated.write_row(row)
            returned = emulated.predict(predict)
            labels[i] = returned if export.has_classes else 0
            spent.append(emulated.trace.take(timing))
        kinds = sum((one.kinds for one in spent), Counter[str]())
        return labels, Measurement(
            flash=image.flash,
            ram=image.static_ram + emulated.stack_used(),
            instructions=sum(one.instructions for one in spent) / len(spent),
            latency_us=None,
            worst_instructions=max(one.instructions for one in spent),
            mix={kind: number / len(spent) for kind, number in kinds.most_common()},
            estimate=None if timing is None else estimated(spent, timing),
        )

    def measure_parts(self, export: Export, X: NDArray[Any]) -> CodeParts:
        """Return what the parts of an export that names them cost over (at most 64 of) the rows."""
        rows = thin(self.accept(export, X))
        predict = entry(export)
        elf = build_elf(export, self.compiler_flags, (predict,), self.compile_seconds)
        part_of = PartOf(elf, export.name)
        emulated = self._boot(export, read_image(elf))
        trace = PartTrace(part_of, emulated.addresses)
        emulated.watch(trace)
        for row in rows:
            emulated.write_row(row)
            emulated.predict(predict)
        dtype = "" if export.lowered is None else export.lowered.format.dtype
        return CodeParts(self.name, dtype, len(rows), trace.counted, trace.in_helpers, *weigh(part_of, export))

    def _boot(self, export: Export, image: Image) -> EmulatedProcessor:
        row_bytes = export.n_features * export.input_dtype.itemsize
        return EmulatedProcessor(
            self.processor,
            image,
            row_bytes,
            export.n_outputs,
            export.score_dtype,
            probability_row=export.probability_row,
        )


def _label_of(returned: int, scores: NDArray[Any]) -> int:
    """Return 0 where a function that gives a value returned the score, otherwise -1, which is no label.

    A whole number comes back in the register of a class index. A float may come in one of an FPU, which is not looked
    at: it has been computed, and its score is compared.
    """
    return -1 if scores.dtype.kind == "i" and returned != int(scores[0]) else 0


def estimated(spent: Sequence[Spent], timing: Timing) -> CycleEstimate:
    """Return the cycles of predictions, each on the fast and on the slow side."""
    ranges = [one.cycles for one in spent if one.cycles is not None]
    return CycleEstimate(
        cycles=sum(most for _, most in ranges) / len(ranges),
        least_cycles=sum(least for least, _ in ranges) / len(ranges),
        worst_cycles=math.ceil(max(most for _, most in ranges)),
        core=timing.name,
        model=timing.source,
        error=timing.error,
    )
