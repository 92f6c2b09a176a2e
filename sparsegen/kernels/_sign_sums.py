"""The loop of the L1 gradient."""

from __future__ import annotations

from sparsegen.arrays import Array
from sparsegen.compiled import compiled


@compiled
def sign_sums(B: Array, X: Array, Z: Array, out: Array) -> None:
    """Add ``sum_i B[i, u] * sign(Z[u, v] - X[i, v])`` to ``out[u, v]``."""
    for i in range(X.shape[0]):
        for u in range(Z.shape[0]):
            weight = B[i, u]
            for v in range(Z.shape[1]):
                difference = Z[u, v] - X[i, v]
                if difference > 0.0:
                    out[u, v] += weight
                elif difference < 0.0:
                    out[u, v] -= weight
