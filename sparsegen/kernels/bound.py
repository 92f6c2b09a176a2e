"""Kernels with numbers for parameters: Gram blocks, their gradients, and traits that follow from the expression."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sparsegen.arrays import Array
from sparsegen.kernels.affine import split_affine
from sparsegen.kernels.bases import BASES
from sparsegen.kernels.expression import DOT, SQDIST, Core, Exp, Exp2, Expr, base_of, derivative, evaluate, nodes
from sparsegen.kernels.signs import never_negative, never_positive


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
        """Whether it is radial and, from 1 at distance 0, never rises and never goes below 0.

        This is proved from the expression. A kernel for which :mod:`.signs` finds no proof counts as rising.
        """
        return self.has_unit_diagonal and never_positive(self.slope) and never_negative(self.expression)

    @property
    def exponents_rise(self) -> bool:
        """Whether it may take the exponential of something positive; ``False`` is proved from the expression."""
        arguments = [node.argument for node in nodes(self.expression) if isinstance(node, Exp | Exp2)]
        return bool(arguments) and not (self.is_radial and all(never_positive(argument) for argument in arguments))

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
