"""RSVM, the reduced support vector machine (Lee and Mangasarian 2001; [W05, section 6.2]): random rows as vectors.

    min_{beta, b}  1/2 beta'beta + sum_i loss(y_i (beta . psi_z(x_i) + b))

with m training rows drawn at random for Z. It is [W05, eq. 16] with ``beta'beta`` in place of ``beta' Kz beta``,
hence a linear machine on the kernel features ``psi_z(x) = K(Z, x)`` [W05, eq. 19].

Note: all classes share the rows.
Note: the problem is convex and solved exactly by a Newton method whose steps are bounded; there is no ``max_iter``.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sparsegen import progress
from sparsegen.arrays import Array
from sparsegen.data.labelled_parts import LabelledParts
from sparsegen.kernels import BoundKernel
from sparsegen.methods import METHODS
from sparsegen.methods.shared.count import CountedVectors
from sparsegen.methods.shared.estimator import Expansion, SingleKernelClassifier, warn_unsolved
from sparsegen.methods.shared.kernel_features import margin_machine
from sparsegen.methods.shared.parameters import BLOCK_ROWS, LOSS
from sparsegen.methods.shared.row_weights import RowWeights, loss_weight
from sparsegen.methods.shared.start import start_vectors
from sparsegen.solvers.blocks import RowBlocks, rows_per_block
from sparsegen.solvers.newton import Loss, solve

ARRAYS_PER_BLOCK = 4  # n x m arrays alive while a block is in use: base, kernel, rows picked out of it, a temporary


@METHODS.register("rsvm")
class RSVM(CountedVectors, SingleKernelClassifier):
    """Reduced SVM: random rows for vectors, a linear machine on their kernel features."""

    method = "rsvm"
    summary = "reduced SVM: random rows, a linear machine on their kernel features [W05, 6.2]"

    loss: str = replace(LOSS, default="hinge")
    block_rows: int | None = BLOCK_ROWS

    def _train(
        self, X: Array, Y: Array, kernel: BoundKernel, rng: np.random.RandomState, weights: RowWeights | None
    ) -> Expansion:
        m = self._count_vectors(X, Y, kernel, weights)
        Z = start_vectors(X, Y, m, "random", rng, weights)
        with progress.task(f"training {self.method}", 1) as advance:
            expansion = self._weigh(X, Y, kernel, Z, loss_weight(self.C, weights))
            advance(f"objective {expansion.facts['objective']:.5g}")
        return expansion

    def _train_in_parts(
        self, rows: LabelledParts, kernel: BoundKernel, rng: np.random.RandomState, by_class: Array
    ) -> Expansion:
        m = self._count_in_parts(rows)
        Z = rows.at(rng.choice(rows.n_rows, m, replace=False))
        return self._weigh_in_parts(rows, kernel, Z, float(self.C) * by_class)

    def _weigh_in_parts(self, rows: LabelledParts, kernel: BoundKernel, Z: Array, C: Array) -> Expansion:
        """Return the machine on the vectors Z; ``C`` are the weights of the classes."""
        return margin_machine(rows, kernel, Z, self.loss, C, 0)

    def _weigh(self, X: Array, Y: Array, kernel: BoundKernel, Z: Array, C: float | Array) -> Expansion:
        """Return the machine on the vectors Z; ``C`` may be one for each row."""
        step = self.block_rows or rows_per_block(len(Z), ARRAYS_PER_BLOCK)
        psi = RowBlocks(len(X), step, lambda rows: kernel.gram(X[rows], Z))
        solution = solve(psi, Y, len(Z), Loss(self.loss, C))
        if not solution.solved:
            warn_unsolved()
        return Expansion(Z, solution.V, solution.b, facts={"iterations": 0, "objective": solution.objective})
