"""The scikit-learn face of methods for anomalies: trained on normal rows, they tell whether another is like them."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import OutlierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from sparsegen.arrays import Array
from sparsegen.errors import OptionError
from sparsegen.kernels import BoundKernel
from sparsegen.methods.shared.parameters import SHARE, parameter
from sparsegen.methods.shared.row_weights import RowWeights, checked_sample_weight
from sparsegen.methods.shared.sklearn_private import fit_context
from sparsegen.methods.shared.sparse_estimator import Expansion, SparseEstimator
from sparsegen.model import SparseModel
from sparsegen.model.task import ANOMALY, ANOMALY_CLASSES
from sparsegen.threads import one_thread

if TYPE_CHECKING:

    class Detector:
        """scikit-learn's part in a detector of outliers, which has no types."""

        def fit_predict(self, X: ArrayLike, y: Any = None, **options: Any) -> NDArray[np.int64]: ...  # noqa: D102
else:
    Detector = OutlierMixin


class SparseDetector(Detector, SparseEstimator):
    """A kernel machine with few expansion vectors that tells anomalies, behind scikit-learn's interface."""

    task = ANOMALY

    nu: float = parameter(
        0.05,
        "at most this share of the training rows may lie outside; false alarms on new normal rows come near it",
        SHARE,
    )

    @fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: ArrayLike, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Train on normal rows ``X``, whatever ``y`` says; a row counts as often as its sample weight says."""
        rows = validate_data(self, X, dtype=self.row_types, order="C")
        counts = checked_sample_weight(sample_weight, len(rows))
        if counts is not None and self.unweighted:
            raise OptionError(f"method {self.method!r} cannot weigh rows: {self.unweighted}")
        if counts is not None and not counts.all():
            counted = counts > 0.0
            rows, counts = rows[counted], counts[counted]
        kernel = self._bind_kernel(rows, counts)
        weights = None if counts is None else RowWeights(counts, counts)
        with one_thread():
            expansion = self._train(rows, kernel, check_random_state(self.random_state), weights)
        self.model_ = SparseModel(
            vectors=expansion.vectors,
            coef=expansion.coef_by_kernel,
            intercept=expansion.intercept,
            kernels=expansion.kernels or (kernel,),
            transform=expansion.transform(rows.shape[1]),
            classes=ANOMALY_CLASSES,
            task=ANOMALY,
            card=self._card(expansion, counts),
        )
        self.n_iter_ = max(1, int(expansion.facts.get("iterations", 1)))
        return self

    @abstractmethod
    def _train(
        self, X: Array, kernel: BoundKernel, rng: np.random.RandomState, weights: RowWeights | None
    ) -> Expansion:
        """Return the expansion for normal rows ``X``: positive scores are normal; no weights are weights of 1."""

    @property
    def offset_(self) -> float:
        """What ``score_samples`` must exceed for a row to be normal."""
        check_is_fitted(self)
        return -float(self.model_.intercept[0])

    def decision_function(self, X: ArrayLike) -> Array:
        """Return scores (n,): positive for normal rows, negative for anomalies."""
        return self._scores(X)[:, 0]

    def score_samples(self, X: ArrayLike) -> Array:
        """Return how much like the training rows each row is: the score, and ``offset_``."""
        return self.decision_function(X) + self.offset_

    def predict(self, X: ArrayLike) -> NDArray[np.int64]:
        """Return 1 for normal rows and -1 for anomalies."""
        return np.where(self.decision_function(X) > 0.0, 1, -1)
