"""CostModel: what a prediction will cost on a device, known before anything is trained."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen.arrays import Array
from sparsegen.bench import Cost
from sparsegen.budget.budget import Budget
from sparsegen.budget.code_shape import Shape, code_shape, curve_bytes
from sparsegen.budget.float_forms import float_forms, likely_forms
from sparsegen.budget.plan import Plan, scale_of
from sparsegen.budget.probe import Figures, Line, Probe, near_values
from sparsegen.budget.untrained import Basis, Sample
from sparsegen.devices import DEVICES, Profile
from sparsegen.lowering import integer_road
from sparsegen.lowering.calibrate import calibrate
from sparsegen.lowering.curves import HALF_UNIT
from sparsegen.lowering.formats import Format
from sparsegen.lowering.locate_data import thinned
from sparsegen.targets import TARGETS
from sparsegen.threads import one_thread

FLASH_WITHIN, TIME_WITHIN = 0.02, 0.05
"""How far off a prediction may be, relative to what is measured; docs/performance.md says how often that is held."""
CURVE_WITHIN = 0.06
"""The same for flash where a kernel's curve is a table, whose length depends on how far vectors move."""
NARROW, NARROW_WITHIN = 0.95, 0.15
"""The same for time where a smaller share of kernel values than this is not zero in integers: where training puts the
vectors then decides how often code is skipped."""
FEW, MANY = 12, 48
"""Vectors of the probes: compilers unroll shorter loops, and longer ones tell nothing more."""
MEASURED_ROWS, FLOAT_ROWS = 16, 8
"""Float code without an FPU takes the emulator long, and differs from row to row by a few percent only."""
SAME_NEAR = 0.02
"""Kernel values per vector by which a plan may differ from what was measured, before it is measured what they take."""
OCTAVES_FAR = 2.0
"""By how much the kernel is narrowed, or widened, to measure that."""
FLOAT_OCTAVES = 2
"""Scales of float kernels that differ by less are measured once."""
C_TRIED = (1.0, 10.0, 0.1, 100.0, 0.01, 1000.0, 0.001)
"""Factors of C under which a probe with few vectors may get the code that one with many has."""


@dataclass(frozen=True)
class Predicted:
    """The cost that a plan will have; each figure is an estimate until the finished model is measured."""

    flash: int
    """Bytes of code and constants: within `flash_within` of the measured ones for nearly all trained models."""
    ram: int
    """Bytes of stack, static data and the input row."""
    instructions: float | None
    """Mean instructions of a prediction, likewise within `time_within`; ``None`` where the device counts cycles."""
    cycles: float | None
    """Mean clock cycles, likewise: exact or estimated as the device's are; ``None`` where the device cannot tell."""
    milliseconds: float | None
    """Mean time at the part's clock, where cycles are known."""
    worst_milliseconds: float | None = None
    """The same for the slowest of the rows that were measured."""
    flash_within: float = FLASH_WITHIN
    time_within: float | None = TIME_WITHIN
    """More where the kernel is narrow; ``None`` where a prediction may stop early, as soon as training lets it."""
    others: tuple[Predicted, ...] = ()
    """What it costs instead, where the numbers that training finds make the lowering write other code, or where vectors
    lie so far from rows that code for zeros is skipped more often."""

    def shortage(self, budget: Budget, *, surely: bool = False) -> str | None:
        """Return in words what is needed beyond a budget, or ``None`` where it fits.

        With ``surely``, it fits only if it does so with the largest error that is promised, and whatever float code it
        gets.
        """
        if not surely:
            return budget.shortage(self.flash, self.ram, self.worst_milliseconds)
        flash = math.ceil(self.flash * (1.0 + self.flash_within))
        time = self.worst_milliseconds
        time = None if time is None else time * (1.0 + (self.time_within or 0.0))
        found = (budget.shortage(flash, self.ram, time), *(one.shortage(budget, surely=True) for one in self.others))
        return next((sentence for sentence in found if sentence is not None), None)


@dataclass(frozen=True)
class _Code:
    """What the lowering made of an untrained model."""

    shape: Shape
    curve_bytes: int = 0


@dataclass(frozen=True)
class _Kind:
    """What a plan without its number of vectors was found to be."""

    plan: Plan
    """With kernels of its own scale, and that and C close to those of the plan."""
    basis: Basis
    code: _Code
    near: float
    form: int | None = None
    """Which of the ways to write it in float32; ``None`` for integers."""

    @property
    def time_within(self) -> float | None:
        """How far off a predicted time may be."""
        if self.plan.early_exit:
            return None
        return NARROW_WITHIN if self.near < NARROW * len(self.plan.kernels) else TIME_WITHIN

    @property
    def key(self) -> tuple[object, ...]:
        """What two kinds share whose costs differ only by the values of their kernels that are near zero."""
        plan = self.plan
        unscaled = replace(plan.with_scale(1.0), C=1.0, probability=False)
        if plan.format.numbers.is_exact:
            return (unscaled, self.code.shape)
        scale = scale_of(plan.kernels[0])  # soft float takes as long as the numbers make it
        octaves = None if scale is None else round(math.log2(scale) / FLOAT_OCTAVES)
        return (unscaled, self.code.shape, octaves)


class CostModel:
    """Predicts costs on one device for models of the given rows, from untrained models that it measures.

    The first prediction of a kind of model compiles and measures two or three of them, which takes seconds; another
    scale of a kernel takes a tenth of one, another number of vectors microseconds.
    """

    def __init__(
        self,
        device: str,
        rows: Array,
        labels: NDArray[Any] | None = None,
        *,
        profile: Profile | None = None,
    ) -> None:
        self.device = device
        self.profile = DEVICES[device].profile if profile is None else profile
        self.most_rows = len(rows)
        self._sample = Sample.of(rows, labels)
        self._bases: dict[tuple[object, ...], Basis] = {}
        self._codes: dict[tuple[Plan, bool], _Code] = {}
        self._kinds: dict[Plan, tuple[_Kind, ...]] = {}
        self._lines: dict[tuple[object, ...], tuple[Line, _Kind]] = {}
        self._few: dict[tuple[object, ...], Figures] = {}

    def predict(self, plan: Plan) -> Predicted:
        """Return what a plan will cost; raise an error where no such model can be exported."""
        DEVICES[self.device].require()
        family = replace(plan, n_vectors=1)
        if family not in self._kinds:
            with one_thread():
                self._kinds[family] = self._find_kinds(family)
        kind, *others = self._kinds[family]
        made = self._predicted(kind, plan.n_vectors)
        return replace(made, others=tuple(self._predicted(other, plan.n_vectors) for other in others))

    def most_vectors(self, plan: Plan, budget: Budget) -> int:
        """Return how many vectors a plan may have so that it surely fits a budget and the part; 0 if none fits.

        The plan's own number makes no difference. There are never more than rows.
        """
        if self._fits(plan, self.most_rows, budget):
            return self.most_rows
        fits, fails = 0, self.most_rows
        while fails - fits > 1:
            middle = (fits + fails) // 2
            if self._fits(plan, middle, budget):
                fits = middle
            else:
                fails = middle
        return fits

    def _fits(self, plan: Plan, n_vectors: int, budget: Budget) -> bool:
        made = self.predict(replace(plan, n_vectors=n_vectors))
        lacks = None if self.profile is None else self.profile.shortage(made.flash, made.ram)
        return lacks is None and made.shortage(budget, surely=True) is None

    def _find_kinds(self, family: Plan) -> tuple[_Kind, ...]:
        """Return what a plan is, first, and what else it may become in training."""
        basis, start = self._basis(family), self._basis(family, turned=False)
        own = basis.bound(family)
        near = _near(start, own, MANY, start.seen)
        plan = _snapped(own)
        if not plan.format.numbers.is_exact:
            forms = float_forms(basis.model(plan, MANY))
            likely = likely_forms([form.error for form in forms])
            return tuple(_Kind(plan, basis, _Code((i, *code_shape(forms[i].program))), near, i) for i in likely)
        apart = self._basis(family, turned=False, apart=True)
        first = _Kind(plan, basis, self._code(basis, plan), near)
        other = _Kind(plan, apart, self._code(apart, plan), _near(apart, own, MANY, apart.seen))
        is_same = first.code == other.code and abs(first.near - other.near) <= SAME_NEAR * len(plan.kernels)
        return (first,) if is_same else (first, other)

    def _basis(self, plan: Plan, *, turned: bool = True, apart: bool = False) -> Basis:
        key = (
            *(plan.n_features, plan.n_outputs, plan.decision, plan.n_projected),
            *(plan.pool, plan.scale, plan.feature_scales, turned, apart),
        )
        if key not in self._bases:
            self._bases[key] = self._sample.basis(plan, turned=turned, apart=apart)
        return self._bases[key]

    def _code(self, basis: Basis, plan: Plan, n_vectors: int = MANY) -> _Code:
        """Return what the lowering makes of an untrained model of a plan in integers."""
        key = replace(plan, n_vectors=n_vectors), basis.apart
        if key not in self._codes:
            model = basis.model(plan, n_vectors)
            program = integer_road(model, _format(basis, plan), calibrate(model, basis.rows))
            self._codes[key] = _Code(code_shape(program), curve_bytes(program))
        return self._codes[key]

    def _predicted(self, kind: _Kind, n_vectors: int) -> Predicted:
        plan = kind.plan
        fewest = min(n_vectors, plan.n_outputs + 1) if plan.is_linear else n_vectors
        if plan.is_linear or n_vectors < FEW:
            key = (*kind.key, fewest)
            if key not in self._few:
                self._few[key] = self._probe(kind, fewest).figures
            return self._as_predicted(self._few[key], kind)
        line, measured = self._line(kind)
        figures = line.at(n_vectors, kind.near)
        longer = kind.code.curve_bytes - measured.code.curve_bytes
        return self._as_predicted(replace(figures, flash=figures.flash + longer), kind)

    def _as_predicted(self, figures: Figures, kind: _Kind) -> Predicted:
        hertz = None if self.profile is None else self.profile.clock_hz

        def milliseconds(cycles: float | None) -> float | None:
            return None if cycles is None or hertz is None else cycles / (hertz / 1000)

        return Predicted(
            flash=round(figures.flash),
            ram=round(figures.ram),
            instructions=figures.instructions,
            cycles=figures.cycles,
            milliseconds=milliseconds(figures.cycles),
            worst_milliseconds=milliseconds(figures.worst_cycles),
            flash_within=CURVE_WITHIN if kind.code.curve_bytes else FLASH_WITHIN,
            time_within=kind.time_within,
        )

    def _line(self, kind: _Kind) -> tuple[Line, _Kind]:
        """Return the line on which a kind lies, and the kind that was measured for it."""
        if kind.key not in self._lines:
            self._lines[kind.key] = self._measured_line(kind), kind
        line, measured = self._lines[kind.key]
        if line.far is None and abs(line.many.near - kind.near) > SAME_NEAR and line.many.figures.is_timed:
            other = _with_other_near(measured, line.many)
            self._lines[kind.key] = line.with_far(self._probe(other, line.many.n_vectors)), measured
        return self._lines[kind.key]

    def _measured_line(self, kind: _Kind) -> Line:
        """Return the line through two probes, with fewer vectors where a device is too small for many."""
        many = MANY
        probe = self._probe(kind, many)
        while not probe.figures.is_timed and many > FEW // 2:
            many //= 2
            smaller = self._probe(kind, many)
            probe = smaller if smaller.figures.is_timed else probe
        few = max(1, min(FEW, probe.n_vectors // 2))
        return Line(self._probe(self._alike(kind, few), few), probe)

    def _alike(self, kind: _Kind, n_vectors: int) -> _Kind:
        """Return the kind with the C that gives so few vectors the code of many."""
        if kind.form is not None:
            return kind
        for factor in C_TRIED:
            plan = replace(kind.plan, C=kind.plan.C * factor)
            if self._code(kind.basis, plan, n_vectors).shape == kind.code.shape:
                return replace(kind, plan=plan)
        return kind

    def _probe(self, kind: _Kind, n_vectors: int) -> Probe:
        """Return the figures of an untrained model."""
        basis, plan, device = kind.basis, kind.plan, DEVICES[self.device]
        model = basis.model(plan, n_vectors)
        lowered = TARGETS["c"].lower(model, _format(basis, plan))
        if kind.form is not None:
            lowered = replace(lowered, program=float_forms(model)[kind.form].program)
        rows = thinned(basis.rows, FLOAT_ROWS if kind.form is not None else MEASURED_ROWS)
        export = TARGETS["c"].write(lowered, "model", device.loops)
        timed = device if self.profile is None else device.timed_as(self.profile)
        cost = Cost(
            device=device.name,
            measurement=timed.measure(export, lowered.inputs(rows)),
            table_bytes=export.table_bytes,
            profile=self.profile,
            input_bytes=export.n_features * export.input_dtype.itemsize,
        )
        return Probe(n_vectors, _near(basis, plan, n_vectors, basis.transform(rows)), Figures.of(cost))


def _format(basis: Basis, plan: Plan) -> Format:
    return replace(plan.format, rows=basis.rows)


def _near(basis: Basis, plan: Plan, n_vectors: int, seen: Array) -> float:
    """Return how many kernel values of a vector are not zero in an integer program; all where it has no zeros."""
    if not plan.format.numbers.is_exact or not all(kernel.falls for kernel in plan.kernels):
        return float(len(plan.kernels))
    vectors = basis.vectors(n_vectors)
    return near_values(np.stack([kernel.gram(seen, vectors) for kernel in plan.kernels], axis=1), HALF_UNIT)


def _with_other_near(kind: _Kind, measured: Probe) -> _Kind:
    """Return the kind with kernels of another scale, of whose values more are zero, or fewer."""
    plan, basis, scale = kind.plan, kind.basis, scale_of(kind.plan.kernels[0])
    half = len(plan.kernels) / 2.0
    factor = 2.0**OCTAVES_FAR if measured.near > half else 2.0**-OCTAVES_FAR
    while scale is not None:
        scale *= factor
        plan = plan.with_scale(scale)
        near = _near(basis, plan, measured.n_vectors, basis.seen)
        if abs(near - measured.near) > half / 2.0 or not 2.0**-60 < scale < 2.0**60:
            break
    return replace(kind, plan=plan)


def _snapped(plan: Plan) -> Plan:
    """Return the plan with the nearest of two scales per octave, and of two values of C per power of ten."""
    scale = scale_of(plan.kernels[0])
    plan = replace(plan, C=10.0 ** (round(2.0 * math.log10(plan.C)) / 2.0))
    return plan if scale is None else plan.with_scale(2.0 ** (round(2.0 * math.log2(scale)) / 2.0))
