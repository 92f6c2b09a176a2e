"""W(Z, P), the objective of sparse regression with the inner problem solved exactly, and its gradient.

It is that of SLMC with another loss: by the envelope theorem its gradient needs of the loss only what every row pulls.

Symbols: as in :mod:`sparsegen.methods.slmr`.
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
from sparsegen.solvers.tube import Tube, solve_tube


class SlmrObjective(SlmcObjective):
    """W(Z, P) and its gradient for targets y, as a sum over blocks of rows."""

    def __init__(
        self,
        X: NDArray[Any],
        y: Array,
        kernel: BoundKernel,
        tube: Tube,
        P0: Array | None = None,
        rho: float = 0.0,
        block_rows: int | None = None,
        offset: Array | None = None,
    ) -> None:
        # Signs of 1, so that alpha times the sign is the pull; of the hinge only the weights of rows would be used.
        signs, weights = np.ones((len(y), 1)), Loss("squared_hinge", tube.C)
        super().__init__(X, signs, kernel, weights, P0, rho, block_rows, offset)
        self.y, self.tube = y, tube

    def _optimum(self, features: RowBlocks[Array], n_features: int, start: Solution | None) -> Solution:
        first = None if start is None else (start.V[0], float(start.b[0]))
        found = solve_tube(features, self.y, n_features, self.tube, first)
        alpha = found.pull[:, None]
        return Solution(found.v[None], np.array([found.b]), alpha, found.objective, found.solved)
