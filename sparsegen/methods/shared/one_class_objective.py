"""W(Z, P), the objective of a sparse one-class machine with the inner problem solved exactly, and its gradient.

It is that of SLMC with another inner problem, whose optimum is a plane (v, rho) instead of (v, b).

Symbols: as in :mod:`sparsegen.methods.slmo`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen.arrays import Array
from sparsegen.kernels import BoundKernel
from sparsegen.methods.shared.slmc_objective import SlmcObjective
from sparsegen.solvers.blocks import RowBlocks
from sparsegen.solvers.newton import Loss, Solution
from sparsegen.solvers.one_class import OneClassSolution, solve_one_class


class OneClassObjective(SlmcObjective):
    """W(Z, P) and its gradient for rows that are all normal, as a sum over blocks of rows."""

    def __init__(
        self,
        X: NDArray[Any],
        C: Array,
        kernel: BoundKernel,
        P0: Array | None = None,
        rho: float = 0.0,
        block_rows: int | None = None,
        offset: Array | None = None,
    ) -> None:
        super().__init__(X, np.ones((len(X), 1)), kernel, Loss("hinge", C), P0, rho, block_rows, offset)
        self._C = C

    def _optimum(self, features: RowBlocks[Array], n_features: int, start: Solution | None) -> Solution:
        first = None
        if start is not None:
            first = OneClassSolution(start.V[0], -float(start.b[0]), start.alpha[:, 0], np.inf)
        found = solve_one_class(features, self._C, n_features, first)
        return Solution(found.v[None], np.array([-found.rho]), found.alpha[:, None], found.objective, found.solved)
