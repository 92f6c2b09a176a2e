"""What integers cost in accuracy, and what is regained by re-solving the coefficients, and by rounding with feedback.

Digits and breast cancer come with scikit-learn (a third of the rows held out); ``--data`` adds USPS and letter with
their own test rows. Scales are chosen on the training rows, accuracies are measured on the test rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks import _report
from sparsegen import SLMC, from_sklearn
from sparsegen.lowering.agreement import agreement
from sparsegen.lowering.calibrate import calibrate
from sparsegen.lowering.collapse_linear import collapse_linear
from sparsegen.lowering.finish import columns, damped_hessian, finish
from sparsegen.lowering.formats import FLOAT_INPUT, INTEGERS
from sparsegen.lowering.guarantee import guarantee
from sparsegen.lowering.integer_program import IntegerProgram
from sparsegen.lowering.narrow_coefficients import narrow_coefficients, narrowed
from sparsegen.lowering.prune import prune
from sparsegen.lowering.quantize import quantize
from sparsegen.model import SparseModel
from sparsegen.promised import bound, percent, points

BUNDLED = {"digits": (load_digits, 30), "breast_cancer": (load_breast_cancer, 16)}
FILES = {"usps": 40, "letter": 100}
IMAGES = ("digits", "usps")  # whose pixels are alike and are left as they are


@dataclass(frozen=True)
class Rows:
    """A set with its test rows, and how many vectors its model has."""

    name: str
    X: NDArray[np.float64]
    y: NDArray[Any]
    X_test: NDArray[np.float64]
    y_test: NDArray[Any]
    vectors: int


@dataclass(frozen=True)
class Loss:
    """One integer format beside the real-valued model."""

    name: str
    dtype: str
    accuracy: float
    loss: float
    """Percentage points, after the finish."""
    loss_unfinished: float
    """Percentage points, with the model's own coefficients rounded."""
    loss_plain: float
    """Percentage points, with the re-solved coefficients rounded one by one, and the intercept that suits them."""
    same_labels: float
    margin: float
    """Score, or lead, beyond which no label can change."""


def main(arguments: Sequence[str]) -> str:
    """Return the table, or JSON."""
    options = _report.parser(__doc__ or "")
    options.add_argument("--max-iter", type=_report.count, default=40, help="of training")
    options.add_argument("--sets", nargs="+", choices=[*BUNDLED, *FILES], help="default: all that are available")
    chosen = options.parse_args(arguments)
    names = chosen.sets or [*BUNDLED, *(FILES if chosen.data is not None else {})]
    losses = []
    for name in _report.track(names, "integers", len(names)):
        rows = read(name, chosen.data, chosen.seed)
        losses += list(measure(rows, train(rows, chosen.max_iter, chosen.seed)))
    if chosen.json:
        return _report.as_json([asdict(loss) for loss in losses])
    header = [
        "set",
        "format",
        "accuracy",
        "points lost",
        "without the finish",
        "without feedback",
        "same label",
        "sure beyond",
    ]
    cells = [
        [x.name, x.dtype, percent(x.accuracy / 100.0), points(x.loss), points(x.loss_unfinished),
         points(x.loss_plain), percent(x.same_labels / 100.0), bound(x.margin)]
        for x in losses
    ]  # fmt: skip
    return _report.markdown(header, cells)


def read(name: str, folder: Path | None, seed: int) -> Rows:
    """Return a set's training and test rows."""
    if name in FILES:
        data = _report.arrays(folder, name)
        X, X_test = (data[key].astype(np.float64) for key in ("X_train", "X_test"))
        return Rows(name, X, data["y_train"], X_test, data["y_test"], FILES[name])
    load, vectors = BUNDLED[name]
    X, y = load(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, test_size=1 / 3, random_state=seed, stratify=y)
    return Rows(name, X, y, X_test, y_test, vectors)


def train(rows: Rows, max_iter: int, seed: int) -> SparseModel:
    """Return a model of the set."""
    machine = SLMC(rows.vectors, C=10.0, max_iter=max_iter, random_state=seed)
    scaler = "passthrough" if rows.name in IMAGES else StandardScaler()
    return from_sklearn(make_pipeline(scaler, machine).fit(rows.X, rows.y))


def measure(rows: Rows, model: SparseModel) -> Iterator[Loss]:
    """Yield what each integer format loses on the test rows."""
    seen = calibrate(model, rows.X)
    for numbers in INTEGERS:
        rough = quantize(collapse_linear(prune(model)), numbers, FLOAT_INPUT, seen)
        solved = finish(rough, model, rows.X)
        unfinished, finished = (narrow_coefficients(program, rows.X) for program in (rough, solved))
        programs = (unfinished, rounded_one_by_one(solved, model, rows.X), finished)
        before, plain, after = (agreement(program, model, rows.X_test, rows.y_test) for program in programs)
        yield Loss(
            rows.name,
            numbers.name,
            100.0 * float(after.accuracy or 0.0),
            after.loss,
            before.loss,
            plain.loss,
            100.0 * after.same_labels,
            guarantee(finished, model).margin,
        )


def rounded_one_by_one(program: IntegerProgram, model: SparseModel, X: NDArray[np.float64]) -> IntegerProgram:
    """Return the program with every coefficient rounded to its format's width by itself, and the best intercept."""
    if np.abs(program.coef).max() <= program.numbers.largest_coef:
        return program
    plain = narrowed(program, np.diag(np.diag(damped_hessian(columns(program, X)))))
    left = (model.scores(X) / plain.unit - plain.scores(plain.inputs(X))).mean(axis=0)
    return replace(plain, intercept=plain.intercept + np.rint(left).astype(np.int64))


if __name__ == "__main__":
    raise SystemExit(_report.run(main))
