"""Choose every scale of an integer program from a model and the range of its data, so that nothing can overflow.

Distances need one step for all features, as the kernel sees them. For a kernel that is a power of a half, the step is
chosen so that a whole power of two of squared (or absolute) steps halves the widest kernel: the exponent of 2 is then
the distance itself, shifted, and costs no multiplication. Other kernels that fall with their distance become tables,
and any step will do. Try a step that covers the data and the vectors, and finer ones that cut off vectors far from the
data; only where there are rows to judge by, the data's own ends as well. Keep the one whose scores are closest to the
model's.

Where a projection or a linear kernel comes first, each feature has its own step, over its own range; features that the
projection weighs alike share the range of them all, so that their weights stay equal. All share one step where that
loses next to nothing, which spares the tables of their steps.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sparsegen.arrays import Array
from sparsegen.errors import OptionError
from sparsegen.kernels import BoundKernel
from sparsegen.kernels.affine import split_affine
from sparsegen.kernels.expression import Core, Exp2, base_of, evaluate, in_base_two
from sparsegen.lowering.calibrate import Box, Calibrated
from sparsegen.lowering.coefficients import scale_coefficients, score_error
from sparsegen.lowering.curves import (
    KERNEL_BITS,
    LARGEST_VALUE,
    OCTAVES,
    HalfPower,
    Integers,
    SampledCurve,
    sample_curve,
)
from sparsegen.lowering.formats import InputKind, IntegerFormat
from sparsegen.lowering.grid_reader import GridReader
from sparsegen.lowering.group_features import weighed_alike
from sparsegen.lowering.input_range import (
    SHARING_MAY_COST,
    WHOLE_TOLERANCE,
    OwnSteps,
    as_read,
    covered,
    grid_range,
    own_steps,
    projected_steps,
    shared_steps,
)
from sparsegen.lowering.integer_program import INT32_MAX, IntegerProgram, IntegerProjection
from sparsegen.lowering.locate_data import thinned
from sparsegen.lowering.program import FORM_OF_DISTANCE
from sparsegen.lowering.read_integers import MAX_SHIFT
from sparsegen.lowering.reader import make_reader
from sparsegen.model import SparseModel, Transform

STEPS_TRIED = 4  # the one that covers the whole range, and finer ones
MAX_ROWS = 2000
MAX_OCTAVE = (INT32_MAX // OCTAVES).bit_length() - 1  # the largest for which the last octave still ends within 32 bits
MAX_EXTRA_DOUBLINGS = OCTAVES.bit_length() - 1  # with as many as the octave: then a distance of 1 gives 0
MIN_GRID_LEVELS = 16  # over the whole range; a coarser grid separates nothing
MIN_FALL = 1e-3  # over the whole range; a kernel that falls less separates nothing
PROJECTION_MARGIN = 1.2  # steps per unit of a projection's row: four times the deviation of a rounded sum


@dataclass(frozen=True)
class Grid:
    """The indices that kernels see: 0 to ``levels``, one step for all features."""

    low: Array
    """Value of index 0."""
    step: float
    levels: int
    octave: int = 0
    """log2 of the squared (or absolute) steps over which the widest kernel halves, if it is a power of a half."""


def quantize(model: SparseModel, numbers: IntegerFormat, reads: InputKind, data: Calibrated) -> IntegerProgram:
    """Return the integer program whose scores on the data's rows are closest to the model's."""
    box = as_read(data.box, reads)
    if len(model.kernels) == 1 and model.kernels[0].is_linear:
        return _linear_program(model, numbers, reads, box)
    form = _form(model.kernels)
    falls = _half_power_falls(model.kernels)
    few = thinned(data.rows, MAX_ROWS)
    T = model.transform
    most = numbers.projected_levels
    own = projected_steps(box, T, most, reads)
    grids = _grids(model, form, falls, numbers, box, data, few, own.step)
    shared = None if T.projection is None else shared_steps(box, T, most, reads, T.projection * T.scale)
    made = [
        _program(model, form, falls, numbers, reads, box, steps, grid)
        for steps in (own, shared)
        if steps is not None
        for grid in grids
    ]
    programs = [program for program in made if program is not None]
    if not programs:
        raise OptionError(
            "the projection's factors are too far apart for integers; export it as float32", change={"dtype": "f32"}
        )
    wanted = model.scores(few)
    errors = [score_error(program, few, wanted) for program in programs]
    good = [
        i for i, program in enumerate(programs) if program.shares_steps and errors[i] <= SHARING_MAY_COST * min(errors)
    ]
    return programs[min(good or range(len(programs)), key=lambda i: errors[i])]


def _form(kernels: tuple[BoundKernel, ...]) -> str:
    """Return what the loops add up; raise unless all kernels fall with the same distance."""
    bases = {base_of(kernel.expression).name for kernel in kernels}
    if len(bases) > 1 or not all(kernel.falls for kernel in kernels):
        names = ", ".join(dict.fromkeys(kernel.name for kernel in kernels))
        raise OptionError(f"the kernel {names} has no integer form; export it as float32", change={"dtype": "f32"})
    return FORM_OF_DISTANCE[bases.pop()]


def _half_power_falls(kernels: tuple[BoundKernel, ...]) -> list[float] | None:
    """Return how many octaves each kernel falls per unit of distance.

    ``None`` if one is not a power of a half, or if they are not whole octaves apart.
    """
    parts = [split_affine(in_base_two(kernel.expression)) for kernel in kernels]
    falls = [-slope for outer, slope, shift in parts if outer == Exp2(Core()) and slope < 0.0 and shift == 0.0]
    if len(falls) != len(parts):
        return None
    doublings = [math.log2(fall / min(falls)) for fall in falls]
    return None if any(abs(a - round(a)) > WHOLE_TOLERANCE for a in doublings) else falls


def _grids(
    model: SparseModel,
    form: str,
    falls: list[float] | None,
    numbers: IntegerFormat,
    box: Box,
    data: Calibrated,
    few: Array,
    raw_step: Array,
) -> list[Grid]:
    """Return every grid worth trying; ``few`` are some of the data's rows."""
    T = model.transform
    needed = Box.around(T(np.vstack([box.low, box.high])))
    if T.projection is not None and data.projected is not None:
        margin = PROJECTION_MARGIN * np.linalg.norm(T.projection * T.scale * raw_step, axis=1)
        needed = Box(data.projected.low - margin, data.projected.high + margin)
    wanted = Box.around(np.vstack([model.vectors, needed.low, needed.high]))
    levels = numbers.levels
    if form == "square":
        levels = min(levels, math.isqrt(INT32_MAX // model.vectors.shape[1]))
    span, power = float((wanted.high - wanted.low).max()), 2 if form == "square" else 1
    if falls is None:
        _require_fall(model.kernels, span**power * model.vectors.shape[1])
        covering_step = (span or 1.0) / levels
        steps = [(0, covering_step * 2.0 ** (-i / power)) for i in range(STEPS_TRIED)]
    else:
        fall = min(falls)
        if 0.0 < span < MIN_GRID_LEVELS * _step(MAX_OCTAVE, fall, power):
            raise _too_wide()
        covering = math.floor(-math.log2(fall) - power * math.log2(span / levels)) if span > 0.0 else MAX_OCTAVE
        first = min(max(covering, 0), MAX_OCTAVE)
        octaves = range(first, min(first + STEPS_TRIED, MAX_OCTAVE + 1))
        steps = [(octave, _step(octave, fall, power)) for octave in octaves]
    if not data.has_data:  # nothing tells how many rows a shorter grid would cut off
        long_enough = [s for s in steps if s[1] * levels >= float((needed.high - needed.low).max())]
        steps = long_enough or steps[:1]
    middle = np.median(T(few), axis=0)
    zero = T(np.zeros((1, model.n_features)))[0] if T.projection is None else None
    return [Grid(_place(step * levels, needed, wanted, middle, zero), step, levels, octave) for octave, step in steps]


def _place(length: float, needed: Box, wanted: Box, middle: Array, zero: Array | None) -> Array:
    """Return where a grid of a length begins for every feature.

    It lies around all that is wanted, or all that is needed, or the middle of the rows, whatever it is long enough for.
    What is left over is shared by both sides, but a feature without negative values gets no negative indices.
    """
    low = (wanted.low + wanted.high - length) / 2.0
    if zero is not None:
        low = np.where(needed.low >= zero, np.maximum(low, np.minimum(zero, wanted.low)), low)
        low = np.where(needed.high <= zero, np.minimum(low, np.maximum(zero, wanted.high) - length), low)
    inner = np.clip(low, np.minimum(needed.high - length, needed.low), needed.low)
    cut = np.clip(middle - length / 2.0, needed.low, np.maximum(needed.high - length, needed.low))
    fits_wanted, fits_needed = (length >= box.high - box.low for box in (wanted, needed))
    return np.where(fits_wanted, low, np.where(fits_needed, inner, cut))


def _require_fall(kernels: tuple[BoundKernel, ...], farthest: float) -> None:
    if farthest > 0.0 and all(_exact(kernel, 1.0)(np.array([farthest]))[0] > 1.0 - MIN_FALL for kernel in kernels):
        raise _too_wide()


def _too_wide() -> OptionError:
    return OptionError(
        "the kernel is so wide that integers see no distances; export it as float32", change={"dtype": "f32"}
    )


def _step(octave: int, fall: float, power: int) -> float:
    """Return the step for which a distance of 2^octave squared (or absolute) steps halves the kernel."""
    return float((2.0**-octave / fall) ** (1.0 / power))


def _exact(kernel: BoundKernel, unit: float) -> Callable[[Array], Array]:
    """Return the kernel as a function of distances counted in ``unit``."""
    return lambda d: np.asarray(evaluate(kernel.expression, d * unit))


def _curves(
    model: SparseModel, form: str, falls: list[float] | None, grid: Grid, vectors: Integers
) -> tuple[HalfPower, ...] | tuple[SampledCurve, ...]:
    if falls is not None:
        # A kernel this narrow is 1 at a distance of 0 and 0 everywhere else: more doublings would change nothing.
        most = grid.octave + MAX_EXTRA_DOUBLINGS
        return tuple(HalfPower(grid.octave, min(round(math.log2(fall / min(falls))), most)) for fall in falls)
    unit = grid.step**2 if form == "square" else grid.step
    largest = largest_distance(vectors, grid.levels, form)
    return tuple(sample_curve(_exact(kernel, unit), largest) for kernel in model.kernels)


def largest_distance(vectors: Integers, levels: int, form: str) -> int:
    """Return the largest distance that any row of the grid can have from a vector."""
    far = np.maximum(vectors, levels - vectors)
    return int((far**2 if form == "square" else far).sum(axis=1).max())


def _program(
    model: SparseModel,
    form: str,
    falls: list[float] | None,
    numbers: IntegerFormat,
    reads: InputKind,
    box: Box,
    own: OwnSteps,
    grid: Grid,
) -> IntegerProgram | None:
    """Return the program on one grid, or ``None`` if the projection does not fit it."""
    T, low, step, levels = model.transform, grid.low, grid.step, grid.levels
    vectors = np.clip(np.rint((model.vectors - low) / step), 0, levels).astype(np.int64)
    projection = None
    if T.projection is None:
        raw_step = step / np.abs(T.scale)
        raw_low = T.offset + np.where(T.scale > 0.0, low, low + levels * step) / T.scale
        vectors = np.where(T.scale > 0.0, vectors, levels - vectors)  # a negative scale reverses the indices
        reader = make_reader(reads, raw_low, raw_step, levels, T.fill)
        inside = covered(grid_range(box, raw_low, raw_step, levels), reader)
    else:
        raw_low, raw_step = own.low, own.step
        reader = make_reader(reads, raw_low, raw_step, own.levels, T.fill)
        inside = covered(box, reader)
        projection = _project(T, T.projection, reader, raw_low, raw_step, numbers.largest_weight, grid)
        if projection is None:
            return None
    coef, intercept, unit = scale_coefficients(model.coef, model.intercept, LARGEST_VALUE, 2**KERNEL_BITS)
    return IntegerProgram(
        numbers=numbers,
        reader=reader,
        low=raw_low,
        step=raw_step,
        range=inside,
        projection=projection,
        kernel_grid=(low, step),
        form=form,
        vectors=vectors,
        levels=levels,
        curves=_curves(model, form, falls, grid, vectors),
        coef=coef,
        intercept=intercept,
        unit=unit,
        n_features=model.n_features,
        classes=model.classes,
        card=model.card,
        decision=model.decision,
        fill=T.fill,
    )


def _linear_program(model: SparseModel, numbers: IntegerFormat, reads: InputKind, box: Box) -> IntegerProgram:
    """Return the program of a linear kernel: weights stand for coefficients, and indices for kernel values."""
    T = model.transform
    weights = model.coef[:, 0, :] @ model.vectors
    if T.projection is not None:
        weights = weights @ T.projection
    shared = shared_steps(box, T, numbers.levels, reads, weights * T.scale)
    own = shared or own_steps(box, T, numbers.levels, reads)
    low, step, levels = own.low, own.step, own.levels
    reader = make_reader(reads, low, step, levels, T.fill)
    intercept = model.intercept + weights @ ((low - T.offset) * T.scale)
    coef, start, unit = scale_coefficients((weights * T.scale * step)[:, None, :], intercept, levels, 1)
    return IntegerProgram(
        numbers=numbers,
        reader=reader,
        low=low,
        step=step,
        range=covered(box, reader),
        projection=None,
        kernel_grid=(low, 1.0),
        form="linear",
        vectors=np.empty((0, model.n_features), dtype=np.int64),
        levels=levels,
        curves=(),
        coef=coef,
        intercept=start,
        unit=unit,
        n_features=model.n_features,
        classes=model.classes,
        card=model.card,
        decision=model.decision,
        fill=T.fill,
    )


def _project(
    T: Transform, P: Array, reader: GridReader, raw_low: Array, raw_step: Array, largest: int, grid: Grid
) -> IntegerProjection | None:
    """Return the projection P from the grid of raw features to that of the kernels, ``None`` if it exceeds 32 bits."""
    real = P * T.scale
    weights = real[:, weighed_alike(real)] * raw_step / grid.step  # equal to the bit, to stay so when rounded
    start = (P @ ((raw_low - T.offset) * T.scale) - grid.low) / grid.step + 0.5
    reach = np.max(np.abs(weights).sum(axis=1) * reader.levels + np.abs(start) + grid.levels + 1.0)
    most = min(largest / max(float(np.abs(weights).max()), 1e-300), INT32_MAX / 2 / float(reach))
    shift = min(math.floor(math.log2(most)), MAX_SHIFT)
    if shift < 0:
        return None
    factor = 2.0**shift
    return IntegerProjection(
        np.rint(weights * factor).astype(np.int64), np.rint(start * factor).astype(np.int64), shift, grid.levels
    )
