"""What is proved about an integer program for every input in its range, not only for the rows that were tried.

**Overflow.** Every intermediate value lies in an interval that follows from the types and tables alone.

**Error.** Let f be the real-valued model, and F the same sum with the integer program's vectors and coefficients but in
real arithmetic. Then

    |out * unit - f(x)| <= |F - f| + |F(x) - F(x')| + sum_u |c_u| * (error of K)

where x' is x rounded to the grid. In the kernel's feature space f and F are vectors and K(x, .) has length 1. By the
reproducing property the first term is at most the length of F - f, and the second at most the length of F times the
distance between K(x, .) and K(x', .), which depends on |x - x'| only. That needs a kernel that is positive definite,
and a row that no end of a grid cuts off: `IntegerProgram.in_range` decides the latter, on the device as well.

What this module computes in float64 may itself be off in the last digits; every such loss is counted as an error.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparsegen.arrays import Array
from sparsegen.kernels import BoundKernel
from sparsegen.lowering.coefficients import partial_sums
from sparsegen.lowering.curves import KERNEL_BITS, LARGEST_VALUE, SampledCurve
from sparsegen.lowering.integer_program import INT32_MAX, IntegerProgram
from sparsegen.lowering.quantize import largest_distance
from sparsegen.model import LARGEST, SparseModel
from sparsegen.model.decision import DECISIONS
from sparsegen.promised import bound

UINT32_MAX = 2**32 - 1
FLOAT64_EPSILON = 2.0**-52
SLACK = 1e-9
"""What float64 may lose of a bound, and of the score that it is compared with, relative to the largest score."""


@dataclass(frozen=True)
class Guarantee:
    """Bounds that hold for every input in range."""

    error: Array
    """Bound on the error of each score, in units of the real-valued model."""
    intervals: dict[str, tuple[int, int]]
    """Smallest and largest value of every intermediate result."""
    decision: str = LARGEST
    """How scores decide for a class."""
    is_projected: bool = False
    """Whether an input is in range only if its projection stays within the grid."""
    largest_index: int | None = None
    """Largest index that may be read, if the type of the input holds larger ones."""

    @property
    def margin(self) -> float:
        """The label cannot change if the real-valued model's lead, as its decision has it, exceeds this."""
        return DECISIONS[self.decision].margin(self.error)

    def sentences(self) -> tuple[tuple[str, str], ...]:
        """Return the guarantee as pairs of subject and sentence."""
        inputs = "for every input" if self.largest_index is None else f"for indices up to {self.largest_index}"
        down, up = self.intervals["score"]
        error = f"at most {bound(float(self.error.max()))} for every input in range"
        decision = DECISIONS[self.decision]
        if not decision.gives_classes:
            told = [("value error", f"{error}, against the real-valued model's")]
        else:
            clear = decision.clear_by(bound(self.margin), len(self.error))
            label = f"the real-valued model's for every input in range for which that model's {clear}"
            told = [("score error", error), ("label", label)]
        return (
            *told,
            ("overflow", f"ruled out {inputs}; scores stay within {down} and {up}"),
        )


def guarantee(program: IntegerProgram, model: SparseModel) -> Guarantee:
    """Return what holds for every input in range; raise if an intermediate value could overflow."""
    bounds = intervals(program)
    for name, (least, largest) in bounds.items():
        limits = (0, UINT32_MAX) if name.startswith("unsigned") else (-INT32_MAX - 1, INT32_MAX)
        if least < limits[0] or largest > limits[1]:
            raise AssertionError(f"{name} of an integer program overflows, which its construction rules out")
    error = _linear_error(program, model) if program.is_linear else _kernel_error(program, model)
    reader = program.reader
    beyond = reader.kind.is_grid and np.iinfo(program.input_dtype).max > reader.levels
    largest_score = max(abs(bound) for bound in bounds["score"]) * program.unit
    return Guarantee(
        error + SLACK * (error + largest_score),
        bounds,
        model.decision,
        is_projected=program.projection is not None,
        largest_index=reader.levels if beyond else None,
    )


def intervals(program: IntegerProgram) -> dict[str, tuple[int, int]]:
    """Return the smallest and largest value of every intermediate result, whatever the inputs are."""
    bounds, levels_in = program.reader.intervals(), program.reader.levels
    if program.projection is not None:
        weights, bias = program.projection.weights, program.projection.bias
        up = levels_in * np.maximum(weights, 0).sum(axis=1) + np.maximum(bias, 0)
        down = levels_in * np.minimum(weights, 0).sum(axis=1) + np.minimum(bias, 0)
        bounds["projected value"] = (int(down.min()), int(up.max()))
    largest = levels_in if program.is_linear else LARGEST_VALUE
    if program.form == "square":
        norms = (program.vectors**2).sum(axis=1)
        squares = program.vectors.shape[1] * program.levels**2
        bounds["unsigned sum of squares and norm"] = (0, int(squares + norms.max()))
        bounds["unsigned twice the dot product"] = (0, int(2 * program.levels * program.vectors.sum(axis=1).max()))
    if not program.is_linear:
        bounds["distance"] = (0, largest_distance(program.vectors, program.levels, program.form))
    places = [curve.largest_place for curve in program.curves if isinstance(curve, SampledCurve)]
    if places:
        bounds["unsigned place on a curve"] = (0, max(places))
    if program.shift is not None:
        bounds["shifted kernel value"] = (0, LARGEST_VALUE << int(program.shift.max()))
    up, down = partial_sums(program.coef, program.intercept, largest)
    bounds["score"] = (down, up)
    return bounds


def reading_error(program: IntegerProgram) -> Array:
    """Return how far the index of each raw feature may lie from the feature, in steps, within the range."""
    return program.reader.error(program.low, program.step, program.range)


def reach(program: IntegerProgram) -> Array:
    """Return the largest index of every raw feature within the range."""
    last = program.range.high[None, :].astype(program.input_dtype)
    return np.asarray(program.reader(last)[0], dtype=np.float64)


def _kernel_error(program: IntegerProgram, model: SparseModel) -> Array:
    """Return the bound on each score's error for kernels that fall with distance."""
    vectors, coef = real_vectors(program, model), program.coef * program.unit * 2.0**KERNEL_BITS
    offset = _distance(program, model)
    both = np.vstack([vectors, model.vectors])
    both = both - both.mean(axis=0)  # a kernel of distances does not see it, and float64 loses less
    error = np.abs(program.intercept * program.unit - model.intercept)
    for k, kernel in enumerate(model.kernels):
        K = kernel.gram(both, both)
        lost = _lost_by_float64(kernel, both, program.form)
        apart = np.sqrt(2.0 * (_fall(kernel, both.shape[1], offset) + FLOAT64_EPSILON))
        inner = K[: len(vectors), : len(vectors)]
        for o in range(program.n_outputs):
            weights = np.concatenate([coef[o, k], -model.coef[o, k]])
            error[o] += _length(weights, K, lost) + apart * _length(coef[o, k], inner, lost)
            error[o] += np.abs(coef[o, k]).sum() * program.curves[k].error
    return error


def _fall(kernel: BoundKernel, n: int, distance: float) -> float:
    """Return how much less than 1 a kernel is for two rows of n values this far apart."""
    rows = np.zeros((2, n))
    rows[1, 0] = distance
    return max(0.0, 1.0 - float(kernel.gram(rows[:1], rows[1:])[0, 0]))


def _lost_by_float64(kernel: BoundKernel, rows: Array, form: str) -> float:
    """Return how far float64 may be off in a Gram matrix and in a sum over it, per unit of the summed weights."""
    if form == "square":  # computed as a difference of squares, so it is off by part of the largest
        size = float(np.sqrt(4.0 * rows.shape[1] * FLOAT64_EPSILON * (rows**2).sum(axis=1).max()))
    else:
        size = float(4.0 * rows.shape[1] * FLOAT64_EPSILON * np.abs(rows).sum(axis=1).max())
    return _fall(kernel, rows.shape[1], size) + len(rows) * FLOAT64_EPSILON


def real_vectors(program: IntegerProgram, model: SparseModel) -> Array:
    """Return the program's vectors in the space of the kernels."""
    T = model.transform
    if T.projection is None:
        return np.asarray((program.low + program.vectors * program.step - T.offset) * T.scale)
    low, step = program.kernel_grid
    return np.asarray(low + program.vectors * step)


def _distance(program: IntegerProgram, model: SparseModel) -> float:
    """Return how far a row may lie from its place on the grid, as the kernels measure distance."""
    T, read = model.transform, reading_error(program)
    if program.projection is None or T.projection is None:
        apart = read * program.step * np.abs(T.scale)
    else:
        low, step = program.kernel_grid
        exact = T.projection * T.scale * program.step / step
        scale = 2.0**program.projection.shift
        start = exact @ ((program.low - T.offset) / program.step) - low / step + 0.5
        lost = np.abs(program.projection.weights / scale - exact) @ reach(program)
        lost += np.abs(program.projection.bias / scale - start)
        apart = (lost + np.abs(exact) @ read + 0.5) * step
    return float(np.linalg.norm(apart) if program.form == "square" else apart.sum())


def _length(weights: Array, K: Array, lost: float) -> float:
    return float(np.sqrt(max(0.0, float(weights @ K @ weights)) + lost * np.abs(weights).sum() ** 2))


def _linear_error(program: IntegerProgram, model: SparseModel) -> Array:
    """Return the bound on each score's error for a linear kernel: the largest over the corners of the box."""
    T = model.transform
    weights = model.coef[:, 0, :] @ model.vectors
    weights = weights if T.projection is None else weights @ T.projection
    exact = weights * T.scale * program.step
    used = program.coef[:, 0, :] * program.unit
    start = model.intercept + weights @ ((program.low - T.offset) * T.scale)
    lost = np.abs(used - exact) @ reach(program) + np.abs(exact) @ reading_error(program)
    return np.asarray(lost + np.abs(program.intercept * program.unit - start))
