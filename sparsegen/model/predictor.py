"""A prepared predictor: the model's scores in a few microseconds a row, from machine code with all tables laid out.

``SparseModel.scores`` is made for many rows: for one, NumPy spends its time on starting operations. Here a model is
translated once into the steps of :mod:`._score_rows`, and a row is one call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sparsegen.arrays import Array
from sparsegen.errors import ModelError
from sparsegen.kernels.expression import Add, Base, Const, Exp, Exp2, Expr, Mul, Pow, Reciprocal, Sqrt
from sparsegen.model import _score_rows as code
from sparsegen.model._score_rows import score_rows
from sparsegen.model.decision import DECISIONS, class_indices

if TYPE_CHECKING:
    from sparsegen.model.sparse_model import Label, SparseModel

CODE_OF_BASE = {"dot": code.DOT, "sqdist": code.SQDIST, "l1dist": code.L1DIST}
CODE_OF_OPERATION: dict[type[Expr], int] = {
    Add: code.ADD,
    Mul: code.MULTIPLY,
    Exp: code.EXP,
    Exp2: code.EXP2,
    Reciprocal: code.RECIPROCAL,
    Sqrt: code.SQRT,
}


class Predictor:
    """Scores and predictions of raw rows, one or many; nothing changes after it is made, so threads may share it."""

    def __init__(self, model: SparseModel) -> None:
        steps = _Steps()
        for k, kernel in enumerate(model.kernels):
            steps.add(code.SCORE, steps.value_of(kernel.expression), k)
        projection = model.transform.projection
        self._tables = (
            np.stack([model.transform.offset, model.transform.scale]),
            np.empty((0, 0)) if projection is None else np.array(projection.T, order="C"),
            np.array(model.vectors.T, order="C"),
            np.array(model.coef.transpose(1, 2, 0), order="C"),
            np.array(model.intercept),
            np.array(steps.steps, dtype=np.int64),
            np.array(steps.constants, dtype=np.float64),
        )
        self._transform = model.transform
        self._classes, self._labels = model.classes, np.array(model.classes)
        self._decision = model.decision
        self._n_features, self._n_outputs = model.n_features, model.n_outputs
        self.scores(np.zeros(model.n_features))  # compiles, or loads what an earlier run compiled

    def scores(self, x: ArrayLike) -> Array:
        """Return the (n_outputs,) scores of one raw row, or the (n, n_outputs) scores of n."""
        X = np.ascontiguousarray(x, dtype=np.float64)
        if not X.flags.writeable:  # another type to Numba, which would compile once more for it
            X = X.copy()
        rows = X[np.newaxis] if X.ndim == 1 else X
        if rows.ndim != 2 or rows.shape[1] != self._n_features:
            d = self._n_features
            raise ModelError(f"a row must have shape ({d},) and rows (n, {d}), but the array has shape {X.shape}")
        out = np.empty((rows.shape[0], self._n_outputs))
        score_rows(self._transform.filled(rows), *self._tables, out)
        return out[0] if X.ndim == 1 else out

    def predict_index(self, x: ArrayLike) -> NDArray[np.int64] | int:
        """Return the class index of one raw row, or those of many; the first wins on ties."""
        scores = self.scores(x)
        if scores.ndim == 1:
            return int(class_indices(scores[np.newaxis], self._decision)[0])
        return class_indices(scores, self._decision)

    def predict(self, x: ArrayLike) -> NDArray[Any] | Label | float:
        """Return the label of one raw row, or an array of those of many; the values of a regression."""
        if not DECISIONS[self._decision].gives_classes:
            values = self.scores(x)[..., 0]
            return float(values) if values.ndim == 0 else np.asarray(values)
        indices = self.predict_index(x)
        return self._classes[indices] if isinstance(indices, int) else np.asarray(self._labels[indices])


class _Steps:
    """Kernels as steps, each of them computed once."""

    def __init__(self) -> None:
        self.steps: list[tuple[int, int, int]] = []
        self.constants: list[float] = []
        self._known: dict[Expr, int] = {}

    def add(self, operation: int, a: int = 0, b: int = 0, constant: float = 0.0) -> int:
        """Return the number of a new step."""
        self.steps.append((operation, a, b))
        self.constants.append(constant)
        return len(self.steps) - 1

    def value_of(self, expr: Expr) -> int:
        """Return the number of the step that gives the value of a bound expression."""
        if expr not in self._known:
            self._known[expr] = self._translate(expr)
        return self._known[expr]

    def _translate(self, expr: Expr) -> int:
        match expr:
            case Const(value):
                return self.add(code.CONSTANT, constant=value)
            case Base(name):
                return self.add(CODE_OF_BASE[name])
            case Pow(base, Const(exponent)):
                return self.add(code.POWER, self.value_of(base), constant=exponent)
        return self.add(CODE_OF_OPERATION[type(expr)], *(self.value_of(operand) for operand in expr.operands))
