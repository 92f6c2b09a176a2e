"""Selection by Cholesky factorisation with rows deleted, on the full Gram matrix, as [I08, eq. 9-12] are written."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def select(H: Array, eta: float) -> tuple[list[int], Array]:
    """Return the rows kept, in row order, and the factor of their Gram matrix."""
    kept: list[int] = []
    L: list[list[float]] = []
    for a in range(len(H)):
        row: list[float] = []
        for p, other in enumerate(kept):
            row.append((H[a, other] - sum(L[p][n] * row[n] for n in range(p))) / L[p][p])
        square = H[a, a] - sum(value**2 for value in row)
        if square <= eta:
            continue
        kept.append(a)
        L.append([*row, float(np.sqrt(square))])
    factor = np.zeros((len(kept), len(kept)))
    for a, row in enumerate(L):
        factor[a, : len(row)] = row
    return kept, factor


def select_pivoted(H: Array, eta: float, m: int) -> list[int]:
    """Return up to m rows, each the farthest from the span of those before it, by projection."""
    kept: list[int] = []
    while len(kept) < m:
        Hkk, Hk = H[np.ix_(kept, kept)], H[kept]
        residual = np.diag(H) - np.einsum("ij,ij->j", Hk, np.linalg.solve(Hkk, Hk)) if kept else np.diag(H).copy()
        residual[kept] = 0.0
        if residual.max() <= eta:
            break
        kept.append(int(np.argmax(residual)))
    return kept
