"""The scikit-learn face that every method shares: checks, label coding, prediction, and the SparseModel behind it.

A method subclasses :class:`SingleKernelClassifier`, or :class:`SparseClassifier` if it mixes several kernels, declares
its parameters and supplies ``_train``; everything else that a user of scikit-learn expects is here.
"""

from __future__ import annotations

import inspect
import warnings
from abc import abstractmethod
from dataclasses import dataclass, field
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from sparsegen.arrays import Array
from sparsegen.data.dask_parts import is_dask
from sparsegen.data.labelled_parts import LabelledParts
from sparsegen.errors import DataError, OptionError
from sparsegen.kernels import KERNELS, BoundKernel
from sparsegen.methods.shared.parameters import NOT_NEGATIVE, POSITIVE, Parameterized, one_of, parameter, whole
from sparsegen.methods.shared.probability import calibrated
from sparsegen.methods.shared.row_weights import (
    BALANCED,
    RowWeights,
    checked_sample_weight,
    class_weights,
    row_weights,
    weighted_mean,
)
from sparsegen.methods.shared.sklearn_private import fit_context
from sparsegen.model import Label, SparseModel, Transform
from sparsegen.solvers.blocks import row_slices
from sparsegen.threads import one_thread
from sparsegen.version import __version__

VARIANCE_ROWS = 4096  # at once, so that no copy of all rows is made

if TYPE_CHECKING:

    class Classifier:
        """What scikit-learn, which has no types, gives a classifier; with it mypy checks every constructor call."""

        feature_names_in_: NDArray[Any]
        n_features_in_: int
        model_: SparseModel

        def get_params(self, deep: bool = True) -> dict[str, Any]: ...  # noqa: D102
        def set_params(self, **parameters: Any) -> Self: ...  # noqa: D102
        def _validate_params(self) -> None: ...
else:

    class Classifier(ClassifierMixin, BaseEstimator):
        """scikit-learn's classifier."""


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
    scale: Array | None = None
    """Factors of the features, in front of the kernels and of a projection."""
    kernels: tuple[BoundKernel, ...] | None = None
    """Given where training used other kernels than the one it was handed."""
    facts: dict[str, Any] = field(default_factory=dict)
    """What the card tells about the fit: iterations, objective, ..."""


def _gives_probabilities(estimator: SparseClassifier) -> bool:
    """Say whether an estimator has ``predict_proba``; raise what asking for it then shows where it has not."""
    if not estimator.probability:
        raise AttributeError("predict_proba is there only with probability=True, which takes five more fits")
    return True


class SparseClassifier(Parameterized, Classifier):
    """A kernel machine with few expansion vectors, behind scikit-learn's interface."""

    method: ClassVar[str]
    """Its name in METHODS."""
    summary: ClassVar[str]
    """One line for ``sparsegen list methods``."""
    row_types: ClassVar[tuple[type, ...]] = (np.float64,)
    """Types of rows that training takes as they are; the first is what all others become."""
    searched: ClassVar[tuple[str, ...]] = ()
    """Those of gamma and C that ``sparsegen.train`` chooses by cross-validation where nobody says what they are."""
    unweighted: ClassVar[str] = ""
    """Why ``sample_weight`` and ``class_weight`` mean nothing to the method; ``fit`` then refuses them."""
    needs_all_rows: ClassVar[str] = "it is not a sum over rows"
    """Why a method without ``_train_in_parts`` cannot train on rows in parts, such as a Dask array."""
    coefficient_formula: ClassVar[str] = ""
    """How ``K(Z, Z)^-1`` is part of the coefficients, with the equation; empty where it is not."""

    kernel: str = parameter("rbf", "name of a kernel", str)
    gamma: float | str = parameter(
        "scale",
        'scale of the kernel, whatever the kernel calls it; ``"scale"`` means ``1 / (n_features * X.var())``',
        one_of("scale"),
        POSITIVE,
    )
    kernel_params: dict[str, float] | None = parameter(
        None, "parameters of the kernel that have no argument of their own here, by name", dict
    )
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
    random_state: Any = parameter(None, "seed; methods that draw nothing at random accept it too", "random_state")

    def __init_subclass__(cls, **options: Any) -> None:
        """Refuse a method that says neither how rows are weighed nor why they cannot be."""
        super().__init_subclass__(**options)
        if "weights" not in inspect.signature(cls._train).parameters:
            raise OptionError(
                f"_train of {cls.__name__} takes no weights of rows; let it take them as its last argument, or None, "
                "and set `unweighted` to the reason where the method has no use for them"
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
        offset = np.zeros(n_features) if expansion.offset is None else expansion.offset
        scale = np.ones(n_features) if expansion.scale is None else expansion.scale
        self.model_ = SparseModel(
            vectors=expansion.vectors,
            coef=expansion.coef if expansion.coef.ndim == 3 else expansion.coef[:, None, :],
            intercept=expansion.intercept,
            kernels=expansion.kernels or (kernel,),
            transform=Transform(offset, scale, expansion.projection),
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
        check_is_fitted(self)
        scores = self.model_.scores(validate_data(self, X, dtype=np.float64, reset=False))
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

    def _bind_kernel(self, X: Array, counts: Array | None = None) -> BoundKernel:
        """Return the kernel with the parameters of this estimator."""
        family = KERNELS[self.kernel]
        values: dict[str, Any] = {}
        sources = {name: name for name in ("coef0", "degree") if hasattr(self, name) and name in family.parameters}
        if family.scale_parameter is not None:
            sources[family.scale_parameter] = "gamma"
        for name, source in sources.items():
            value = getattr(self, source)
            values[name] = scale_gamma(X, counts) if source == "gamma" and value == "scale" else float(value)
        if taken := sorted((set(family.parameters) - set(sources)) & set(self.get_params(deep=False))):
            both = f"kernel {self.kernel!r} and method {self.method!r} both have a parameter {taken[0]!r}"
            raise OptionError(f"{both}; rename the kernel's")
        for name, value in (self.kernel_params or {}).items():
            if name in sources:
                raise OptionError(f"kernel_params holds {name!r}; give it as {sources[name]} instead")
            values[str(name)] = value
        return family.bind(**values)

    def _card(self, expansion: Expansion, counts: Array | None) -> dict[str, Any]:
        params = {name: _plain(value) for name, value in sorted(self.get_params(deep=False).items())}
        for name in ("class_weight", "kernel_params"):  # most models have none, and a card need not say so
            if params.get(name) is None:
                params.pop(name, None)
        card = {"method": self.method, "parameters": params, "fit": expansion.facts, "sparsegen": __version__}
        if self.coefficient_formula:
            card["coefficients"] = f"{self.coefficient_formula}; no m x m matrix is stored"
        if self.class_weight is not None:
            by_class = zip(model_labels(self.classes_), self.class_weight_.tolist(), strict=True)
            card["class_weights"] = {str(label): weight for label, weight in by_class}
        if counts is not None:
            card["sample_weights"] = {"low": float(counts.min()), "high": float(counts.max())}
        if hasattr(self, "feature_names_in_"):
            card["feature_names"] = [str(name) for name in self.feature_names_in_]
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


def _plain(value: Any) -> Any:
    """Return a parameter as the card shows it: numbers, strings and mappings of them, anything else by its type."""
    if isinstance(value, dict):
        return {str(name): _plain(entry) for name, entry in value.items()}
    value = value.item() if isinstance(value, np.generic) else value
    return value if isinstance(value, int | float | str | None) else type(value).__name__


def scale_gamma(X: NDArray[Any], counts: Array | None = None) -> float:
    """Return what ``gamma="scale"`` stands for, ``1 / (n_features * X.var())``; 1 where no feature varies.

    A row counts as often as ``counts`` says.
    """
    centre = float(X.mean(dtype=np.float64)) if counts is None else float(weighted_mean(X, counts).mean())
    total = 0.0
    for rows in row_slices(len(X), VARIANCE_ROWS):
        squares = (X[rows] - centre) ** 2
        if counts is not None:
            squares *= counts[rows, None]
        total += float(squares.sum(dtype=np.float64))
    variance = total / (X.size if counts is None else counts.sum() * X.shape[1])
    return 1.0 / (X.shape[1] * variance) if variance > 0.0 else 1.0


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
