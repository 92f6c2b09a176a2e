"""Incremental Cholesky factorisation of a Gram matrix that is never formed: its linearly independent rows.

    H = L L'                                                                                   [I08, eq. 9]
    L_op = (H_op - sum_n L_pn L_on) / L_pp,   L_aa = sqrt(H_aa - sum_n L_an^2)                 [I08, eq. 10, 11]

A row a whose ``H_aa - sum_n L_an^2 <= eta`` depends on the rows before it and is left out [I08, eq. 12]. The factor is
kept for all n rows but only for the m columns of the rows taken, so memory is O(n m) and time O(n m^2).

Symbols: H (n, n) Gram matrix, L (n, m) factor, residual (n,) = ``H_aa - sum_n L_an^2``: the squared distance, in the
feature space, of each row to the span of those taken.

Note: a residual that is rounding error of its own ``H_aa`` counts as zero, however small eta is.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sparsegen.arrays import Array

ROUNDING = 1e-12  # share of H_aa below which a residual is rounding error
FIRST_COLUMNS = 16


class IncrementalCholesky:
    """The factor so far; ask for :meth:`next_row`, give its Gram column to :meth:`add`."""

    def __init__(
        self, diagonal: Array, eta: float, *, pivoted: bool, rounding: float = ROUNDING, known: Array | None = None
    ) -> None:
        """``known`` are columns of L that belong to rows elsewhere, which were taken before."""
        self.residual = diagonal.copy()
        self._floor = np.maximum(eta, rounding * diagonal)
        self._pivoted = pivoted
        self._rows: list[int] = []
        self._before = 0 if known is None else known.shape[1]
        self._L = np.empty((len(diagonal), self._before + FIRST_COLUMNS), order="F")
        if known is not None:
            self._L[:, : self._before] = known
            self.residual -= (known**2).sum(axis=1)

    @property
    def rows(self) -> NDArray[np.intp]:
        """Rows taken, in the order they were taken."""
        return np.array(self._rows, dtype=np.intp)

    @property
    def factor(self) -> Array:
        """L (n, m); ``L[rows]`` is lower triangular, apart from the columns of rows elsewhere."""
        return self._L[:, : self._before + len(self._rows)]

    def next_row(self) -> int | None:
        """Return the next independent row, in row order or (pivoted) the most independent one; None if there is none.

        A row that was passed over stays dependent: later rows only enlarge the span.
        """
        above = self.residual > self._floor
        if not above.any():
            return None
        return int(np.argmax(np.where(above, self.residual, -np.inf)) if self._pivoted else np.argmax(above))

    def add(self, row: int, column: Array) -> None:
        """Take ``row``, whose column of H is ``column`` (n,)."""
        m = self._before + len(self._rows)
        if m == self._L.shape[1]:
            self._L = np.concatenate([self._L, np.empty_like(self._L)], axis=1).copy(order="F")
        new = self._L[:, m]
        np.subtract(column, self._L[:, :m] @ self._L[row, :m], out=new)  # [I08, eq. 10]
        new /= np.sqrt(self.residual[row])
        new[row] = np.sqrt(self.residual[row])  # [I08, eq. 11]
        new[self._rows] = 0.0  # above the diagonal; what is there is rounding error
        self.residual -= new**2
        self._rows.append(row)
        self.residual[self._rows] = 0.0  # taken; rounding must not offer it again
