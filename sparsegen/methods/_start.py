"""Where descent starts: expansion vectors from the data, and a projection."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from sparsegen.errors import OptionError
from sparsegen.expression import Array


def start_vectors(X: Array, m: int, init: str | ArrayLike, rng: np.random.RandomState) -> Array:
    """Return m vectors: random rows, centres of k-means, or the given ones."""
    if not isinstance(init, str):
        given = np.array(init, dtype=np.float64)
        if given.ndim != 2 or len(given) == 0 or given.shape[1] != X.shape[1]:
            raise OptionError(f"init must be an array with {X.shape[1]} columns, but its shape is {given.shape}")
        if not np.isfinite(given).all():
            raise OptionError("init holds NaN or infinite values; give finite vectors")
        return given
    if init == "random":
        return X[rng.choice(len(X), m, replace=False)].copy()
    distinct = len(np.unique(X, axis=0))
    with threadpool_limits(1, "openmp"):  # with more, threads add up in the order they finish: other bytes each time
        centres = KMeans(min(m, distinct), n_init=1, random_state=rng).fit(X).cluster_centers_
    # Fewer distinct rows than vectors: the rest start as copies a little aside, so that each can move its own way.
    extra = centres[rng.randint(len(centres), size=m - len(centres))]
    return np.vstack([centres, extra + 1e-3 * (X.std() or 1.0) * rng.standard_normal(extra.shape)])


def start_projection(X: Array, p: int | None) -> Array | None:
    """Return the p leading principal directions, as rows."""
    if p is None:
        return None
    if p > X.shape[1]:
        raise OptionError(f"projection to {p} dimensions was asked for, but there are only {X.shape[1]} features")
    centred = X - X.mean(axis=0)
    _, directions = np.linalg.eigh(centred.T @ centred)
    return np.ascontiguousarray(directions[:, ::-1][:, :p].T)
