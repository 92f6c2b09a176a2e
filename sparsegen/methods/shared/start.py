"""Where descent starts: expansion vectors from the data, and a projection."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.cluster import KMeans

from sparsegen.arrays import Array
from sparsegen.errors import OptionError

BETWEEN_CLASSES_WEIGHT = 10.0  # weight of the scatter between class means, relative to the total scatter


def start_vectors(X: Array, Y: Array, m: int, init: str | ArrayLike, rng: np.random.RandomState) -> Array:
    """Return m vectors: random rows, centres of k-means within the classes of the signs Y, or the given ones."""
    if not isinstance(init, str):
        given = np.array(init, dtype=np.float64)
        if given.ndim != 2 or len(given) == 0 or given.shape[1] != X.shape[1]:
            raise OptionError(f"init must be an array with {X.shape[1]} columns, but its shape is {given.shape}")
        if not np.isfinite(given).all():
            raise OptionError("init holds NaN or infinite values; give finite vectors")
        return given
    if init == "random":
        return X[rng.choice(len(X), m, replace=False)].copy()
    owner = class_of(Y)
    counts = np.bincount(owner)
    if m < len(counts):
        return _centres(X, m, rng)
    shares = _share(m, counts)
    return np.vstack([_centres(X[owner == k], share, rng) for k, share in enumerate(shares)])


def _share(m: int, counts: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return how many of m vectors each class gets: at least one, then in proportion to its rows."""
    shares = np.ones(len(counts), dtype=np.intp)
    for _ in range(m - len(counts)):
        shares[np.argmax(counts / shares)] += 1
    return shares


def _centres(X: Array, m: int, rng: np.random.RandomState) -> Array:
    """Return m centres of k-means."""
    distinct = len(np.unique(X, axis=0))
    centres = KMeans(min(m, distinct), n_init=1, random_state=rng).fit(X).cluster_centers_
    # With fewer distinct rows than vectors the rest start as copies, slightly moved so that each can go its own way.
    extra = centres[rng.randint(len(centres), size=m - len(centres))]
    return np.vstack([centres, extra + 1e-3 * (X.std() or 1.0) * rng.standard_normal(extra.shape)])


def start_projection(X: Array, Y: Array, p: int | None) -> Array | None:
    """Return p orthonormal directions, as rows: the principal ones, with the scatter between classes counted more."""
    if p is None:
        return None
    if p > X.shape[1]:
        raise OptionError(f"projection to {p} dimensions was asked for, but there are only {X.shape[1]} features")
    centred = X - X.mean(axis=0)
    owner = class_of(Y)
    means = np.array([centred[owner == k].mean(axis=0) for k in np.unique(owner)])
    scatter = centred.T @ centred / len(X) + BETWEEN_CLASSES_WEIGHT * (means.T @ means) / len(means)
    _, directions = np.linalg.eigh(scatter)
    return np.ascontiguousarray(directions[:, ::-1][:, :p].T)


def class_of(Y: Array) -> NDArray[np.intp]:
    """Return the class index of each row of signs."""
    return np.argmax(Y, axis=1) if Y.shape[1] > 1 else (Y[:, 0] > 0).astype(np.intp)


def column_means(X: NDArray[Any]) -> Array:
    """Return the mean of every column, summed in float64 whatever the type of the rows."""
    return np.asarray(X.mean(axis=0, dtype=np.float64))
