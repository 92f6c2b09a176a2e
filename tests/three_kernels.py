"""Three Gaussians and their weights, for tests of machines with several kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen.kernels import KERNELS, BoundKernel
from sparsegen.methods.shared.estimator import SparseClassifier, sign_matrix
from sparsegen.methods.shared.mixture_rows import MixtureInMemory
from sparsegen.methods.shared.multiple_kernels import MixtureObjective
from sparsegen.solvers.newton import Loss

LOSSES = ("hinge", "squared_hinge")
GAMMAS = [0.1, 0.4, 1.6]
MU = np.array([0.2, 0.5, 0.3])


def stack(name: str = "rbf", gammas: list[float] = GAMMAS) -> tuple[BoundKernel, ...]:
    """Return one kernel for each gamma."""
    return tuple(KERNELS[name].bind(gamma=gamma) for gamma in gammas)


def signs(y: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return a column of signs for each class."""
    return sign_matrix(y, int(y.max()) + 1)


def fact(model: SparseClassifier, name: str) -> Any:
    """Return what training noted on the card."""
    return model.model_.card["fit"][name]


def over(
    kind: type[MixtureObjective],
    X: NDArray[Any],
    Y: NDArray[Any],
    kernels: tuple[BoundKernel, ...],
    loss: Loss,
    block_rows: int | None = None,
) -> MixtureObjective:
    """Return W of rows in memory."""
    return kind(MixtureInMemory(X, Y, loss, block_rows), kernels)
