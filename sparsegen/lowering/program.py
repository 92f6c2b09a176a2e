"""Program: a model as the loops a device runs, with every constant folded. Targets round it to float32.

In this order::

    s = (x - offset) * scale                   left out where `offset` is None
    s = projection @ s + projection_shift      left out where `projection` is None
    t_u = shift_u + sum_j form(s_j, v_uj)      for every vector u of a part, plus `square . s^2` in dot form
    out += coef[:, k, u] * outer_k(t_u)        for every kernel k of the part
    out += intercept
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen.arrays import Array
from sparsegen.errors import DataError, ModelError
from sparsegen.kernels.expression import Expr, evaluate
from sparsegen.model import LARGEST, Label

FORM_OF_DISTANCE = {"sqdist": "square", "l1dist": "absolute"}
"""What a loop over differences adds up for each distance."""


@dataclass(frozen=True)
class Part:
    """Kernels that share one loop over the vectors.

    ``form`` is ``dot`` (``s_j * v_uj``), ``square`` (``slope * (s_j - v_uj)^2``) or ``absolute``
    (``slope * |s_j - v_uj|``).
    """

    form: str
    vectors: Array
    shift: Array
    slope: float
    square: Array | None
    outers: tuple[Expr, ...]
    coef: Array
    """(n_outputs, kernels of this part, m)"""

    def arguments(self, S: Array) -> Array:
        """Return t for every row and vector."""
        if self.form == "dot":
            t = S @ self.vectors.T + self.shift
            return t if self.square is None else t + ((S * S) @ self.square)[:, None]
        difference = S[:, None, :] - self.vectors
        size = np.abs(difference) if self.form == "absolute" else difference * difference
        return np.asarray(self.slope * size.sum(axis=2) + self.shift)


@dataclass(frozen=True)
class Program:
    """What a float export computes."""

    parts: tuple[Part, ...]
    intercept: Array
    offset: Array | None
    scale: Array | None
    projection: Array | None
    projection_shift: Array | None
    n_features: int
    classes: tuple[Label, ...]
    card: Mapping[str, Any]
    decision: str = LARGEST
    """How scores decide for a class."""
    filled: Array | None = None
    """(n_features,) what a NaN counts as once it is scaled; ``None`` where no feature may be NaN."""

    @property
    def n_outputs(self) -> int:
        """Number of scores."""
        return len(self.intercept)

    @property
    def n_seen(self) -> int:
        """Number of values that the vector loops see."""
        return self.n_features if self.projection is None else len(self.projection)

    @property
    def input_dtype(self) -> np.dtype[Any]:
        """The type of one feature as the program reads it."""
        return np.dtype(np.float32)

    @property
    def score_dtype(self) -> np.dtype[Any]:
        """The type of one score as the program writes it."""
        return np.dtype(np.float32)

    def inputs(self, X: Array) -> NDArray[Any]:
        """Return raw rows in the type that the program reads."""
        if self.filled is None:
            return as_float32(X)
        is_nan = np.isnan(X)
        return np.where(is_nan, np.float32(np.nan), as_float32(np.where(is_nan, 0.0, X)))

    def prepare(self, X: Array) -> Array:
        """Return the rows as the vector loops see them."""
        X = self.scaled(X)
        if self.projection is not None and self.projection_shift is not None:
            X = X @ self.projection.T + self.projection_shift
        return X

    def scaled(self, X: Array) -> Array:
        """Return the rows as they are before the projection."""
        if self.offset is None or self.scale is None:
            return X
        scaled = (X - self.offset) * self.scale
        return scaled if self.filled is None else np.where(np.isnan(X), self.filled, scaled)

    def arguments(self, X: Array) -> list[Array]:
        """Return t of raw rows for every part."""
        S = self.prepare(X)
        return [part.arguments(S) for part in self.parts]

    def scores(self, X: Array) -> Array:
        """Return the (n, n_outputs) scores of raw rows: the reference for every export."""
        out = np.tile(self.intercept, (len(X), 1))
        for part, t in zip(self.parts, self.arguments(X), strict=True):
            for k, outer in enumerate(part.outers):
                out += np.asarray(evaluate(outer, t)) @ part.coef[:, k, :].T
        return out

    def tables(self) -> dict[str, Array]:
        """Return every constant array by name, in the order in which they are read."""
        named: dict[str, Array | None] = {
            "offset": self.offset,
            "scale": self.scale,
            "filled": self.filled,
            "projection": self.projection,
            "projection_shift": self.projection_shift,
        }
        for i, part in enumerate(self.parts):
            suffix = "" if len(self.parts) == 1 else str(i)
            named |= {
                f"vectors{suffix}": part.vectors,
                f"square{suffix}": part.square,
                f"shift{suffix}": part.shift,
                f"coef{suffix}": part.coef,
            }
        named["intercept"] = self.intercept
        return {name: table for name, table in named.items() if table is not None}


def as_float32(X: Array) -> NDArray[np.float32]:
    """Return rows as a device reads them, or raise if float32 cannot hold a value."""
    given = np.asarray(X)
    with np.errstate(over="ignore"):
        rows = given.astype(np.float32)
    if not np.isfinite(rows).all():
        row, column = np.argwhere(~np.isfinite(rows))[0]
        if not np.isfinite(given[row, column]):
            raise DataError(f"row {row + 1}, feature {column + 1} is not a finite number; devices need one")
        raise DataError(
            f"row {row + 1}, feature {column + 1} holds a value beyond float32, which devices take; rescale it"
        )
    return rows


def float32(values: Array) -> NDArray[np.float32]:
    """Return values rounded to float32, or raise if it cannot hold one."""
    with np.errstate(over="ignore"):
        rounded = np.asarray(values, dtype=np.float64).astype(np.float32)
    if not np.isfinite(rounded).all():
        value = np.ravel(values)[np.argmin(np.isfinite(rounded).ravel())]
        raise ModelError(f"the value {value:g} does not fit in float32; rescale the features before training")
    return rounded
