"""What a program computes after its scores where a model has probabilities, and how far off that can be.

With t the calibrated scores (0 and ``slope s + offset`` for two classes, ``slope s_k`` for more) and b the class with
the largest, every class weighs ``e_k = exp(t_k - t_b)``, from 0 to 1, and has the probability ``e_k / sum_j e_j``.

Floats compute it as written, in powers of two. For two classes the smaller probability is 1 minus the other, exactly.

Integers count probabilities in units of 2^-15. With d = s_b - s_k, for two classes the score's distance from ``zero``::

    z   = ((d << left) * multiplier) >> (16 + shift)          octaves of 2^-12 each; e = 0 from d = limit on
    e_k = 2^15 * 2^-(z / 2^12)                                a table of 17 entries and lines between them; e_b = 2^15
    p_k = round(2^15 * e_k / sum_j e_j)                       two classes: p_b = 2^15 - p_k
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen.arrays import Array
from sparsegen.errors import ModelError, OptionError
from sparsegen.lowering.curves import FRACTION_BITS, INTERVALS, PLACE_BITS, Integers, half_power_table
from sparsegen.lowering.formats import Format
from sparsegen.lowering.guarantee import Guarantee
from sparsegen.lowering.integer_program import INT32_MAX, IntegerProgram
from sparsegen.model import Calibration, SparseModel
from sparsegen.promised import bound

ONE = 1 << 15
"""What integers write for a probability of 1."""
OCTAVES = 16
PLACES = OCTAVES << FRACTION_BITS
"""The exponents z that give more than 0."""
MOST_OCTAVES = 1000.0  # a double holds 2 to this power
MULTIPLIER_BITS = 16
MAX_SHIFT = 31
MAX_CLASSES = (1 << 16) - 1  # sums of weights then have 31 bits
TABLE = half_power_table(FRACTION_BITS + 1)
"""2^15 * 2^-f for f from 0 to 1, in the middle of what an exponent stands for once its last bits are dropped."""
EPSILON = 2.0**-24
"""The most, relative to the result, that rounding a float32 sum, product or quotient is off."""
EXP2_ERROR = 2.0e-7
"""What templates/c/exp2.c.j2 states."""
SAFETY = 1.25  # compilers may replace a quotient by a product with a reciprocal; terms of second order
SLOPE_LIMITS = 1e-30, 1e30  # times log2(e), as float32 holds it


@dataclass(frozen=True)
class Probabilities:
    """How a program makes probabilities of its scores."""

    calibration: Calibration
    n_classes: int
    bound: float
    """The most that a probability is off, compared with the calibration of the scores that the program writes."""
    rejects_below: float | None
    """The confidence without which no class is given; ``None`` where none was asked for."""

    @property
    def is_agreed(self) -> bool:
        """Whether no class is more probable than the predicted one."""
        return self.n_classes > 2 or self.calibration.offset == 0.0


@dataclass(frozen=True)
class FloatProbabilities(Probabilities):
    """In float32."""

    dtype = np.dtype(np.float32)
    one = 1

    @property
    def slope(self) -> float:
        """The slope for powers of two."""
        return self.calibration.slope * math.log2(math.e)

    @property
    def offset(self) -> float:
        """The offset for powers of two."""
        return self.calibration.offset * math.log2(math.e)

    @property
    def sum_error(self) -> float:
        """The most that the sum of all probabilities is off 1."""
        return 0.0 if self.n_classes == 2 else SAFETY * (self.n_classes + 2) * EPSILON

    def of(self, scores: NDArray[Any]) -> Array:
        """Return the (n, n_classes) probabilities of scores that the program wrote, which may be off by ``bound``."""
        return self.calibration(np.asarray(scores, dtype=np.float64))

    def reached(self, tolerance: float) -> float:
        """Return how far a probability may be off where scores may be, by ``tolerance``."""
        return self.bound + _moved(self.calibration.slope * tolerance, self.n_classes)


@dataclass(frozen=True)
class IntegerProbabilities(Probabilities):
    """In units of 2^-15."""

    dtype = np.dtype(np.uint16)
    one = ONE

    zero: int
    """The score at which two classes are equally probable."""
    left: int
    multiplier: int
    shift: int
    limit: int
    """The distance from which on a class has no weight."""
    model_bound: float
    """The most that a probability is off, compared with the real-valued model's, for every input in range."""

    @property
    def sum_error(self) -> float:
        """By how many units the sum of all probabilities is off 1 at most: each is rounded."""
        return 0.0 if self.n_classes == 2 else self.n_classes / 2

    @property
    def sentence(self) -> str:
        """What is proved of probabilities for every input in range."""
        return f"in range, each is within {bound(self.model_bound)} of the real-valued model's"

    @property
    def rejects_below_units(self) -> int:
        """The least whole number of units that is not rejected."""
        return 0 if self.rejects_below is None else math.ceil(Fraction(self.rejects_below) * ONE)

    def of(self, scores: NDArray[Any]) -> NDArray[np.uint16]:
        """Return the (n, n_classes) probabilities of scores, as the device computes them."""
        s = np.asarray(scores).astype(np.int64)
        if self.n_classes == 2:
            weight = self.weights(np.abs(s[:, 0] - self.zero))
            less = _rounded_share(weight, ONE + weight)
            second = np.where(s[:, 0] > self.zero, ONE - less, less)
            return np.column_stack([ONE - second, second]).astype(np.uint16)
        best = np.argmax(s, axis=1)
        weights = self.weights(s.max(axis=1, keepdims=True) - s)
        weights[np.arange(len(s)), best] = ONE
        return _rounded_share(weights, weights.sum(axis=1, keepdims=True)).astype(np.uint16)

    def weights(self, d: Integers) -> Integers:
        """Return e for distances."""
        near = np.where(d < self.limit, d, 0)
        z = ((near << self.left) * self.multiplier) >> (MULTIPLIER_BITS + self.shift)
        return np.asarray(np.where(d < self.limit, half(z), 0))


def half(z: Integers) -> Integers:
    """Return ``2^15 * 2^-(z / 2^12)``, rounded, as the device computes it."""
    index, place, octave = (z >> PLACE_BITS) & (INTERVALS - 1), z & ((1 << PLACE_BITS) - 1), z >> FRACTION_BITS
    mantissa = TABLE[index] - (((TABLE[index] - TABLE[index + 1]) * place) >> PLACE_BITS)
    return np.asarray((mantissa + ((1 << octave) >> 1)) >> octave)


def _rounded_share(part: Integers, total: Integers) -> Integers:
    return np.asarray((2 * ONE * part + total) // (2 * total))


def float_probabilities(model: SparseModel, format: Format) -> FloatProbabilities | None:
    """Return how a float program makes probabilities; ``None`` for a model that has none."""
    calibration, n = model.calibration, len(model.classes)
    reject = _checked_reject(model, format)
    if calibration is None:
        return None
    least, most = SLOPE_LIMITS
    if not least <= calibration.slope <= most or abs(calibration.offset) > most:
        raise ModelError("the model's calibration is too large or too small for float32; train it again")
    return FloatProbabilities(calibration, n, min(1.0, SAFETY * _float_error(calibration, n)), reject)


def integer_probabilities(
    program: IntegerProgram, model: SparseModel, proved: Guarantee, format: Format
) -> IntegerProbabilities | None:
    """Return how an integer program makes probabilities; ``None`` for a model that has none."""
    calibration, n = model.calibration, len(model.classes)
    reject = _checked_reject(model, format)
    if calibration is None:
        return None
    if n > MAX_CLASSES:
        raise ModelError(f"integers hold the probabilities of {MAX_CLASSES:,} classes at most, not of {n:,}")
    factor = calibration.slope * program.unit * math.log2(math.e) * (1 << FRACTION_BITS)  # z for d = 1
    left, multiplier, shift, limit = _factors(factor)
    wanted = -calibration.offset / (calibration.slope * program.unit) if n == 2 else 0.0
    zero = round(min(max(wanted, -INT32_MAX), INT32_MAX))
    exact = Fraction(multiplier << left, 1 << (MULTIPLIER_BITS + shift))
    off = factor * abs(wanted - zero)  # in units of z
    most = _integer_error(factor, float(exact), limit, off, n)
    moved = _moved(calibration.slope * float(np.max(proved.error)), n)
    return IntegerProbabilities(
        calibration, n, most, reject, zero, left, multiplier, shift, limit, min(1.0, most + moved)
    )


def _checked_reject(model: SparseModel, format: Format) -> float | None:
    if format.reject is not None and not model.has_classes:
        raise OptionError("a regression has no probabilities, and so no value is too improbable; leave them out")
    if format.reject is not None and model.calibration is None:
        raise OptionError(
            "the model has no probabilities, so none can be too low to give a class; train it with them",
            change={"probability": ""},
        )
    return format.reject


def _moved(difference: float, n_classes: int) -> float:
    """Return how far a probability moves at most where every calibrated score moves by ``difference`` at most."""
    return math.tanh(difference / (4.0 if n_classes == 2 else 2.0))


def _float_error(calibration: Calibration, n: int) -> float:
    """Return the bound in float32, to first order.

    Two classes: ``a = slope s + offset``, in powers of two, is off by ``3 u |a| + 5 u |offset|`` once rounded, and
    p moves by ``ln 2 p (1 - p)`` of that, where ``ln 2 |a| p (1 - p) < 0.224``. More classes: as ``e_b = 1`` is exact,
    relative errors r_k of the others move p_k by ``p_k (1 - p_k) |r_k| + p_k sum_j p_j |r_j|``, where r_k has
    ``3 u ln(1 / e_k)``, and the mean of ``ln(1 / e_j)`` over the classes is at most their entropy, at most ln n.
    """
    if n == 2:
        offset = abs(calibration.offset) * math.log2(math.e)
        return 3 * EPSILON * 0.224 + 5 * EPSILON * offset * math.log(2.0) / 4 + EXP2_ERROR / 4 + 2 * EPSILON
    return 3 * EPSILON * (0.224 + math.log(n)) + EXP2_ERROR / 2 + (n + 2) * EPSILON


def _factors(factor: float) -> tuple[int, int, int, int]:
    """Return (left, multiplier, shift, limit) with ``multiplier 2^(left - 16 - shift)`` close to ``factor``."""
    if factor >= PLACES:
        return 0, 0, 0, 1  # one unit of a score decides everything
    below = MULTIPLIER_BITS - math.frexp(factor)[1]  # factor 2^below lies in [2^15, 2^16)
    below = min(below, MULTIPLIER_BITS + MAX_SHIFT)
    multiplier = round(math.ldexp(factor, below))
    if multiplier == 1 << MULTIPLIER_BITS:
        multiplier, below = multiplier >> 1, below - 1
    left, shift = max(0, MULTIPLIER_BITS - below), max(0, below - MULTIPLIER_BITS)
    most = 2 * INT32_MAX + 1
    reach = -(-(PLACES << (MULTIPLIER_BITS + shift)) // (multiplier << left)) if multiplier else most
    return left, multiplier, shift, min(reach, most)


def _integer_error(factor: float, used: float, limit: int, off: float, n: int) -> float:
    """Return the bound of a probability's error, over every exponent z that a device can compute.

    The exact exponent of a class whose computed one is z lies from ``z`` to ``z + 1``, but for the relative error of
    the factor, and for ``off``. With ``|e' - e| <= rho e + alpha`` for every class but the largest, p is off by at most
    ``rho / 2 S / S' + alpha (n - 1)``, where S' > S (1 - rho) - alpha (n - 1) is the computed sum and S the exact one.
    """
    z = np.arange(PLACES, dtype=np.int64)
    if used == 0.0:  # z is 0 for every distance below the limit
        z, first, last = z[:1], 0.0 * z[:1], factor * (limit - 1) + 0.0 * z[:1]
    else:
        z, ratio = z[: int((limit - 1) * used) + 2], factor / used
        first, last = z * min(ratio, 1.0), (z + 1) * max(ratio, 1.0)
    beyond = factor * limit - off  # exponents from here on count as no weight at all
    computed = np.append(half(z), 0)
    nearest, farthest = np.append(first - off, beyond), np.append(last + off, np.inf)
    # where zero is out of reach, e / (1 + e) is 1 long before e overflows
    exact = [np.exp2(np.minimum(-end / (1 << FRACTION_BITS), MOST_OCTAVES)) for end in (nearest, farthest)]
    if n == 2:
        shares = _rounded_share(computed, ONE + computed) / ONE
        return min(1.0, max(float(np.abs(shares - e / (1.0 + e)).max()) for e in exact) * (1.0 + 1e-9))
    pairs = [(np.abs(computed / ONE - e), e) for e in exact]
    octave = slice(0, min(1 << FRACTION_BITS, len(z)))  # where the table is not shifted, errors are relative
    rho = min(0.5, max(float((error[octave] / np.maximum(e[octave], 1e-300)).max()) for error, e in pairs))
    alpha = max(float((error - rho * e).max(initial=0.0)) for error, e in pairs) * (n - 1)
    rest = 1.0 - rho - alpha
    return 1.0 if rest <= 0.0 else min(1.0, rho / 2.0 / rest + alpha + 0.5 / ONE) * (1.0 + 1e-9)
