"""Where descent starts: expansion vectors from the data, and a projection."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.cluster import KMeans

from sparsegen.arrays import Array
from sparsegen.errors import OptionError
from sparsegen.methods.shared.row_weights import RowWeights, row_counts, weighted_mean

BETWEEN_CLASSES_WEIGHT = 10.0  # weight of the scatter between class means, relative to the total scatter


def start_vectors(
    X: Array, Y: Array, m: int, init: str | ArrayLike, rng: np.random.RandomState, weights: RowWeights | None = None
) -> Array:
    """Return m vectors: random rows, centres of k-means within the classes of the signs Y, or the given ones.

    Rows count as often as their sample weights say; draws are the likelier for it.
    """
    if not isinstance(init, str):
        given = np.array(init, dtype=np.float64)
        if given.ndim != 2 or len(given) == 0 or given.shape[1] != X.shape[1]:
            raise OptionError(f"init must be an array with {X.shape[1]} columns, but its shape is {given.shape}")
        if not np.isfinite(given).all():
            raise OptionError("init holds NaN or infinite values; give finite vectors")
        return given
    counts = row_counts(weights)
    if init == "random":
        return X[rng.choice(len(X), m, replace=False, p=None if counts is None else counts / counts.sum())].copy()
    owner = class_of(Y)
    sizes = np.bincount(owner, weights=counts)
    if m < len(sizes):
        return _centres(X, m, rng, counts)
    own = [owner == k for k in range(len(sizes))]
    of_class = [None if counts is None else counts[rows] for rows in own]
    shares = _share(m, sizes)
    return np.vstack([_centres(X[o], share, rng, c) for o, share, c in zip(own, shares, of_class, strict=True)])


def _share(m: int, sizes: NDArray[Any]) -> NDArray[np.intp]:
    """Return how many of m vectors each class gets: at least one, then in proportion to its rows."""
    shares = np.ones(len(sizes), dtype=np.intp)
    for _ in range(m - len(sizes)):
        shares[np.argmax(sizes / shares)] += 1
    return shares


def _centres(X: Array, m: int, rng: np.random.RandomState, counts: Array | None) -> Array:
    """Return m centres of k-means."""
    distinct = len(np.unique(X, axis=0))
    means = KMeans(min(m, distinct), n_init=1, random_state=rng).fit(X, sample_weight=counts)
    centres = means.cluster_centers_
    # With fewer distinct rows than vectors the rest start as copies, slightly moved so that each can go its own way.
    extra = centres[rng.randint(len(centres), size=m - len(centres))]
    return np.vstack([centres, extra + 1e-3 * (X.std() or 1.0) * rng.standard_normal(extra.shape)])


def start_projection(X: Array, Y: Array, p: int | None, weights: RowWeights | None = None) -> Array | None:
    """Return p orthonormal directions, as rows: the principal ones, with the scatter between classes counted more."""
    if p is None:
        return None
    if p > X.shape[1]:
        raise OptionError(f"projection to {p} dimensions was asked for, but there are only {X.shape[1]} features")
    counts = row_counts(weights)
    centred = X - weighted_mean(X, counts)
    owner = class_of(Y)
    own = [owner == k for k in np.unique(owner)]
    means = np.array([weighted_mean(centred[o], None if counts is None else counts[o]) for o in own])
    total = centred.T @ centred / len(X) if counts is None else (centred.T * counts) @ centred / counts.sum()
    scatter = total + BETWEEN_CLASSES_WEIGHT * (means.T @ means) / len(means)
    _, directions = np.linalg.eigh(scatter)
    return np.ascontiguousarray(directions[:, ::-1][:, :p].T)


def class_of(Y: Array) -> NDArray[np.intp]:
    """Return the class index of each row of signs."""
    return np.argmax(Y, axis=1) if Y.shape[1] > 1 else (Y[:, 0] > 0).astype(np.intp)


def column_means(X: NDArray[Any], weights: RowWeights | None = None) -> Array:
    """Return the mean of every column, summed in float64 whatever the type of the rows."""
    return weighted_mean(X, row_counts(weights))
