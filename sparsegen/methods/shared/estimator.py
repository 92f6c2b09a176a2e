"""The scikit-learn face that every method shares: checking, label coding, prediction, and the SparseModel behind it.

A method subclasses :class:`SparseClassifier` in its own file and supplies ``_train``; everything a user of
scikit-learn expects is here.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import threadpool_limits

from sparsegen.arrays import Array
from sparsegen.errors import DataError
from sparsegen.kernels import KERNELS, BoundKernel
from sparsegen.model import Label, SparseModel, Transform
from sparsegen.version import __version__


@dataclass(frozen=True)
class Expansion:
    """What training gives: ``scores(x) = coef @ K(vectors, projection (x - offset)) + intercept``."""

    vectors: Array
    coef: Array
    """(n_outputs, m), with ``K_z^-1`` multiplied in [W05, eq. 33]; (n_outputs, n_kernels, m) for several kernels"""
    intercept: Array
    projection: Array | None = None
    offset: Array | None = None
    """Where the rows lie, for a projection; without one the kernels see the rows as they are."""
    kernels: tuple[BoundKernel, ...] | None = None
    """Given where training used other kernels than the one it was handed."""
    facts: dict[str, Any] = field(default_factory=dict)
    """What the card tells about the fit: iterations, objective, ..."""


class SparseClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A kernel machine with few expansion vectors, behind scikit-learn's interface."""

    method: ClassVar[str]
    """Its name in METHODS."""
    summary: ClassVar[str]
    """One line for ``sparsegen list methods``."""

    kernel: str
    gamma: float | str
    coef0: float
    degree: int
    random_state: Any

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kernel": [str],
        "gamma": [StrOptions({"scale"}), Interval(Real, 0.0, None, closed="neither")],
        "coef0": [Interval(Real, 0.0, None, closed="left")],
        "degree": [Interval(Integral, 1, None, closed="left")],
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "random_state": ["random_state"],
    }

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Train on the rows of ``X`` with labels ``y``."""
        rows, labels = validate_data(self, X, y, dtype=np.float64, order="C")
        check_classification_targets(labels)
        self.classes_, index = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise DataError(f"training needs two classes or more, but every row has the one class {self.classes_[0]!r}")
        kernel = self._bind_kernel(rows)
        Y = sign_matrix(index, len(self.classes_))
        with threadpool_limits(1):  # one order of sums, so the same bytes on any machine; no fight over cores
            expansion = self._train(rows, Y, kernel, check_random_state(self.random_state))
        offset = np.zeros(rows.shape[1]) if expansion.offset is None else expansion.offset
        self.model_ = SparseModel(
            vectors=expansion.vectors,
            coef=expansion.coef if expansion.coef.ndim == 3 else expansion.coef[:, None, :],
            intercept=expansion.intercept,
            kernels=expansion.kernels or (kernel,),
            transform=Transform(offset, np.ones(rows.shape[1]), expansion.projection),
            classes=plain_labels(self.classes_),
            card=self._card(expansion),
        )
        self.n_iter_ = max(1, int(expansion.facts.get("iterations", 1)))
        return self

    @abstractmethod
    def _train(self, X: Array, Y: Array, kernel: BoundKernel, rng: np.random.RandomState) -> Expansion:
        """Return the expansion for rows ``X`` and signs ``Y`` (n, n_outputs)."""

    def decision_function(self, X: ArrayLike) -> Array:
        """Return scores: (n,) for two classes, (n, n_classes) for more."""
        check_is_fitted(self)
        scores = self.model_.scores(validate_data(self, X, dtype=np.float64, reset=False))
        return scores[:, 0] if self.model_.n_outputs == 1 else scores

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return labels."""
        check_is_fitted(self)
        index = self.model_.predict_index(validate_data(self, X, dtype=np.float64, reset=False))
        return np.asarray(self.classes_[index])

    @property
    def vectors_(self) -> Array:
        """Expansion vectors (m, p)."""
        check_is_fitted(self)
        return self.model_.vectors

    @property
    def dual_coef_(self) -> Array:
        """Coefficients (n_outputs, m)."""
        check_is_fitted(self)
        return np.asarray(self.model_.coef.sum(axis=1))

    @property
    def intercept_(self) -> Array:
        """Intercepts (n_outputs,)."""
        check_is_fitted(self)
        return self.model_.intercept

    def _bind_kernel(self, X: Array) -> BoundKernel:
        family = KERNELS[self.kernel]
        values = {name: getattr(self, name) for name in family.parameters}
        if values.get("gamma") == "scale":
            values["gamma"] = scale_gamma(X)
        return family.bind(**{name: float(value) for name, value in values.items()})

    def _card(self, expansion: Expansion) -> dict[str, Any]:
        params = {name: _plain(value) for name, value in sorted(self.get_params(deep=False).items())}
        card = {"method": self.method, "parameters": params, "fit": expansion.facts, "sparsegen": __version__}
        if hasattr(self, "feature_names_in_"):
            card["feature_names"] = [str(name) for name in self.feature_names_in_]
        return card


def _plain(value: Any) -> Any:
    """Return a parameter as the card shows it: a number or string as it is, anything larger by its type."""
    value = value.item() if isinstance(value, np.generic) else value
    return value if isinstance(value, int | float | str | None) else type(value).__name__


def scale_gamma(X: Array) -> float:
    """Return what ``gamma="scale"`` stands for, ``1 / (n_features * X.var())``; 1 where no feature varies."""
    variance = float(X.var())
    return 1.0 / (X.shape[1] * variance) if variance > 0.0 else 1.0


def sign_matrix(index: NDArray[np.intp], n_classes: int) -> Array:
    """Return (n, n_outputs) signs: one column for two classes, otherwise one-vs-rest."""
    if n_classes == 2:
        return np.where(index == 1, 1.0, -1.0)[:, None]
    return np.where(index[:, None] == np.arange(n_classes), 1.0, -1.0)


def plain_labels(classes: NDArray[Any]) -> tuple[Label, ...]:
    """Return labels as Python integers where they are whole numbers, as strings otherwise."""
    if all(isinstance(label, Real | np.bool_) and float(label).is_integer() for label in classes):
        return tuple(int(label) for label in classes)
    return tuple(str(label) for label in classes)
