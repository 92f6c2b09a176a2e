"""How large features may be before a float program can overflow, from the sizes of all that it adds and multiplies."""

from __future__ import annotations

import numpy as np

from sparsegen.arrays import Array
from sparsegen.errors import ModelError
from sparsegen.kernels.expression import Add, Const, Core, Exp, Exp2, Expr, Mul, Pow, Reciprocal, Sqrt, evaluate
from sparsegen.lowering.program import Part, Program

LARGEST = (
    float(np.finfo(np.float32).max) / 4.0
)  # rounding, and compilers that add in another order, stay below the rest
POWERS = range(37, -38, -1)
PROBES = 64  # arguments at which exponentials and quotients are computed


def safe_power_of_ten(program: Program) -> int:
    """Return the largest k for which nothing overflows while every feature lies from -10^k to 10^k.

    Raises a ModelError where there is none.
    """
    with np.errstate(all="ignore"):
        for k in POWERS:
            if all(np.all(size <= LARGEST) for size in _sizes(program, 10.0**k)):
                _check_fill(program, 10.0**k)
                return k
    raise ModelError(
        "the model's numbers are too large for float32, or a kernel divides by 0; rescale the features before training"
    )


def _check_fill(program: Program, most: float) -> None:
    """Raise an error where what a NaN counts as is larger than what a feature may be."""
    if program.filled is None or program.offset is None or program.scale is None:
        return
    if np.any(np.abs(program.filled / program.scale + program.offset) > most):
        raise ModelError(
            f"a NaN counts as a number beyond {most:g}, up to which nothing overflows in float32; fill missing values "
            "with numbers like those of the data"
        )


def _sizes(program: Program, most: float) -> list[Array]:
    """Return bounds of the absolute value of every number that a prediction computes."""
    s = np.full(program.n_features, most)
    sizes = [s]
    if program.offset is not None and program.scale is not None:
        sizes.append(s + np.abs(program.offset))
        s = sizes[-1] * np.abs(program.scale)
        sizes.append(s)
    if program.projection is not None and program.projection_shift is not None:
        s = np.abs(program.projection) @ s + np.abs(program.projection_shift)
        sizes.append(s)
    scores = np.abs(program.intercept)
    for part in program.parts:
        inside, t = _argument_sizes(part, s)
        sizes += [inside, t]
        for k, outer in enumerate(part.outers):
            values = _value_size(outer, _probed_arguments(part, float(t.max())), sizes)
            scores = scores + np.abs(part.coef[:, k, :]) @ np.full(len(t), values)
    return [*sizes, scores]


def _argument_sizes(part: Part, s: Array) -> tuple[Array, Array]:
    """Return bounds of the sums before the last factor, and of t, for every vector."""
    if part.form == "dot":
        squares = (
            np.zeros(1) if part.square is None else np.array([(s * s).sum() * max(1.0, np.abs(part.square).max())])
        )
        return squares, np.abs(part.vectors) @ s + np.abs(part.shift) + squares
    difference = s + np.abs(part.vectors)
    total = (difference if part.form == "absolute" else difference * difference).sum(axis=1)
    return total, abs(part.slope) * total + np.abs(part.shift)


def _probed_arguments(part: Part, most: float) -> Array:
    """Return arguments from the least to the most that a kernel can get: for a distance, those of one direction."""
    away = np.append(0.0, np.geomspace(1e-9, 1.0, PROBES) * most)
    if part.form != "dot":
        return np.asarray(np.sign(part.slope) * away + part.shift[0])
    if part.square is None:
        return np.append(-away, away)
    at_distance_0 = part.shift[0] - (part.vectors[0] ** 2 / (4.0 * part.square)).sum()
    return np.asarray(np.sign(part.square[0]) * away + at_distance_0)


def _value_size(expr: Expr, t: Array, sizes: list[Array]) -> float:
    """Return a bound of an expression over the probed arguments; bounds of its parts are added to ``sizes``."""
    match expr:
        case Core():
            size = float(np.abs(t).max())
        case Const(value):
            size = abs(value)
        case Add(a, b):
            size = _value_size(a, t, sizes) + _value_size(b, t, sizes)
        case Mul(a, b):
            size = _value_size(a, t, sizes) * _value_size(b, t, sizes)
        case Pow(a, Const(n)):
            size = float(np.power(max(1.0, _value_size(a, t, sizes)), n))
        case Sqrt(a):
            size = _value_size(a, t, sizes) ** 0.5
        case Exp(a) | Exp2(a) | Reciprocal(a):
            _value_size(a, t, sizes)
            size = float(np.max(np.abs(evaluate(expr, t))))
        case _:
            raise TypeError(f"a device has no form for {expr}")
    sizes.append(np.array([size]))
    return size
