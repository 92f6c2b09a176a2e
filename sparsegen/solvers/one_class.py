"""One-class machines in a small feature space: the plane that holds most rows away from the origin, solved exactly.

    min_{v, rho}  1/2 v'v - rho + sum_i C_i max(0, rho - phi_i . v),      C_i > 0, sum_i C_i = 1 / nu

[S01]: B. Schölkopf et al., Estimating the support of a high-dimensional distribution, Neural Computation 13, 2001.
The objective is its eq. 5. At the optimum rows of at most nu of the weight lie outside (``phi_i . v < rho``), and rows
of at least nu of it lie outside or on the plane [S01, proposition 3].

It is the machine with hinge loss of ``solvers.newton``, with b = 1 - rho, all rows on one side and the origin as one
more row on the other: that row's loss is 1 + b = 2 - rho with weight 1, a straight line as long as rho < 2, which is
so where no phi_i is longer than 1: v is then a mean of them.

Symbols: Phi (n, m) whitened kernel features, v (m,) weights, alpha (n,) multipliers, with sum 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sparsegen.arrays import Array
from sparsegen.solvers.newton import Blocks, Loss, Solution, solve


@dataclass(frozen=True)
class OneClassSolution:
    """Weights, the plane's distance times their length, multipliers and objective at the optimum."""

    v: Array
    rho: float
    alpha: Array
    objective: float
    solved: bool = True
    """False where rounding or the bound on steps stopped the search before the tolerance was met."""


def solve_one_class(
    blocks: Blocks, C: Array, n_features: int, start: OneClassSolution | None = None
) -> OneClassSolution:
    """Return the optimum for the rows that ``blocks`` yields as ``(rows, Phi)``; it is iterated several times."""
    n = len(C)
    signs = np.append(np.ones(n), -1.0)[:, None]
    weights = Loss("hinge", np.append(C, 1.0))
    first = None
    if start is not None:
        alpha = np.append(start.alpha, 1.0)[:, None]
        first = Solution(start.v[None], np.array([1.0 - start.rho]), alpha, np.inf)
    found = solve(_WithOrigin(blocks, n, n_features), signs, n_features, weights, first)
    rho = 1.0 - float(found.b[0])
    return OneClassSolution(found.V[0], rho, found.alpha[:n, 0], found.objective - 2.0, found.solved)


@dataclass(frozen=True)
class _WithOrigin:
    """Blocks of rows, followed by the origin."""

    blocks: Blocks
    n: int
    n_features: int

    def __iter__(self) -> Iterator[tuple[slice, Array]]:
        yield from self.blocks
        yield slice(self.n, self.n + 1), np.zeros((1, self.n_features))
