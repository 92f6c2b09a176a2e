"""What SMKC1, SMKC2 and MK-SVM share: the base kernels, and the sparse machine on several kernels [H09].

Both sparse machines are an SVM on features of K_1(Z, .), ..., K_M(Z, .) with weights mu on the simplex, W(Z, mu) is the
optimal objective summed over the outputs, and both have the score

    f(x) = sum_k mu_k beta_k . psi_k(x) + b,      psi_k(x) = K_k(Z, x)

They differ in beta_k only: one beta for all kernels in SMKC1 [H09, eq. 21], one for each in SMKC2 [H09, eq. 28]. By the
envelope theorem, with a_i = alpha_i y_i and beta held fixed, the gradients are those of

    sum_k mu_k (1/2 beta_k' Kz_k beta_k - sum_i a_i beta_k . psi_k(x_i))

in Z and in mu, which equal [H09, eq. 20, 27, 29, 30] at the optimum.

Symbols: Z (m, d) vectors, M kernels, Kz_k = K_k(Z, Z) with its ridge, B (M, n_outputs, m) the beta_k, a (n, n_outputs).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sparsegen.arrays import Array
from sparsegen.errors import OptionError
from sparsegen.kernels import KERNELS, BoundKernel
from sparsegen.methods.shared.estimator import SparseClassifier
from sparsegen.methods.shared.mixture_rows import InnerSolution, MixtureRows, StackBlock
from sparsegen.methods.shared.parameters import LOSS_WEIGHT, one_of, parameter, whole
from sparsegen.methods.shared.ridge import RIDGE

GAMMA_STEP = 4.0  # ratio of neighbouring gammas [H09, V]

WEIGHT_SOLVER = parameter(
    "lp",
    'how weights are found: ``"lp"`` (linear programs) or ``"gradient"`` (projected gradients)',
    one_of("lp", "gradient"),
)


class MixtureClassifier(SparseClassifier):
    """A machine on several kernels of one family, which differ in scale and which it weighs.

    The kernel must depend on a distance only, be 1 at distance zero, and have a scale; ``gamma`` is the middle scale.
    """

    C: float = LOSS_WEIGHT
    n_kernels: int = parameter(5, "number of kernels; neighbouring gammas differ by a factor of 4", whole(1))
    gammas: ArrayLike | None = parameter(
        None,
        "instead of ``gamma`` and ``n_kernels``, the list of gammas; powers of two apart are cheap on a device",
        "array-like",
    )


def base_kernels(kernel: BoundKernel, n_kernels: int, gammas: ArrayLike | None) -> tuple[BoundKernel, ...]:
    """Return kernels with the given gammas, or around that of ``kernel`` by powers of four, smallest gamma first."""
    family = KERNELS[kernel.name]
    scale = family.scale_parameter
    if scale is None or not kernel.has_unit_diagonal:
        suitable = [name for name, one in KERNELS.items() if one.scale_parameter and one.bind().has_unit_diagonal]
        raise OptionError(
            f"kernel {kernel.name!r} cannot be mixed: it must depend on a distance only, be 1 at distance zero and "
            f"have a scale; choose one of: {', '.join(suitable)}"
        )
    if gammas is None:
        centre = dict(kernel.params)[scale]
        values = centre * GAMMA_STEP ** (np.arange(n_kernels) - n_kernels // 2)
    else:
        try:
            values = np.unique(np.asarray(gammas, dtype=np.float64))
        except ValueError:
            raise OptionError(f"gammas must be numbers, but is {gammas!s:.40}") from None
        if values.size == 0:
            raise OptionError("gammas is empty; give one number or more, or leave it out")
    return tuple(family.bind(**{**dict(kernel.params), scale: float(value)}) for value in values)


@dataclass(frozen=True)
class Optimum:
    """The machine for given vectors and weights."""

    B: Array
    """(M, n_outputs, m): the beta_k, also of kernels without weight"""
    coef: Array
    """(n_outputs, M, m): mu_k beta_k"""
    solution: InnerSolution
    features: MixtureFeatures
    pulled: Array | None
    """``sum_i a_i psi_k(x_i)`` (M, n_outputs, m), where it was needed"""


class MixtureObjective:
    """W(Z, mu) and its gradients, as sums over rows; remembers the last inner optimum to start from."""

    features: type[MixtureFeatures]
    """What the method trains on."""

    def __init__(self, rows: MixtureRows, kernels: tuple[BoundKernel, ...]) -> None:
        self.rows, self.kernels = rows, kernels
        self._last: tuple[Array, InnerSolution] | None = None
        self._kept: tuple[Array, StackBlock] | None = None

    def only(self, active: NDArray[np.intp]) -> MixtureObjective:
        """Return W on some of the kernels, with the inner optimum remembered: the others cost time even unweighted."""
        part = type(self)(self.rows.again(), tuple(self.kernels[k] for k in active))
        if self._last is not None:
            B, solution = self._last
            part._last = (B[active], solution)
        return part

    def in_weights(self, Z: Array, mu: Array) -> tuple[float, Array]:
        """Return W and its gradient in mu."""
        optimum = self.optimum(Z, mu)
        return optimum.solution.objective, self._slope_in_weights(Z, optimum)

    def in_both(self, Z: Array, mu: Array) -> tuple[float, Array, Array]:
        """Return W and its gradients in Z and in mu."""
        optimum = self.optimum(Z, mu)
        B, scaled = optimum.B, mu[:, None, None] * optimum.B
        gradient = self._of_vectors(Z).gradient(B.transpose(0, 2, 1) @ scaled)  # half of it for each argument
        gradient += self.rows.gradient(self.kernels, Z, optimum.features, optimum.solution, scaled)
        return optimum.solution.objective, gradient, self._slope_in_weights(Z, optimum)

    def _slope_in_weights(self, Z: Array, optimum: Optimum) -> Array:
        quadratic = np.einsum("kom,kmn,kon->k", optimum.B, self.ridged(Z), optimum.B)
        return np.asarray(0.5 * quadratic - np.einsum("kom,kom->k", optimum.B, self._pull(Z, optimum)))

    def optimum(self, Z: Array, mu: Array) -> Optimum:
        """Return the exact inner solution."""
        features = self.features(self.ridged(Z), mu)
        V, last = None, None
        if self._last is not None:
            B, last = self._last
            V = features.weights_of(B)
        solution = self.rows.solve(self.kernels, Z, features, V, last)
        pulled = self.rows.pull(self.kernels, Z, features, solution) if features.needs_pull else None
        coef, B = features.betas(solution.V, pulled)
        self._last = (B, solution)
        return Optimum(B, coef, solution, features, pulled)

    def ridged(self, Z: Array) -> Array:
        """Return Kz (M, m, m); the kernels are 1 on the diagonal, so the ridge does not depend on Z."""
        return np.asarray(self._of_vectors(Z).values + RIDGE * np.eye(len(Z)))

    def _pull(self, Z: Array, optimum: Optimum) -> Array:
        """Return ``sum_i a_i psi_k(x_i)`` (M, n_outputs, m)."""
        if optimum.pulled is not None:
            return optimum.pulled
        return self.rows.pull(self.kernels, Z, optimum.features, optimum.solution)

    def _of_vectors(self, Z: Array) -> StackBlock:
        """Return ``K_k(Z, Z)``, the same one until Z moves."""
        if self._kept is None or not np.array_equal(self._kept[0], Z):
            Z = Z.copy()
            self._kept = (Z, StackBlock(self.kernels, Z, Z))
        return self._kept[1]


class MixtureFeatures(ABC):
    """The features that a method's machine is trained on; ``Kz`` (M, m, m) has its ridge."""

    n_features: int
    needs_pull: ClassVar[bool] = False
    """Whether the beta_k depend on ``sum_i a_i psi_k(x_i)``."""

    def __init__(self, Kz: Array, mu: Array) -> None:
        self.mu = mu

    @abstractmethod
    def whiten(self, values: Array) -> Array:
        """Return the features (n, n_features) from ``values`` (M, n, m)."""

    @abstractmethod
    def weights_of(self, B: Array) -> Array:
        """Return the solver's weights V (n_outputs, n_features) of the beta_k."""

    @abstractmethod
    def betas(self, V: Array, pulled: Array | None) -> tuple[Array, Array]:
        """Return ``coef`` (n_outputs, M, m) and ``B`` (M, n_outputs, m) of the solver's weights and of the pull."""
