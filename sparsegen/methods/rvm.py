"""RVM, the relevance vector machine (Tipping 2001; [W05, section 6.3]): a Bayesian choice among the training rows.

    f(x) = sum_j w_j K(x_j, x) + b,   p(y = 1 | x) = 1 / (1 + exp(-f(x))),   w_j ~ N(0, 1 / alpha_j)

The precisions alpha maximise the evidence of the labels; most become infinite, and the rows of the others are the
expansion vectors. Training decides their number: there is no C and no ``n_vectors``. See ``solvers.rvm``.

There being no loss to weigh, a row of weight c counts as c observations: its factor of ``p(t | w)`` is taken to the
power c. ``class_weight`` therefore also says how much evidence there is: with large weights more rows become vectors.

Note: one machine per class; a row that several machines use is stored once.
Note: the kernel matrix of all rows with all candidates is held in memory, hence ``n_candidates``.
Note: the solver is that of Tipping and Faul (2003), which starts with no row and adds; Tipping (2001) starts with all.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sparsegen import progress
from sparsegen.arrays import Array
from sparsegen.kernels import BoundKernel
from sparsegen.methods import METHODS
from sparsegen.methods.shared.estimator import Expansion, SingleKernelClassifier, warn_unsolved
from sparsegen.methods.shared.expand import expand
from sparsegen.methods.shared.parameters import POSITIVE, parameter, whole
from sparsegen.methods.shared.row_weights import RowWeights
from sparsegen.solvers.rvm import RvmSolution, solve

START_ROWS = 10


@METHODS.register("rvm")
class RVM(SingleKernelClassifier):
    """Relevance vector machine: few training rows, chosen by their evidence; only the kernel needs setting."""

    method = "rvm"
    summary = "relevance vector machine: few rows chosen by their evidence; no C"

    n_candidates: int = parameter(2000, "most different rows, drawn at random, that may become vectors", whole(1))
    n_init: int = parameter(
        2,
        "number of starts, the first with no row and others with ten random ones; the largest evidence wins",
        whole(1),
    )
    max_iter: int = parameter(
        1000, "most changes (a row added, deleted or given another precision) per machine and start", whole(1)
    )
    tol: float = parameter(
        1e-3,
        "training stops when no single change is expected to gain more log evidence than this; the gain is estimated "
        "with the curvature of the likelihood held fixed, and a row is deleted three times at most",
        POSITIVE,
    )

    def _train(
        self, X: Array, Y: Array, kernel: BoundKernel, rng: np.random.RandomState, weights: RowWeights | None
    ) -> Expansion:
        rows = self._candidates(X, rng)
        P = kernel.gram(X, X[rows])
        c = None if weights is None else weights.loss
        size = np.sqrt(np.mean(P**2, axis=0) if c is None else c @ P**2 / c.sum())
        size[size == 0.0] = 1.0
        P /= size  # weights and precisions of columns that are all of size 1
        n_outputs = Y.shape[1]
        coef, intercept = np.zeros((n_outputs, len(X))), np.zeros(n_outputs)
        iterations, evidence, unsolved = 0, 0.0, 0
        for k in range(n_outputs):
            title = "training rvm" + (f", machine {k + 1} of {n_outputs}" if n_outputs > 1 else "")
            found = self._best_start(P, (Y[:, k] + 1.0) / 2.0, c, rng, title)
            coef[k, rows[found.used]] = found.weights / size[found.used]
            intercept[k] = found.bias
            iterations, evidence = max(iterations, found.iterations), evidence + found.evidence
            unsolved += not found.solved
        if unsolved:
            warn_unsolved(
                f"{unsolved} of {n_outputs} machines reached max_iter={self.max_iter} changes; raise it, or tol"
            )
        facts = {"iterations": iterations, "evidence": evidence, "unsolved_machines": unsolved}
        return expand(X, coef, intercept, facts)

    def _best_start(self, P: Array, t: Array, c: Array | None, rng: np.random.RandomState, title: str) -> RvmSolution:
        """Return the solution of largest evidence."""
        found = []
        for start in range(self.n_init):
            columns = None if start == 0 else rng.permutation(P.shape[1])[:START_ROWS]
            name = title + (f", start {start + 1} of {self.n_init}" if self.n_init > 1 else "")
            with progress.task(name, self.max_iter) as advance:
                found.append(solve(P, t, self.max_iter, self.tol, columns, _remark(advance), c))
        return max(found, key=lambda solution: solution.evidence)

    def _candidates(self, X: Array, rng: np.random.RandomState) -> NDArray[np.intp]:
        """Return the first of each group of equal rows, in order; at most ``n_candidates`` of them."""
        _, first = np.unique(X, axis=0, return_index=True)
        if len(first) > self.n_candidates:
            first = rng.choice(first, self.n_candidates, replace=False)
        return np.sort(first).astype(np.intp)


def _remark(advance: progress.Advance) -> Callable[[float], None]:
    return lambda evidence: advance(f"log evidence {evidence:.5g}")
