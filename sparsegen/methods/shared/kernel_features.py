"""Linear machines on the kernel features ``psi_z(x) = K(Z, x)`` of rows in parts [W05, eq. 19], [I08, eq. 8]."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sparsegen.arrays import Array
from sparsegen.data.labelled_parts import CodedRows, LabelledParts
from sparsegen.kernels import BoundKernel
from sparsegen.methods.shared.estimator import Expansion, sign_matrix, warn_unsolved
from sparsegen.solvers.blocks import row_slices, rows_per_block
from sparsegen.solvers.newton_in_parts import MarginRows, PartsLoss, solve_in_parts

ARRAYS_PER_BLOCK = 4  # n x m arrays alive while a slice is computed
STEP_BYTES = 1 << 24


def gram_of_part(part: CodedRows, kernel: BoundKernel, Z: Array) -> Array:
    """Return ``K(X, Z)`` of a part's rows, computed slice by slice."""
    H = np.empty((len(part.X), len(Z)))
    for rows in row_slices(len(H), rows_per_block(len(Z), ARRAYS_PER_BLOCK, STEP_BYTES)):
        H[rows] = kernel.gram(np.asarray(part.X[rows], np.float64), Z)
    return H


def weights_of(index: NDArray[np.intp], C: Array) -> float | Array:
    """Return the weights of rows' losses from those of their classes: one number where all are equal."""
    return float(C[0]) if np.all(C[0] == C) else C[index]


def margin_rows(part: CodedRows, kernel: BoundKernel, Z: Array, C: Array) -> MarginRows:
    """Return a part's rows as a machine of margins sees them."""
    return MarginRows(gram_of_part(part, kernel, Z), sign_matrix(part.index, len(C)), weights_of(part.index, C))


def margin_machine(
    rows: LabelledParts, kernel: BoundKernel, Z: Array, loss: str, C: Array, iterations: int
) -> Expansion:
    """Return the machine with ``1/2 v'v`` and a loss of the margin, whose weights by class are C, on the vectors Z."""
    n_outputs = 1 if len(C) == 2 else len(C)
    about = PartsLoss(loss, float(C @ rows.of_class / rows.n_rows), rows.n_rows)
    found = solve_in_parts(rows.rows.then(margin_rows, kernel, Z, C), n_outputs, len(Z), about)
    if not found.solved:
        warn_unsolved()
    return Expansion(Z, found.V, found.b, facts={"iterations": iterations, "objective": found.objective})
