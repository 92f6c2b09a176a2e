"""How many expansion vectors to use: a number, a share of the reference SVM's support vectors, or the default."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from sparsegen.arrays import Array
from sparsegen.data.labelled_parts import LabelledParts
from sparsegen.errors import OptionError
from sparsegen.kernels import BoundKernel
from sparsegen.methods.shared.libsvm import full_svm
from sparsegen.methods.shared.parameters import (
    BLOCK_ROWS,
    LOSS,
    LOSS_WEIGHT,
    MAX_ITER,
    SHARE,
    TOL,
    Parameterized,
    one_of,
    parameter,
    positional,
    whole,
)
from sparsegen.methods.shared.row_weights import RowWeights

DEFAULT_VECTORS = 16


def count_vectors(n_vectors: int | None, ratio: float | None, Y: Array, svm_coef: Callable[[], Array]) -> int:
    """Return the number of vectors for signs ``Y`` (n, n_outputs).

    ``svm_coef`` gives the reference SVM's coefficients (n_outputs, n); it is called only where ``ratio`` needs them.
    """
    if n_vectors is not None and ratio is not None:
        raise OptionError("n_vectors and ratio exclude each other; give one of them")
    if ratio is not None:
        support = np.count_nonzero(svm_coef().any(axis=0))
        return max(1, int(np.ceil(ratio * support - 1e-9)))
    return asked_or_default(n_vectors, Y)


def asked_or_default(n_vectors: int | None, Y: Array) -> int:
    """Return the number that was asked for, which the rows must allow, or the default for signs ``Y``."""
    n, n_outputs = len(Y), int(Y.shape[1])
    if n_vectors is None:
        return min(n, max(DEFAULT_VECTORS, 3 * n_outputs))
    check_n_vectors(n_vectors, n)
    return int(n_vectors)


def given_or_asked(n_vectors: int | None, init: str | ArrayLike, n: int) -> int:
    """Return how many vectors ``init`` holds, or how many were asked for to train on n rows without classes."""
    if isinstance(init, str):
        return asked_or_default(n_vectors, np.empty((n, 1)))
    given = len(np.atleast_1d(init))
    if n_vectors not in (None, given):
        raise OptionError(f"init holds {given} vectors; leave n_vectors out")
    return given


def check_n_vectors(n_vectors: int, n: int) -> None:
    """Raise an error if more vectors are asked for than there are rows."""
    if n_vectors > n:
        raise OptionError(f"{n_vectors} vectors were asked for, but there are only {n} rows to train on")


class CountedVectors(Parameterized):
    """The parameters of a method whose number of vectors is given."""

    n_vectors: int | None = positional(
        default=None,
        meaning="number of expansion vectors; ``None`` means ``max(16, 3 * n_classes)``, at most one per row",
        allowed=(whole(1),),
        kw_only=False,
    )
    ratio: float | None = parameter(
        None, "instead of ``n_vectors``, a share of the reference SVM's support vectors (0.1 is a tenth)", SHARE
    )
    C: float = LOSS_WEIGHT

    def _count_vectors(self, X: Array, Y: Array, kernel: BoundKernel, weights: RowWeights | None = None) -> int:
        def svm_coef() -> Array:
            return full_svm(np.asarray(X, np.float64), Y, kernel, self.C, weights=weights)[0]

        return count_vectors(self.n_vectors, self.ratio, Y, svm_coef)

    def _count_in_parts(self, rows: LabelledParts) -> int:
        if self.ratio is not None:
            raise OptionError("ratio needs the reference SVM, which needs all rows in memory; give n_vectors instead")
        n_outputs = 1 if len(rows.classes) == 2 else len(rows.classes)
        return asked_or_default(self.n_vectors, np.broadcast_to(0.0, (rows.n_rows, n_outputs)))


class MovableVectors(CountedVectors):
    """The parameters of a method that starts from given or chosen vectors and moves them."""

    loss: str = LOSS
    init: str | ArrayLike = parameter(
        "kmeans",
        'where the vectors start: ``"kmeans"`` (centres within each class), ``"random"`` rows, or an array of vectors',
        one_of("kmeans", "random"),
        "array-like",
    )
    optimize: str = parameter(
        "vectors",
        '``"vectors"`` moves the vectors; ``"coefficients"`` keeps them where they start [W05, 6.2], [H09, V-A]',
        one_of("vectors", "coefficients"),
    )
    max_iter: int = MAX_ITER
    tol: float = TOL
    block_rows: int | None = BLOCK_ROWS

    def _count_vectors(self, X: Array, Y: Array, kernel: BoundKernel, weights: RowWeights | None = None) -> int:
        if isinstance(self.init, str):
            return super()._count_vectors(X, Y, kernel, weights)
        return self._count_given()

    def _count_in_parts(self, rows: LabelledParts) -> int:
        return super()._count_in_parts(rows) if isinstance(self.init, str) else self._count_given()

    def _count_given(self) -> int:
        given = len(np.atleast_1d(self.init))
        if self.n_vectors not in (None, given) or self.ratio is not None:
            raise OptionError(f"init holds {given} vectors; leave n_vectors and ratio out")
        return given
