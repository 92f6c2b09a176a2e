"""IntegerProgram: a model as the integer loops a device runs, and a bit-exact simulator of them.

In this order, with every value an integer::

    q_j = min(max((x_j * multiplier_j + bias_j) >> shift_j, 0), levels)      the grid; see `reader`
    q_i = min(max((weights_i . q + bias_i) >> shift, 0), levels)             left out where `projection` is None
    d_u = |q - v_u|^2   or   sum_j |q_j - v_uj|                              for every vector u
    K_u = 2^15 * kernel(d_u)                                                 for every kernel; see `curves`
    out += coef[:, k, u] * K_u
    out += intercept

A score is worth `unit` of the real-valued model's. For a linear kernel ``out = intercept + coef . q``. Where a vector
has a shift, a device stores ``coef >> shift`` and multiplies it with ``K_u << shift``: the same product, to the bit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen.arrays import Array
from sparsegen.lowering.calibrate import Box
from sparsegen.lowering.curves import HalfPower, Integers, SampledCurve
from sparsegen.lowering.formats import IntegerFormat
from sparsegen.lowering.grid_reader import GridReader
from sparsegen.lowering.group_features import FeatureGroups, group_features
from sparsegen.model import LARGEST, Label, class_indices

INT32_MAX = 2**31 - 1
BLOCK_ENTRIES = 1 << 22


@dataclass(frozen=True)
class IntegerProjection:
    """A projection from one grid to another."""

    weights: Integers
    bias: Integers
    shift: int
    levels: int

    def __call__(self, q: Integers) -> Integers:
        """Return the grid indices of projected rows."""
        return np.asarray(np.minimum(np.maximum(q @ self.weights.T + self.bias, 0) >> self.shift, self.levels))

    def stays_on_grid(self, q: Integers) -> NDArray[np.bool_]:
        """Return for every row whether no projected value is cut off at an end of the grid."""
        t = q @ self.weights.T + self.bias
        return np.asarray(np.all((t >= 0) & (t >> self.shift <= self.levels), axis=1))


@dataclass(frozen=True)
class IntegerProgram:
    """What an integer export computes."""

    numbers: IntegerFormat
    reader: GridReader
    low: Array
    """Raw value of index 0 of every feature."""
    step: Array
    """Raw distance between neighbouring indices of every feature."""
    range: Box
    """The inputs that guarantees cover, as the program reads them: floats, whole numbers, or indices."""
    projection: IntegerProjection | None
    kernel_grid: tuple[Array, float]
    """Value of index 0, and step, as the kernels see them; meaningless for ``linear``."""
    form: str
    """``square``, ``absolute`` or ``linear``."""
    vectors: Integers
    """(m, values seen by the kernels); empty for ``linear``."""
    levels: int
    """Largest index that the kernels see."""
    curves: tuple[HalfPower, ...] | tuple[SampledCurve, ...]
    """How every kernel falls with the distance; empty for ``linear``."""
    coef: Integers
    """(n_outputs, kernels, m), or (n_outputs, 1, values seen) for ``linear``."""
    intercept: Integers
    unit: float
    n_features: int
    classes: tuple[Label, ...]
    card: Mapping[str, Any]
    shift: Integers | None = None
    """(kernels, m), by how many bits each vector's coefficients end in 0, which are not stored; ``None`` for none."""
    decision: str = LARGEST
    """How scores decide for a class."""
    fill: Array | None = None
    """What a NaN counts as in each raw feature; ``None`` where no feature may be NaN."""

    @property
    def n_outputs(self) -> int:
        """Number of scores."""
        return len(self.intercept)

    @property
    def n_seen(self) -> int:
        """Number of values that the kernels see."""
        return self.n_features if self.projection is None else len(self.projection.weights)

    @cached_property
    def feature_groups(self) -> FeatureGroups | None:
        """The groups whose sums a projection weighs; ``None`` if it weighs single features."""
        if self.projection is None:
            return None
        buffer = 0 if self.reader.is_identity else self.n_features * self.numbers.index_dtype.itemsize
        return group_features(self.projection.weights, self.reader.levels, self.numbers.weight_dtype.itemsize, buffer)

    @property
    def stored_coef(self) -> Integers:
        """The coefficients as a device stores them, in the format's own width."""
        return self.coef if self.shift is None else self.coef >> self.shift

    @property
    def is_linear(self) -> bool:
        """Whether it adds weighted features, without any vector."""
        return self.form == "linear"

    @property
    def shares_steps(self) -> bool:
        """Whether all raw features have the same grid."""
        return bool(np.all(self.step == self.step[0]) and np.all(self.low == self.low[0]))

    @property
    def input_dtype(self) -> np.dtype[Any]:
        """The type of one feature as the program reads it."""
        return self.reader.kind.dtype_in(self.numbers)

    @property
    def score_dtype(self) -> np.dtype[Any]:
        """The type of one score as the program writes it."""
        return np.dtype(np.int32)

    def inputs(self, X: Array) -> NDArray[Any]:
        """Return raw rows in the type that the program reads: rounded, and clipped to the limits of the type.

        Floats stay NaN, which the program itself fills; other types have none, so their rows are filled here.
        """
        if not self.reader.kind.is_float:
            X = self._filled(X)
        if self.reader.kind.is_grid:
            return np.clip(np.floor((X - self.low) / self.step + 0.5), 0, self.reader.levels).astype(self.input_dtype)
        if self.reader.kind.is_float:
            return X.astype(np.float32)
        limits = np.iinfo(self.input_dtype)
        return np.clip(np.rint(X), limits.min, limits.max).astype(self.input_dtype)

    def in_range(self, inputs: NDArray[Any]) -> NDArray[np.bool_]:
        """Return for rows in the program's input type whether guarantees cover them, as the device decides it."""
        within = self.range.holds(self._filled(inputs))
        return within if self.projection is None else within & self.projection.stays_on_grid(self.reader(inputs))

    def covers(self, X: Array) -> NDArray[np.bool_]:
        """Return for raw rows whether guarantees cover them, once they are in the program's input type."""
        X = self._filled(X)
        inputs = self.inputs(X)
        if self.reader.kind.is_grid:
            place = (X - self.low) / self.step  # what leaves the grid has been moved to its end
            readable = np.all((place >= -0.5) & (place <= self.reader.levels + 0.5), axis=1)
        elif self.reader.kind.is_raw_integer:
            readable = np.all(inputs == np.rint(X), axis=1)  # what leaves the type has been moved to its end
        else:
            readable = np.ones(len(X), dtype=np.bool_)
        return np.asarray(readable & self.in_range(inputs))

    def _filled(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return rows, in which a NaN is replaced by what it counts as: in float32, where the rows are."""
        if self.fill is None or rows.dtype.kind != "f":
            return rows
        return np.where(np.isnan(rows), self.fill.astype(rows.dtype), rows)

    def seen(self, inputs: NDArray[Any]) -> Integers:
        """Return the grid indices that the kernels see."""
        q = self.reader(inputs)
        return q if self.projection is None else self.projection(q)

    def kernel_values(self, q: Integers) -> Integers:
        """Return K for rows of indices, (n, kernels, m); for ``linear`` the indices themselves."""
        if self.is_linear:
            return q[:, None, :]
        d = self.distances(q)
        return np.stack([curve(d) for curve in self.curves], axis=1)

    def distances(self, q: Integers) -> Integers:
        """Return d for every row and vector."""
        if self.form == "absolute":
            return np.asarray(np.abs(q[:, None, :] - self.vectors).sum(axis=2), dtype=np.int64)
        squares = (q * q).sum(axis=1)[:, None] + (self.vectors * self.vectors).sum(axis=1)
        # Every product and sum is far below 2^53, where float64 is exact and has a fast matrix product.
        product = q.astype(np.float64) @ self.vectors.T.astype(np.float64)
        return np.asarray(squares - 2 * product.astype(np.int64), dtype=np.int64)

    def scores(self, inputs: NDArray[Any]) -> NDArray[np.int32]:
        """Return the scores of rows in the program's input type, as the device computes them."""
        out = np.empty((len(inputs), self.n_outputs), dtype=np.int32)
        rows = max(1, BLOCK_ENTRIES // max(1, self.vectors.size if self.form == "absolute" else self.coef.size))
        for first in range(0, len(inputs), rows):
            K = self.kernel_values(self.seen(inputs[first : first + rows]))
            total = np.einsum("nkm,okm->no", K, self.coef) + self.intercept
            if np.abs(total).max() > INT32_MAX:
                raise AssertionError("an integer program overflows, which its construction rules out")
            out[first : first + rows] = total
        return out

    def predict_index(self, inputs: NDArray[Any]) -> NDArray[np.int64]:
        """Return class indices, as the device computes them."""
        return class_indices(self.scores(inputs), self.decision)
