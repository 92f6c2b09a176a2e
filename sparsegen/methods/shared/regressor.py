"""The scikit-learn face of methods for values: checks, the scale of the target, prediction, and the SparseModel.

Training sees targets of mean 0 and standard deviation 1, so that C and a tube mean the same whatever the unit. The
model gives values in the target's own unit: both are folded into its coefficients and its intercept.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from sparsegen.arrays import Array
from sparsegen.errors import DataError, OptionError
from sparsegen.kernels import BoundKernel
from sparsegen.methods.shared.parameters import NOT_NEGATIVE, parameter, whole
from sparsegen.methods.shared.row_weights import RowWeights, checked_sample_weight, weighted_mean, weighted_std
from sparsegen.methods.shared.sklearn_private import fit_context
from sparsegen.methods.shared.sparse_estimator import Expansion, SparseEstimator
from sparsegen.model import VALUE, SparseModel
from sparsegen.model.task import REGRESSION
from sparsegen.threads import one_thread

LARGEST_TARGET = 1e30
"""Beyond it squares of targets leave float64, and devices' float32."""
if TYPE_CHECKING:

    class Regressor:
        """scikit-learn's part in a regressor, which has no types."""

        def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float: ...  # noqa: D102
else:
    Regressor = RegressorMixin


class SparseRegressor(Regressor, SparseEstimator):
    """A kernel machine with few expansion vectors that gives values, behind scikit-learn's interface."""

    task = REGRESSION

    coef0: float = parameter(1.0, "constant term of a kernel that has one", NOT_NEGATIVE)
    degree: int = parameter(3, "power of a kernel that has one", whole(1))

    @fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Train on rows ``X`` with targets ``y``; a row counts as often as its sample weight says, 0 is never."""
        rows, values = validate_data(self, X, y, dtype=self.row_types, order="C", y_numeric=True)
        values = np.asarray(values, dtype=np.float64)
        counts = checked_sample_weight(sample_weight, len(rows))
        if counts is not None and self.unweighted:
            raise OptionError(f"method {self.method!r} cannot weigh rows: {self.unweighted}")
        if counts is not None and not counts.all():
            counted = counts > 0.0
            rows, values = rows[counted], values[counted]
            counts = None if np.all(counts[counted] == 1.0) else counts[counted]
        if np.abs(values).max() > LARGEST_TARGET:
            raise DataError(f"a target is beyond {LARGEST_TARGET:g}, which no device can give; rescale the targets")
        centre = float(weighted_mean(values[:, None], counts)[0])
        spread = weighted_std(values[:, None], counts) or 1.0
        kernel = self._bind_kernel(rows, counts)
        weights = None if counts is None else RowWeights(counts, counts)
        with one_thread():
            expansion = self._train(
                rows, (values - centre) / spread, kernel, check_random_state(self.random_state), weights
            )
        self.model_ = SparseModel(
            vectors=expansion.vectors,
            coef=spread * expansion.coef_by_kernel,
            intercept=spread * expansion.intercept + centre,
            kernels=expansion.kernels or (kernel,),
            transform=expansion.transform(rows.shape[1]),
            classes=(),
            task=REGRESSION,
            card={**self._card(expansion, counts), "target": {"mean": centre, "deviation": spread}},
            decision=VALUE,
        )
        self.n_iter_ = max(1, int(expansion.facts.get("iterations", 1)))
        return self

    @abstractmethod
    def _train(
        self, X: Array, y: Array, kernel: BoundKernel, rng: np.random.RandomState, weights: RowWeights | None
    ) -> Expansion:
        """Return the expansion for rows ``X`` and targets ``y`` (n,) of mean 0; no weights are weights of 1."""

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return values, in the unit of the targets."""
        return self._scores(X)[:, 0]
