"""Sparse one-class machines beside OneClassSVM: a tenth of its vectors, with its nu and its gamma.

Each problem calls one class normal and trains on its training rows only; the test has new rows of that class and rows
of all others. Breast cancer (benign is normal) and digits come with scikit-learn; ``--data`` adds USPS and shuttle.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

from benchmarks import _report
from sparsegen import from_sklearn
from sparsegen.bench import bench
from sparsegen.errors import ToolError
from sparsegen.lowering.formats import Format
from sparsegen.methods.slmo import SLMOneClass
from sparsegen.promised import percent

NU = 0.05
SHARE = 10  # of OneClassSVM's vectors, ours are one in so many
DEVICE = "cortex-m0plus"
MAX_ROWS = 5000  # for OneClassSVM, whose time grows faster than the rows
Rows = NDArray[np.float64]


@dataclass(frozen=True)
class Problem:
    """Normal rows to train on, and new ones among others to test on."""

    name: str
    X: Rows
    X_test: Rows
    normal: NDArray[np.bool_]


@dataclass(frozen=True)
class Row:
    """One machine on one problem."""

    problem: str
    machine: str
    vectors: int
    area: float
    """Under the curve of detections against false alarms."""
    false_alarms: float
    """Share of the new normal rows that are called anomalies."""
    detected: float
    """Share of the anomalies that are called so."""
    flash: int | None
    """Bytes of code and tables of the float32 export on the device; ``None`` where its compiler is missing."""
    seconds: float


def main(arguments: Sequence[str]) -> str:
    """Return the table."""
    options = _report.parser(__doc__ or "").parse_args(arguments)
    rows = [row for problem in problems(options.data, options.seed) for row in compare(problem, options.seed)]
    if options.json:
        return _report.as_json([asdict(row) for row in rows])
    header = ["normal rows", "machine", "vectors", "ROC area", "false alarms", "detected", f"flash ({DEVICE})", "CPU"]
    return _report.markdown(
        header,
        [
            [
                row.problem,
                row.machine,
                f"{row.vectors:,}",
                f"{row.area:.4f}",
                percent(row.false_alarms),
                percent(row.detected),
                "not measured" if row.flash is None else f"{row.flash:,} B",
                f"{row.seconds:.2f} s",
            ]
            for row in rows
        ],
        text=2,
    )


def problems(folder: Path | None, seed: int) -> Iterator[Problem]:
    """Yield the bundled problems, and with a folder those of its files."""
    for name, load, label in (
        ("breast_cancer, benign", load_breast_cancer, 1),
        *((f"digits, {digit}", load_digits, digit) for digit in (1, 8)),
    ):
        X, y = load(return_X_y=True)
        X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, random_state=seed, stratify=y)
        yield Problem(name, X[y == label], X_test, y_test == label)
    if folder is None:
        return
    for name, label in (("usps", 0), ("usps", 3), ("usps", 8), ("shuttle", 1)):
        given = _report.arrays(folder, name)
        X = given["X_train"][given["y_train"] == label].astype(np.float64)
        if len(X) > MAX_ROWS:
            X = X[np.random.default_rng(seed).choice(len(X), MAX_ROWS, replace=False)]
        yield Problem(f"{name}, {label}", X, given["X_test"].astype(np.float64), given["y_test"] == label)


def compare(problem: Problem, seed: int) -> Iterator[Row]:
    """Yield OneClassSVM, ours with a tenth of its vectors, and ours with vectors that stay where they start."""
    full = OneClassSVM(nu=NU, gamma="scale")
    yield tested(problem, "OneClassSVM", full)
    few = max(1, len(full.support_) // SHARE)
    yield tested(problem, "SLMOneClass", SLMOneClass(few, nu=NU, random_state=seed))
    still = SLMOneClass(few, nu=NU, random_state=seed, optimize="coefficients")
    yield tested(problem, "SLMOneClass, vectors not moved", still)


def tested(problem: Problem, name: str, machine: OneClassSVM | SLMOneClass) -> Row:
    """Return how a machine does on the test rows once it is trained."""
    began = time.process_time()
    pipeline = make_pipeline(StandardScaler(), machine).fit(problem.X)
    seconds = time.process_time() - began
    scores = pipeline.decision_function(problem.X_test)
    model = from_sklearn(pipeline)
    try:
        flash = bench(model, problem.X_test[:4], devices=[DEVICE], numbers=Format("f32"))[0].measurement.flash
    except ToolError:
        flash = None
    called = scores <= 0.0
    return Row(
        problem.name,
        name,
        model.n_vectors,
        float(roc_auc_score(problem.normal, scores)),
        float(called[problem.normal].mean()),
        float(called[~problem.normal].mean()),
        flash,
        seconds,
    )


if __name__ == "__main__":
    raise SystemExit(_report.run(main))
