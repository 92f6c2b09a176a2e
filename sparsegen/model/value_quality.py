"""How far values are from the true ones on rows, with an interval for other rows, and how far the mean would be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen.arrays import Array
from sparsegen.promised import at_least, bound

RESAMPLES = 1000
MOST_RESAMPLED = 4096
"""Rows, or groups, beyond which they are first added up at random into so many parts: what is resampled stays quick."""
ENDS = (2.5, 97.5)
"""Percentiles of the bootstrap, the ends of a 95 % interval."""


@dataclass(frozen=True)
class ValueQuality:
    """Errors of values: the lower, the better; but for R2, which is 1 where there is none."""

    rows: int
    mae: float
    """Mean absolute error."""
    rmse: float
    """Root of the mean squared error."""
    r2: float | None
    """Share of the variance of the true values that is explained; ``None`` where they are all the same."""
    mae_low: float
    """Where the 95 % interval of the mean absolute error begins, by bootstrap."""
    mae_high: float
    mean_mae: float | None = None
    """The mean absolute error of one value for every row, the mean of the training rows; ``None`` where not known."""
    groups: int | None = None
    """How many groups the rows belong to: these, and not single rows, were drawn for the interval."""
    copies: int = 0
    """How many of the rows are copies of training rows, whose values may have been learned by heart."""

    def as_json(self) -> dict[str, Any]:
        """Return plain values for the model card."""
        return asdict(self)

    def __str__(self) -> str:
        return f"{self.figures} on {self.rows} rows{self._in_groups} ({self.in_words()})"

    @property
    def figures(self) -> str:
        """The errors, each rounded to the side of the larger one."""
        explained = "" if self.r2 is None else f"R2 {at_least(self.r2)}, "
        return f"{explained}mean error {bound(self.mae)}, RMSE {bound(self.rmse)}"

    @property
    def _in_groups(self) -> str:
        return "" if self.groups is None else f" in {self.groups} groups"

    def in_words(self, *, may_be_known: bool = False) -> str:
        """Return the interval of the mean error with its condition; the model may know the rows from training."""
        unit = "rows" if self.groups is None else "groups of rows"
        condition = f"{unit} are independent" + (" and were never trained on" if may_be_known else "")
        are = "is a copy" if self.copies == 1 else "are copies"
        known = f", but {self.copies} {are} of training rows" if self.copies else ""
        ends = f"{at_least(self.mae_low)} to {bound(self.mae_high)}"
        return f"mean error: estimated 95 % interval {ends} if {condition}{known}"


def measure_values(
    values: Array,
    truth: Array,
    *,
    mean: float | None = None,
    groups: NDArray[Any] | None = None,
    copies: int = 0,
    seed: int = 0,
) -> ValueQuality:
    """Return the errors of values; ``mean`` is that of the training rows. Rows of one group are drawn together."""
    errors = np.abs(values - truth)
    spread = float(((truth - truth.mean()) ** 2).sum())
    low, high = _interval(errors, groups, seed)
    return ValueQuality(
        len(truth),
        float(errors.mean()),
        float(np.sqrt((errors**2).mean())),
        1.0 - float((errors**2).sum()) / spread if spread > 0.0 else None,
        low,
        high,
        None if mean is None else float(np.abs(truth - mean).mean()),
        None if groups is None else len(np.unique(groups)),
        copies,
    )


def known_values(card: Mapping[str, Any]) -> ValueQuality | None:
    """Return the errors on test rows that a checked card tells of."""
    found = card.get("values")
    return None if found is None else ValueQuality(**found)


def _interval(errors: Array, groups: NDArray[Any] | None, seed: int) -> tuple[float, float]:
    """Return the 95 % interval of the mean error by bootstrap: rows, or groups, drawn again with replacement."""
    part = np.arange(len(errors)) if groups is None else np.unique(groups, return_inverse=True)[1]
    sums, sizes = np.bincount(part, weights=errors), np.bincount(part)
    order = np.lexsort((sizes, sums))  # the same rows give the same interval, in whatever order they come
    sums, sizes = sums[order], sizes[order]
    rng = np.random.default_rng(seed)
    if (n := len(sums)) > MOST_RESAMPLED:
        pooled = rng.permutation(np.arange(n) % MOST_RESAMPLED)
        n = MOST_RESAMPLED
        sums, sizes = np.bincount(pooled, weights=sums, minlength=n), np.bincount(pooled, weights=sizes, minlength=n)
    means = np.empty(RESAMPLES)
    for i in range(RESAMPLES):
        drawn = rng.integers(0, n, n)
        means[i] = sums[drawn].sum() / sizes[drawn].sum()
    low, high = np.percentile(means, ENDS)
    return float(low), float(high)
