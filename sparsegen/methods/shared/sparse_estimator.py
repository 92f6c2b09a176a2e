"""What every estimator shares, whatever its task: the kernel and its parameters, the expansion, the card.

A method for classes subclasses the classifiers of ``shared.estimator``, one for values the regressor of
``shared.regressor``.
"""

from __future__ import annotations

import inspect
from abc import abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from sparsegen.arrays import Array
from sparsegen.errors import OptionError
from sparsegen.kernels import KERNELS, BoundKernel
from sparsegen.methods.shared.parameters import POSITIVE, Parameterized, one_of, parameter
from sparsegen.methods.shared.row_weights import weighted_mean
from sparsegen.model import SparseModel, Transform
from sparsegen.model.task import CLASSIFICATION
from sparsegen.solvers.blocks import row_slices
from sparsegen.version import __version__

VARIANCE_ROWS = 4096  # at once, so that no copy of all rows is made

if TYPE_CHECKING:

    class Estimator:
        """What scikit-learn, which has no types, gives an estimator; with it mypy checks every constructor call."""

        feature_names_in_: NDArray[Any]
        n_features_in_: int

        def get_params(self, deep: bool = True) -> dict[str, Any]: ...  # noqa: D102
        def set_params(self, **parameters: Any) -> Self: ...  # noqa: D102
else:

    class Estimator(BaseEstimator):
        """scikit-learn's estimator."""


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

    def transform(self, n_features: int) -> Transform:
        """Return what stands in front of the kernels."""
        offset = np.zeros(n_features) if self.offset is None else self.offset
        scale = np.ones(n_features) if self.scale is None else self.scale
        return Transform(offset, scale, self.projection)

    @property
    def coef_by_kernel(self) -> Array:
        """The coefficients, (n_outputs, n_kernels, m)."""
        return self.coef if self.coef.ndim == 3 else self.coef[:, None, :]


class SparseEstimator(Parameterized, Estimator):
    """A kernel machine with few expansion vectors: what does not depend on what its scores are for."""

    method: ClassVar[str]
    """Its name in METHODS."""
    summary: ClassVar[str]
    """One line for ``sparsegen list methods``."""
    task: ClassVar[str] = CLASSIFICATION
    """What it trains for: one of ``model.task.TASKS``."""
    row_types: ClassVar[tuple[type, ...]] = (np.float64,)
    """Types of rows that training takes as they are; the first is what all others become."""
    searched: ClassVar[tuple[str, ...]] = ()
    """Those of gamma and C that ``sparsegen.train`` chooses by cross-validation where nobody says what they are."""
    unweighted: ClassVar[str] = ""
    """Why weights of rows mean nothing to the method; ``fit`` then refuses them."""
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
    random_state: Any = parameter(None, "seed; methods that draw nothing at random accept it too", "random_state")

    def __init_subclass__(cls, **options: Any) -> None:
        """Refuse a method that says neither how rows are weighed nor why they cannot be."""
        super().__init_subclass__(**options)
        if "weights" not in inspect.signature(cls._train).parameters:
            raise OptionError(
                f"_train of {cls.__name__} takes no weights of rows; let it take them as its last argument, or None, "
                "and set `unweighted` to the reason where the method has no use for them"
            )

    if TYPE_CHECKING:

        @property
        def model_(self) -> SparseModel:
            """The trained model, set by ``fit``."""

        @model_.setter
        def model_(self, model: SparseModel) -> None: ...

        def fit(self, X: ArrayLike, *known: Any, **more: Any) -> Self:
            """Train on rows and what is known of them, as the kind of estimator has it."""

    @abstractmethod
    def _train(self, *rows: Any, **known: Any) -> Expansion:
        """Return the expansion for checked rows and what is known of them; no ``weights`` are weights of 1."""

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

    def _scores(self, X: ArrayLike) -> Array:
        """Return the (n, n_outputs) scores of rows, once they are checked."""
        check_is_fitted(self)
        return self.model_.scores(validate_data(self, X, dtype=np.float64, reset=False))

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
        if counts is not None:
            card["sample_weights"] = {"low": float(counts.min()), "high": float(counts.max())}
        if hasattr(self, "feature_names_in_"):
            card["feature_names"] = [str(name) for name in self.feature_names_in_]
        return card


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
