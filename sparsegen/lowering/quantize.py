"""Choose every scale of an integer program from a model and the range of its data, so that nothing can overflow.

Distances want one step for all features as the kernel sees them. The step is chosen so that a whole power of two of
squared (or absolute) steps halves the widest kernel: the exponent of 2 is then the distance itself, shifted, and costs
no multiplication. Of the steps that come into question, from one that covers the whole range to finer ones that cut off
its ends, the one is taken whose scores are closest to the model's.

Where a projection or a linear kernel comes first, each feature has its own step, over its own range.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sparsegen.arrays import Array
from sparsegen.errors import ModelError, OptionError
from sparsegen.kernels.expression import Core, Exp2, base_of, in_base_two, split_affine
from sparsegen.lowering.coefficients import scale_coefficients, score_error
from sparsegen.lowering.collapse_linear import collapse_linear
from sparsegen.lowering.finish import finish
from sparsegen.lowering.integer_program import (
    INT16_MAX,
    INT32_MAX,
    KERNEL_BITS,
    OCTAVES,
    IntegerProgram,
    IntegerProjection,
    Reader,
)
from sparsegen.lowering.locate_data import data_like, stand_in_rows, thinned
from sparsegen.lowering.prune import prune
from sparsegen.model import SparseModel, Transform

DTYPES = ("f32", "q15", "q7")
INPUTS = ("f32", "raw-int16", "raw-uint8", "grid")
FORMS = {"sqdist": "square", "l1dist": "absolute", "dot": "linear"}
LEVELS = {"q7": 255, "q15": 32767}
PROJECTED_LEVELS = {"q7": 255, "q15": 4095}  # of the raw features, where weights and indices share 31 bits
WEIGHT_MAX = {"q7": 127, "q15": 32767}
MAX_SHIFT = 24
MAX_BIAS = 2.0**30 + 2.0**14  # beside a product of 2^30 at most
WHOLE_BYTES = 16
FINE = 4  # of a multiplier, times the levels: an eighth of a step at most is lost
FINER = 4  # steps tried below the one that covers the whole range
EXACT = 1e-9
MAX_ROWS = 2000
MAX_OCTAVE = (INT32_MAX // OCTAVES).bit_length() - 1
NARROWEST = OCTAVES.bit_length() - 1  # doublings after which a distance of 1 is beyond the last octave
FEWEST = 16  # indices over the whole range, below which a grid tells nothing apart


@dataclass(frozen=True)
class Box:
    """The least and largest raw value of every feature."""

    low: Array
    high: Array

    @classmethod
    def around(cls, rows: Array) -> Box:
        """Return the box of some rows."""
        return cls(rows.min(axis=0), rows.max(axis=0))

    @classmethod
    def of(cls, model: SparseModel) -> Box:
        """Return the box stored in the model's card, or one around its vectors."""
        stored = model.card.get("ranges")
        if isinstance(stored, dict):
            try:
                low, high = (np.asarray(stored.get(side, []), dtype=np.float64) for side in ("low", "high"))
            except (TypeError, ValueError):  # words, or lists in lists
                low = high = np.empty(0)
            if low.shape == high.shape == (model.n_features,) and np.all(low <= high):
                return cls(low, high)
            raise ModelError(
                "the ranges in the model's card do not fit its features; give rows to choose scales on",
                change={"rows": ""},
            )
        return cls.around(data_like(model))


def quantize(
    model: SparseModel, dtype: str, reads: str, rows: Array | None = None, *, finished: bool = True
) -> IntegerProgram:
    """Return the integer program of a model that reads ``reads``, closest to its scores on ``rows``.

    Without rows the box of the model's card, and points near its vectors, stand in for them. ``finished`` solves for
    the coefficients anew after rounding.
    """
    kind, slopes = _kernels(model)
    box, rows = calibration(model, rows)
    model = prune(model)
    if kind == "linear":
        return _linear(collapse_linear(model), dtype, reads, box)
    few = thinned(rows, MAX_ROWS)
    candidates = _candidates(model, kind, min(slopes), dtype, few, box)
    made = [_machine(model, kind, slopes, dtype, reads, box, *candidate) for candidate in candidates]
    programs = [program for program in made if program is not None]
    if not programs:
        raise OptionError(
            "the projection's factors are too far apart for integers; export it as float32", change={"dtype": "f32"}
        )
    wanted = model.scores(few)
    best = min(programs, key=lambda program: score_error(program, few, wanted))
    return finish(best, model, rows) if finished else best


def calibration(model: SparseModel, rows: Array | None) -> tuple[Box, Array]:
    """Return the rows and the box around them; without rows the card's box, with points near the model's vectors."""
    if rows is not None:
        return Box.around(rows), rows
    box = Box.of(model)
    return box, stand_in_rows(model, box.low, box.high)


def _kernels(model: SparseModel) -> tuple[str, list[float]]:
    """Return the form of the kernels and how many octaves each falls per unit of distance."""
    bases = {base_of(kernel.expression).name for kernel in model.kernels}
    parts = [split_affine(in_base_two(kernel.expression)) for kernel in model.kernels]
    kind = FORMS[bases.pop()] if len(bases) == 1 else "mixed"
    if kind == "linear" and len(parts) == 1 and isinstance(parts[0][0], Core):
        return kind, []
    falls = [-slope for outer, slope, shift in parts if outer == Exp2(Core()) and slope < 0.0 and shift == 0.0]
    if kind in ("mixed", "linear") or len(falls) != len(parts):
        names = ", ".join(dict.fromkeys(kernel.name for kernel in model.kernels))
        raise OptionError(f"the kernel {names} has no integer form; export it as float32", change={"dtype": "f32"})
    doublings = [math.log2(fall / min(falls)) for fall in falls]
    if any(abs(a - round(a)) > EXACT for a in doublings):
        raise OptionError(
            "the gammas of this model's kernels are not powers of two apart, which integers need; "
            "train with such gammas, or export it as float32",
            change={"dtype": "f32"},
        )
    return kind, falls


def _candidates(
    model: SparseModel, kind: str, fall: float, dtype: str, rows: Array, box: Box
) -> list[tuple[int, int, float, Array]]:
    """Return levels, octave, step and the value of index 0, as the kernels see them, for every step worth trying."""
    corners = model.transform(np.vstack([box.low, box.high]))
    seen = [model.vectors, corners if model.transform.projection is None else model.transform(rows)]
    low, high = (np.min(np.vstack(seen), axis=0), np.max(np.vstack(seen), axis=0))
    levels = LEVELS[dtype]
    if kind == "square":
        levels = min(levels, math.isqrt(INT32_MAX // model.vectors.shape[1]))
    power = 2 if kind == "square" else 1
    span = float((high - low).max())
    if 0.0 < span < FEWEST * _step(MAX_OCTAVE, fall, power):
        raise OptionError(
            "the kernel is so wide that integers see no distances; export it as float32", change={"dtype": "f32"}
        )
    covering = math.floor(-math.log2(fall) - power * math.log2(span / levels)) if span > 0.0 else MAX_OCTAVE
    first = min(max(covering, 0), MAX_OCTAVE)
    steps = [(octave, _step(octave, fall, power)) for octave in range(first, min(first + FINER, MAX_OCTAVE + 1))]
    middle = (low + high) / 2.0
    return [(levels, octave, step, middle - step * (levels // 2)) for octave, step in steps]


def _step(octave: int, fall: float, power: int) -> float:
    """Return the step of which 2^octave, squared or not, halve the kernel."""
    return float((2.0**-octave / fall) ** (1.0 / power))


def _machine(
    model: SparseModel,
    kind: str,
    slopes: list[float],
    dtype: str,
    reads: str,
    box: Box,
    levels: int,
    octave: int,
    step: float,
    low: Array,
) -> IntegerProgram | None:
    """Return the program on one grid, or ``None`` where a projection does not fit it."""
    T = model.transform
    vectors = np.clip(np.rint((model.vectors - low) / step), 0, levels).astype(np.int64)
    projection = None
    if T.projection is None:
        raw_step = step / np.abs(T.scale)
        raw_low = T.offset + np.where(T.scale > 0.0, low, low + levels * step) / T.scale
        vectors = np.where(T.scale > 0.0, vectors, levels - vectors)  # a feature may count backwards
        raw_high = raw_low + levels * raw_step
        reader = make_reader(reads, raw_low, raw_step, levels)
    else:
        raw_high = box.high
        raw_low, raw_step, own_levels = _own_steps(box, T, PROJECTED_LEVELS[dtype], reads)
        reader = make_reader(reads, raw_low, raw_step, own_levels)
        projection = _project(T, T.projection, reader, raw_low, raw_step, WEIGHT_MAX[dtype], step, low, levels)
        if projection is None:
            return None
    coef, intercept, unit = scale_coefficients(model.coef, model.intercept, 2**KERNEL_BITS - 1, 2**KERNEL_BITS)
    return IntegerProgram(
        dtype=dtype,
        reader=reader,
        low=raw_low,
        step=raw_step,
        high=raw_high,
        projection=projection,
        kernel_grid=(low, step),
        form=kind,
        vectors=vectors,
        levels=levels,
        octave=octave,
        # A kernel this much narrower is 1 at a distance of 0 and 0 beyond: more doublings would change nothing.
        doublings=tuple(min(round(math.log2(slope / min(slopes))), octave + NARROWEST) for slope in slopes),
        coef=coef,
        intercept=intercept,
        unit=unit,
        n_features=model.n_features,
        classes=model.classes,
        card=model.card,
    )


def _linear(model: SparseModel, dtype: str, reads: str, box: Box) -> IntegerProgram:
    """Return the program of a linear kernel: its weights are the coefficients, the indices their kernel values."""
    T = model.transform
    weights = model.coef[:, 0, :] @ model.vectors
    if T.projection is not None:
        weights = weights @ T.projection
    low, step, levels = _own_steps(box, T, LEVELS[dtype], reads)
    intercept = model.intercept + weights @ ((low - T.offset) * T.scale)
    coef, start, unit = scale_coefficients((weights * T.scale * step)[:, None, :], intercept, levels, 1)
    return IntegerProgram(
        dtype=dtype,
        reader=make_reader(reads, low, step, levels),
        low=low,
        step=step,
        high=box.high,
        projection=None,
        kernel_grid=(low, 1.0),
        form="linear",
        vectors=np.empty((0, model.n_features), dtype=np.int64),
        levels=levels,
        octave=0,
        doublings=(0,),
        coef=coef,
        intercept=start,
        unit=unit,
        n_features=model.n_features,
        classes=model.classes,
        card=model.card,
    )


def _own_steps(box: Box, T: Transform, most: int, reads: str) -> tuple[Array, Array, int]:
    """Return the value of index 0 and the step of every feature, and the largest index, at most ``most``.

    Raw integers keep their own steps where these fit.
    """
    if reads == "raw-uint8" and most == np.iinfo(np.uint8).max:
        return np.zeros_like(box.low), np.ones_like(box.low), most  # a pixel or the like is its own index
    if reads.startswith("raw"):
        low = np.floor(box.low)
        step = np.maximum((box.high - low) / most, 1.0)
        return low, step, max(1, math.ceil(np.max((box.high - low) / step) - EXACT))
    span = box.high - box.low
    step = np.where(span > 0.0, span, 1.0 / np.abs(T.scale)) / most  # a constant feature: one unit of the scaler
    return box.low.copy(), step, most


def _project(
    T: Transform,
    P: Array,
    reader: Reader,
    raw_low: Array,
    raw_step: Array,
    largest: int,
    step: float,
    low: Array,
    levels: int,
) -> IntegerProjection | None:
    """Return the projection P from the grid of raw features to the grid that the kernels see, where 32 bits hold it."""
    weights = P * T.scale * raw_step / step
    start = (P @ ((raw_low - T.offset) * T.scale) - low) / step + 0.5
    reach = np.max(np.abs(weights).sum(axis=1) * reader.levels + np.abs(start) + levels + 1.0)
    most = min(largest / max(float(np.abs(weights).max()), 1e-300), INT32_MAX / 2 / float(reach))
    shift = min(math.floor(math.log2(most)), MAX_SHIFT)
    if shift < 0:
        return None
    factor = 2.0**shift
    return IntegerProjection(
        np.rint(weights * factor).astype(np.int64), np.rint(start * factor).astype(np.int64), shift, levels
    )


def make_reader(kind: str, low: Array, step: Array, levels: int) -> Reader:
    """Return how raw features of a kind become indices of the grid."""
    if kind not in INPUTS:
        raise OptionError(f"input {kind!r} is unknown; choose one of: {', '.join(INPUTS)}")
    half = low - step / 2.0
    start = np.abs(half / step)
    largest = np.minimum(INT16_MAX * step, np.minimum(2.0**30 / (levels + 1), 2.0**30 / np.maximum(start, 1.0)))
    shift = np.clip(np.floor(np.log2(np.maximum(largest, 1.0))), 0, MAX_SHIFT)
    if np.all(shift >= WHOLE_BYTES) and np.all(2.0**WHOLE_BYTES / step >= FINE * levels):
        shift = np.full_like(shift, WHOLE_BYTES)  # which costs nothing where bytes are registers
    factor = 2.0**shift
    multiplier = np.clip(np.rint(factor / step), 0, INT16_MAX)
    # What a multiplier loses by rounding counts from the middle of the range, not from 0, which may be far away.
    bias = np.rint((levels / 2.0 + 0.5) * factor - multiplier * (low + step * (levels / 2.0)))
    bias = np.clip(bias, -MAX_BIAS, MAX_BIAS)
    return Reader(
        kind,
        levels,
        half.astype(np.float32),
        (1.0 / step).astype(np.float32),
        multiplier.astype(np.int64),
        bias.astype(np.int64),
        shift.astype(np.int64),
    )
