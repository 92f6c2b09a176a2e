"""The transform in front of a model's kernels: affine scaling per feature, then an optional projection.

Where it has a fill, a NaN counts as the fill of its feature, before anything else.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sparsegen.arrays import Array
from sparsegen.errors import ModelError

MAX_LOST = 1e-9
"""Share of a shift that may be lost to rounding where it is carried to the other side of a projection."""


@dataclass(frozen=True, eq=False)
class Transform:
    """What happens to a raw row before the kernels see it: ``projection @ ((x - offset) * scale)``."""

    offset: Array
    scale: Array
    projection: Array | None = None
    """(p, d), or ``None`` where the kernels see all d features."""
    fill: Array | None = None
    """(d,) what a NaN counts as, feature by feature; ``None`` where no feature may be NaN."""

    @classmethod
    def identity(cls, n_features: int) -> Transform:
        """Return the transform that changes nothing."""
        return cls(np.zeros(n_features), np.ones(n_features))

    @property
    def n_features(self) -> int:
        """Number of raw features."""
        return int(self.offset.size)

    @property
    def n_projected(self) -> int:
        """Number of values the kernels see."""
        return self.n_features if self.projection is None else len(np.atleast_1d(self.projection))

    def __call__(self, X: Array) -> Array:
        """Return the rows as the kernels see them."""
        scaled = (self.filled(X) - self.offset) * self.scale
        return scaled if self.projection is None else scaled @ self.projection.T

    def filled(self, X: Array) -> Array:
        """Return raw rows with what a NaN counts as in its place; as they are without a fill."""
        return X if self.fill is None else np.where(np.isnan(X), self.fill, X)

    def after(self, offset: Array, scale: Array) -> Transform:
        """Return the transform of rows that a scaler ``(x - offset) * scale`` has not touched yet."""
        if not np.all(np.isfinite(scale)) or not np.all(scale):
            raise ModelError("a scaler in front of the model has a zero or infinite factor; remove constant features")
        fill = None if self.fill is None else offset + self.fill / scale
        return Transform(offset + self.offset / scale, scale * self.scale, self.projection, fill)

    def behind(self, front: Transform) -> Transform:
        """Return the transform of the rows in front of another transform, whose result this one takes.

        Where the one in front has a fill, no NaN reaches this one's.
        """
        if front.projection is None:
            joined = self.after(front.offset, front.scale)
            return joined if front.fill is None else replace(joined, fill=front.fill)
        projection = self.scale[:, None] * front.projection
        return Transform(
            front.offset + source_of(self.offset, front.projection) / front.scale,
            front.scale,
            projection if self.projection is None else self.projection @ projection,
            front.fill if self.fill is None or front.fill is not None else _fill_before(self.fill, front),
        )

    def inverse(self, projected: Array) -> Array:
        """Return raw rows that the transform takes to these rows (closest in the least-squares sense)."""
        scaled = projected if self.projection is None else projected @ np.linalg.pinv(self.projection).T
        return np.asarray(self.offset + scaled / self.scale)


def _fill_before(fill: Array, front: Transform) -> Array:
    """Return what a NaN counts as before a projection that only selects features, given what it counts as behind it."""
    P = np.zeros((0, 0)) if front.projection is None else front.projection
    if np.any((P != 0.0).sum(axis=1) != 1):
        raise ModelError("missing values are filled in behind a projection that mixes features; fill them in before it")
    feature = np.argmax(P != 0.0, axis=1)
    values = front.offset[feature] + fill / (P[np.arange(len(P)), feature] * front.scale[feature])
    found = np.zeros(front.n_features)  # of features that are not selected, any number will do
    found[feature] = values
    if np.any(np.abs(found[feature] - values) > MAX_LOST * np.abs(values)):
        raise ModelError("a feature is selected twice, and its missing values are filled with different numbers")
    return found


def source_of(shift: Array, projection: Array) -> Array:
    """Return what a projection takes to ``shift``; raise a ModelError where there is no such thing."""
    sizes = np.linalg.norm(projection, axis=1)
    sizes[sizes == 0.0] = 1.0  # rows of one length, or those of a whitened constant would hide all others
    rows, wanted = projection / sizes[:, None], shift / sizes
    source = np.asarray(np.linalg.pinv(rows) @ wanted)
    if np.abs(rows @ source - wanted).max() > MAX_LOST * np.abs(wanted).max():
        raise ModelError(
            "what stands in front of the model takes its values from too few features for the shift behind it; use "
            "each feature once"
        )
    return source
