"""Kernels, one per file: a name, its parameters and its expression. Gram blocks and gradients follow from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Real

import numpy as np

from sparsegen.arrays import Array
from sparsegen.errors import OptionError
from sparsegen.kernels.bases import BASES
from sparsegen.kernels.expression import (
    DOT,
    SQDIST,
    Core,
    Exp,
    Expr,
    base_of,
    bind,
    derivative,
    evaluate,
    split_affine,
)
from sparsegen.registry import Registry


@dataclass(frozen=True)
class Parameter:
    """A kernel parameter: what it means, its default and what it may be."""

    meaning: str
    default: float
    minimum: float = -np.inf
    maximum: float = np.inf
    positive: bool = False
    whole: bool = False

    def check(self, name: str, value: float) -> float:
        """Return ``value`` or raise an error that says what it may be."""
        number = _number(value)
        wrong = not self.minimum <= number <= self.maximum or not np.isfinite(number)
        if wrong or (self.positive and number <= 0) or (self.whole and number != int(number)):
            raise OptionError(f"kernel parameter {name} is {value!s:.40}, but must be {self._allowed()}")
        return number

    def _allowed(self) -> str:
        limits = [" > 0"] if self.positive else [f" >= {self.minimum:g}"] if self.minimum > -np.inf else []
        limits += [f" <= {self.maximum:g}"] if self.maximum < np.inf else []
        return ("a whole number" if self.whole else "a number") + " and".join(limits)


def _number(value: object) -> float:
    """Return a float, or NaN for what is no number or too large for one."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return np.nan
    try:
        return float(value)
    except OverflowError:
        return np.nan


@dataclass(frozen=True)
class Kernel:
    """A kernel family; :meth:`bind` gives it parameters."""

    name: str
    formula: str
    expression: Expr
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    scale_parameter: str | None = None
    """The parameter that grows as the data shrinks, which ``gamma="scale"`` and ``"auto"`` choose."""
    libsvm_name: str | None = None
    """What LIBSVM, and so scikit-learn's SVC, calls this kernel; ``None`` where it has no such kernel."""

    @property
    def is_radial(self) -> bool:
        """Whether it depends on a distance only."""
        return BASES[base_of(self.expression).name].is_distance

    def bind(self, **params: float) -> BoundKernel:
        """Return the kernel with its parameters checked; missing ones take their default."""
        unknown = set(params) - set(self.parameters)
        if unknown:
            raise OptionError(f"kernel {self.name!r} has no parameter {', '.join(sorted(unknown))}")
        values = {name: p.check(name, params.get(name, p.default)) for name, p in self.parameters.items()}
        return BoundKernel(self.name, tuple(values.items()), bind(self.expression, values))


@dataclass(frozen=True)
class BoundKernel:
    """A kernel with numbers for parameters: blocks of it, and their gradients."""

    name: str
    params: tuple[tuple[str, float], ...]
    expression: Expr

    def gram(self, X: Array, Z: Array) -> Array:
        """Return ``K(X, Z)``, one row per row of ``X``."""
        return GramBlock(self, X, Z).value

    def block(self, X: Array, Z: Array) -> GramBlock:
        """Return ``K(X, Z)`` together with what its gradient needs."""
        return GramBlock(self, X, Z)

    @property
    def is_linear(self) -> bool:
        """Whether it is the dot product itself."""
        return self.expression == DOT

    @property
    def is_gaussian(self) -> bool:
        """Whether it is ``exp(-gamma |x - z|^2)``."""
        outer, slope, shift = split_affine(self.expression)
        return base_of(self.expression) == SQDIST and outer == Exp(Core()) and slope < 0.0 and shift == 0.0

    @property
    def is_radial(self) -> bool:
        """Whether it depends on a distance only."""
        return BASES[base_of(self.expression).name].is_distance

    @property
    def has_unit_diagonal(self) -> bool:
        """Whether ``K(x, x)`` is 1 for every x."""
        return self.is_radial and float(evaluate(self.expression, np.zeros(1))[0]) == 1.0  # type: ignore[index]

    @property
    def falls(self) -> bool:
        """Whether it is radial, 1 at a distance of 0, and never grows with the distance."""
        d = np.concatenate([[0.0], np.logspace(-9, 9, 500)])
        K = np.asarray(evaluate(self.expression, d))
        return self.has_unit_diagonal and bool(np.all(np.diff(K) <= 0.0) and K[-1] >= 0.0)

    @cached_property
    def slope(self) -> Expr:
        """The derivative of the kernel in its base."""
        return derivative(self.expression)


class GramBlock:
    """``K(X, Z)`` and its contracted gradients."""

    def __init__(self, kernel: BoundKernel, X: Array, Z: Array) -> None:
        self._kernel, self._X, self._Z = kernel, X, Z
        self._base = BASES[base_of(kernel.expression).name]
        self._memo: dict[Expr, Array | float] = {}
        self._distance = self._base.block(X, Z)
        self.value = np.asarray(evaluate(kernel.expression, self._distance, self._memo))

    def gradient(self, weights: Array) -> Array:
        """Return ``sum_i weights[i, u] * dK(x_i, z_u)/dz_u``, one row per row of ``Z``."""
        return self._base.pull_back(weights * self._slope, self._X, self._Z)

    def gradient_left(self, weights: Array) -> Array:
        """Return ``sum_u weights[i, u] * dK(x_i, z_u)/dx_i``, one row per row of ``X``; kernels are symmetric."""
        return self._base.pull_back((weights * self._slope).T, self._Z, self._X)

    @cached_property
    def _slope(self) -> Array | float:
        return evaluate(self._kernel.slope, self._distance, self._memo)


KERNELS: Registry[Kernel] = Registry("kernel", __name__)
