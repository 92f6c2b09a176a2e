"""The scikit-learn face that every method shares: checks, label coding, prediction, and the SparseModel behind it.

A method subclasses :class:`SingleKernelClassifier`, or :class:`SparseClassifier` if it mixes several kernels, declares
its parameters and supplies ``_train``; everything else that a user of scikit-learn expects is here.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from sparsegen.arrays import Array
from sparsegen.data.dask_parts import is_dask
from sparsegen.data.labelled_parts import LabelledParts
from sparsegen.errors import DataError, OptionError
from sparsegen.kernels import BoundKernel
from sparsegen.methods.shared.parameters import NOT_NEGATIVE, one_of, parameter, whole
from sparsegen.methods.shared.probability import calibrated
from sparsegen.methods.shared.row_weights import (
    BALANCED,
    RowWeights,
    checked_sample_weight,
    class_weights,
    row_weights,
)
from sparsegen.methods.shared.sklearn_private import fit_context
from sparsegen.methods.shared.sparse_estimator import Expansion, SparseEstimator, scale_gamma
from sparsegen.model import Label, SparseModel
from sparsegen.threads import one_thread

__all__ = [
    "Expansion",
    "SingleKernelClassifier",
    "SparseClassifier",
    "model_labels",
    "scale_gamma",
    "sign_matrix",
    "warn_unsolved",
]
if TYPE_CHECKING:

    class Classifier:
        """scikit-learn's part in a classifier, without types."""

        def _validate_params(self) -> None: ...
else:
    Classifier = ClassifierMixin


def _gives_probabilities(estimator: SparseClassifier) -> bool:
    """Say whether an estimator has ``predict_proba``; raise what asking for it then shows where it has not."""
    if not estimator.probability:
        raise AttributeError("predict_proba is there only with probability=True, which takes five more fits")
    return True


class SparseClassifier(Classifier, SparseEstimator):
    """A kernel machine with few expansion vectors, behind scikit-learn's interface."""

    needs_all_rows: ClassVar[str] = "it is not a sum over rows"
    """Why a method without ``_train_in_parts`` cannot train on rows in parts, such as a Dask array."""

    probability: bool = parameter(
        False,
        "also learn probabilities, on scores of rows that were left out: up to five more fits. The zero of a two-class "
        "score then moves to where both classes are equally probable",
        "boolean",
    )
    class_weight: dict[Any, float] | str | None = parameter(
        None,
        "what the loss of a class's rows is multiplied by: a mapping by label, in which a class left out has 1, or "
        '``"balanced"``, under which all classes have the same sum of weights and a row has 1 on average',
        dict,
        one_of(BALANCED),
    )

    @fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> Self:
        """Train on the rows of ``X`` with labels ``y``; a row counts as often as its sample weight says, 0 is never.

        Rows of one group are never both trained on and scored where ``probability`` is learned. A Dask array or data
        frame is trained on where its blocks are, by the methods whose objective is a sum over rows.
        """
        if is_dask(X):
            from sparsegen.methods.shared.fit_in_parts import fit_in_parts

            return fit_in_parts(self, X, y, sample_weight)
        rows, labels = validate_data(self, X, y, dtype=self.row_types, order="C")
        check_classification_targets(labels)
        counts = checked_sample_weight(sample_weight, len(rows))
        check_consistent_length(rows, groups)
        of_rows = None if groups is None else np.asarray(groups)
        if counts is not None and not counts.all():
            counted = counts > 0.0
            rows, labels = rows[counted], labels[counted]
            of_rows = None if of_rows is None else of_rows[counted]
            counts = None if np.all(counts[counted] == 1.0) else counts[counted]
        self.classes_, index = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise DataError(f"training needs two classes or more, but every row has the one class {self.classes_[0]!r}")
        self.class_weight_ = class_weights(self.class_weight, self.classes_, index, counts)
        weights = row_weights(counts, self.class_weight_, index)
        if weights is not None and self.unweighted:
            raise OptionError(f"method {self.method!r} cannot weigh rows: {self.unweighted}")
        kernel = self._bind_kernel(rows, counts)
        Y = sign_matrix(index, len(self.classes_))
        with one_thread():  # no fight over cores either
            expansion = self._train(rows, Y, kernel, check_random_state(self.random_state), weights)
        self._keep(expansion, kernel, rows.shape[1], counts)
        if self.probability:
            loss = None if weights is None else weights.loss
            self.model_ = calibrated(
                self, self.model_, rows, labels, groups=of_rows, sample_weight=counts, weights=loss
            )
        return self

    def _keep(self, expansion: Expansion, kernel: BoundKernel, n_features: int, counts: Array | None) -> None:
        """Set what a fitted estimator has."""
        self.model_ = SparseModel(
            vectors=expansion.vectors,
            coef=expansion.coef_by_kernel,
            intercept=expansion.intercept,
            kernels=expansion.kernels or (kernel,),
            transform=expansion.transform(n_features),
            classes=model_labels(self.classes_),
            card=self._card(expansion, counts),
        )
        self.n_iter_ = max(1, int(expansion.facts.get("iterations", 1)))

    @abstractmethod
    def _train(
        self, X: Array, Y: Array, kernel: BoundKernel, rng: np.random.RandomState, weights: RowWeights | None
    ) -> Expansion:
        """Return the expansion for rows ``X`` and signs ``Y`` (n, n_outputs); no weights are weights of 1."""

    def _train_in_parts(
        self, rows: LabelledParts, kernel: BoundKernel, rng: np.random.RandomState, by_class: Array
    ) -> Expansion:
        """Return the expansion for rows in parts; ``by_class`` multiplies the loss of each class's rows."""
        raise OptionError(
            f"method {self.method!r} cannot train on rows in parts: {self.needs_all_rows}; train on a sample in memory"
        )

    def decision_function(self, X: ArrayLike) -> Array:
        """Return scores: (n,) for two classes, (n, n_classes) for more."""
        scores = self._scores(X)
        return scores[:, 0] if self.model_.n_outputs == 1 else scores

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return labels."""
        check_is_fitted(self)
        index = self.model_.predict_index(validate_data(self, X, dtype=np.float64, reset=False))
        return np.asarray(self.classes_[index])

    @available_if(_gives_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: ArrayLike) -> Array:
        """Return (n, n_classes) probabilities; ``predict`` gives the class with the largest."""
        check_is_fitted(self)
        return self.model_.probabilities(validate_data(self, X, dtype=np.float64, reset=False))

    @available_if(_gives_probabilities)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: ArrayLike) -> Array:
        """Return (n, n_classes) logarithms of probabilities."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    def _card(self, expansion: Expansion, counts: Array | None) -> dict[str, Any]:
        card = super()._card(expansion, counts)
        if self.class_weight is not None:
            by_class = zip(model_labels(self.classes_), self.class_weight_.tolist(), strict=True)
            card["class_weights"] = {str(label): weight for label, weight in by_class}
        return card


class SingleKernelClassifier(SparseClassifier):
    """A machine on one kernel, which may be any."""

    coef0: float = parameter(1.0, "constant term of a kernel that has one", NOT_NEGATIVE)
    degree: int = parameter(3, "power of a kernel that has one", whole(1))


def warn_unsolved(
    sentence: str = "the coefficients could not be solved to full accuracy; scale the features or lower C",
) -> None:
    """Warn that training ended before it converged."""
    warnings.warn(sentence, ConvergenceWarning, stacklevel=3)


def sign_matrix(index: NDArray[np.intp], n_classes: int) -> Array:
    """Return (n, n_outputs) signs: one column for two classes, otherwise one-vs-rest."""
    if n_classes == 2:
        return np.where(index == 1, 1.0, -1.0)[:, None]
    return np.where(index[:, None] == np.arange(n_classes), 1.0, -1.0)


def model_labels(classes: NDArray[Any]) -> tuple[Label, ...]:
    """Return labels as a model holds them: Python integers where all are whole numbers, strings otherwise."""
    if all(isinstance(label, Real | np.bool_) and float(label).is_integer() for label in classes):
        return tuple(int(label) for label in classes)
    return tuple(str(label) for label in classes)
