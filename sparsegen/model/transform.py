"""The transform in front of a model's kernels: affine scaling per feature, then an optional projection."""

from __future__ import annotations

from dataclasses import dataclass

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
        scaled = (X - self.offset) * self.scale
        return scaled if self.projection is None else scaled @ self.projection.T

    def after(self, offset: Array, scale: Array) -> Transform:
        """Return the transform of rows that a scaler ``(x - offset) * scale`` has not touched yet."""
        if not np.all(np.isfinite(scale)) or not np.all(scale):
            raise ModelError("a scaler in front of the model has a zero or infinite factor; remove constant features")
        return Transform(offset + self.offset / scale, scale * self.scale, self.projection)

    def behind(self, front: Transform) -> Transform:
        """Return the transform of the rows in front of another transform, whose result this one takes."""
        if front.projection is None:
            return self.after(front.offset, front.scale)
        projection = self.scale[:, None] * front.projection
        return Transform(
            front.offset + source_of(self.offset, front.projection) / front.scale,
            front.scale,
            projection if self.projection is None else self.projection @ projection,
        )

    def inverse(self, projected: Array) -> Array:
        """Return raw rows that the transform takes to these rows (closest in the least-squares sense)."""
        scaled = projected if self.projection is None else projected @ np.linalg.pinv(self.projection).T
        return np.asarray(self.offset + scaled / self.scale)


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
