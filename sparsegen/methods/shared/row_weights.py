"""How much each training row counts: what ``sample_weight`` and ``class_weight`` come to.

    loss_i = sample_weight_i * class_weight(y_i)

weighs the loss of row i, in every output alike: row i has the ``C`` of its own, ``C loss_i``. A sample weight also says
how often a row counts where a method looks at rows alone: for ``gamma="scale"``, centres and random draws. A class
weight does not: it says what an error costs, not how many rows there are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sparsegen.arrays import Array
from sparsegen.errors import DataError, OptionError, nearest

BALANCED = "balanced"

Numbers = NDArray[Any]


@dataclass(frozen=True)
class RowWeights:
    """Weights of the training rows, all positive."""

    rows: Array | None
    """(n,) how often each row counts: ``sample_weight``; ``None`` is once"""
    loss: Array
    """(n,) what its loss is multiplied by: ``sample_weight * class_weight``"""

    def of(self, rows: NDArray[np.intp]) -> RowWeights:
        """Return the weights of some of the rows."""
        return RowWeights(None if self.rows is None else self.rows[rows], self.loss[rows])


def row_counts(weights: RowWeights | None) -> Array | None:
    """Return how often each row counts; ``None`` is once."""
    return None if weights is None else weights.rows


def loss_weight(C: float, weights: RowWeights | None) -> float | Array:
    """Return the weight of every row's loss: one number, or where rows have weights one each."""
    return float(C) if weights is None else float(C) * weights.loss


def checked_sample_weight(sample_weight: ArrayLike | None, n: int) -> Array | None:
    """Return a weight for each of n rows; ``None`` where all are 1."""
    if sample_weight is None:
        return None
    try:
        weights = np.array(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError("sample_weight must be numbers, one for each row") from None
    if weights.ndim == 0:
        weights = np.full(n, weights)
    if weights.shape != (n,):
        raise DataError(f"sample_weight must be one number for each of the {n} rows, but its shape is {weights.shape}")
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0.0)))
    if len(bad):
        raise DataError(f"sample_weight of row {bad[0]} is {weights[bad[0]]:g}, but must be a finite number >= 0")
    if not weights.any():
        raise DataError("every sample_weight is zero; give the rows that count a weight above zero")
    return None if np.all(weights == 1.0) else weights


def class_weights(
    class_weight: Mapping[Any, float] | str | None, classes: Numbers, index: NDArray[np.intp], rows: Array | None
) -> Array:
    """Return the weight of each class; a class that a mapping leaves out has weight 1.

    ``"balanced"`` gives all classes the same sum of weights, and a row 1 on average. ``index`` are the rows' classes,
    ``rows`` their sample weights.
    """
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, str):
        counts = np.bincount(index, weights=rows, minlength=len(classes))
        return np.asarray(counts.sum() / (len(classes) * counts))
    known = {label: k for k, label in enumerate(classes.tolist())}
    weights = np.ones(len(classes))
    for label, value in class_weight.items():
        number = float(value) if isinstance(value, int | float | np.number) else np.nan
        if not (np.isfinite(number) and number > 0.0):
            raise OptionError(
                f"class_weight of {label!r} is {value!r:.40}, but must be a finite number > 0; "
                "leave out the rows of a class that does not count"
            )
        if label in known:
            weights[known[label]] = number
    strange = [label for label in class_weight if label not in known]
    # A fold of a cross-validation may lack a class; where every class has its weight no name can have been mistyped.
    if strange and len(class_weight) - len(strange) < len(classes):
        names = [str(label) for label in known]
        raise OptionError(
            f"class_weight names a class {strange[0]!r:.40} that no row has{nearest(str(strange[0]), names)}; "
            f"the classes are: {', '.join(names[:10])}{', ...' if len(names) > 10 else ''}"
        )
    return weights


def row_weights(rows: Array | None, by_class: Array, index: NDArray[np.intp]) -> RowWeights | None:
    """Return the weights of rows from sample weights and those of the rows' classes; ``None`` where all are 1."""
    if rows is None and np.all(by_class == 1.0):
        return None
    return RowWeights(rows, by_class[index] if rows is None else rows * by_class[index])


# ---- Means of weighted rows; without weights, the same numbers to the bit as before there were any ------------------


def weighted_mean(X: Numbers, rows: Array | None) -> Array:
    """Return the mean of every column, summed in float64 whatever the type of the rows."""
    if rows is None:
        return np.asarray(X.mean(axis=0, dtype=np.float64))
    return np.asarray(np.einsum("i,ij->j", rows, X, dtype=np.float64) / rows.sum())


def weighted_std(X: Numbers, rows: Array | None) -> float:
    """Return the standard deviation of all entries."""
    if rows is None:
        return float(X.std())
    shares = rows / rows.sum()
    centre = float((shares @ X).mean())
    return float(np.sqrt((shares @ (X - centre) ** 2).mean()))
