"""Ways to choose the next basis function on one set: the machines of [K06], their cells and their curves."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.papers._folds import cross_validated_error
from benchmarks.papers._greedy_path import greedy_method, grow
from benchmarks.papers._k06_sets import positions, rows_of, sign_error
from benchmarks.papers._lab import Lab, Outcome
from benchmarks.papers._results import column
from benchmarks.papers._timing import few_rows
from benchmarks.papers.k06 import CLOSE, PAIR_ROWS, SELECTION_ROWS, Choice, choose, measure_svm
from sparsegen.arrays import Array
from sparsegen.methods.rsvm import RSVM
from sparsegen.methods.shared.estimator import scale_gamma

SPLITS = 5
"""Of the sets of the IDA repository."""
SIZES = (1, 2, 3, 4, 5, 7, 10, 14, 20, 28, 40, 50, 70, 100)
MORE_SIZES = (*SIZES, 140, 200)
"""Of random rows, so that twice as many as another machine needs are seen to be enough or not."""
SHOWN = (5, 10, 20, 50, 100)
RSVM_LAMBDAS = (50.0, 5.0, 0.5, 0.05, 5e-3, 5e-4, 5e-5, 5e-6)
RSVM_SELECTION_SIZE = 50
FEW_STEPS = 5
"""Newton steps below which [K06, 3.3] calls their number very small."""

GREEDY: dict[str, tuple[str, dict[str, Any]]] = {
    "SpSVM-1": ("spsvm", {"selection": 1}),
    "SpSVM-2": ("spsvm", {}),
    "MARK": ("mark", {}),
    "Smola": ("smola", {}),
    "GSVC": ("gsvc", {}),
    "random": ("spsvm", {"n_candidates": 1}),
    "KMP": ("kmp", {}),
    "MARK-LS": ("mark", {"loss": "squared"}),
}
SAME_OBJECTIVE = ("SpSVM-1", "SpSVM-2", "MARK", "Smola", "GSVC", "random")
"""They minimise [K06, eq. 4] and differ only in the rows they choose."""
MACHINES = (*SAME_OBJECTIVE, "RSVM", "KMP", "MARK-LS")


def follow(folder: Path | None, name: str, rule: str, position: int, lam: float, width: float) -> Outcome:
    """Return errors and objectives at the sizes, the share of short solutions, and seconds of training.

    Note: seconds are those of the largest of ``SIZES``, after a first machine on a few rows.
    """
    split = rows_of(folder, name, position, PAIR_ROWS)
    method, options = GREEDY[rule]
    common: dict[str, Any] = {"C": 0.5 / lam, "gamma": width * scale_gamma(split.X), "random_state": position}
    sizes = MORE_SIZES if rule == "random" else SIZES
    machine = greedy_method(method)(min(sizes[-1], len(split.X)), **common, **options)
    signs, few = split.y.astype(float), few_rows(split.y)
    list(grow(machine, split.X[few], signs[few], split.X[few]))  # compilers run before the clock starts
    stages = list(grow(machine, split.X, signs, split.X_test))
    at = [stages[min(size, len(stages)) - 1] for size in sizes]  # a machine that cannot grow any more stays as it is
    return {
        "errors": [round(sign_error(stage.scores, split.y_test), 3) for stage in at],
        "objectives": [stage.objective for stage in at],
        "few_steps": float(np.mean([stage.newton_steps < FEW_STEPS for stage in stages])),
        "seconds": at[len(SIZES) - 1].seconds,
    }


def select_rsvm(folder: Path | None, name: str, lam: float, width: float) -> Outcome:
    """Return RSVM's cross-validated error on the first split."""
    split = rows_of(folder, name, 0, SELECTION_ROWS)
    return {"error": cross_validated_error(_rsvm(split.X, RSVM_SELECTION_SIZE, lam, width, 0), split.X, split.y)}


def follow_rsvm(folder: Path | None, name: str, position: int, lam: float, width: float) -> Outcome:
    """Return RSVM's test errors at ``MORE_SIZES``."""
    split = rows_of(folder, name, position, PAIR_ROWS)
    sizes = [min(size, len(split.X)) for size in MORE_SIZES]
    fits = (_rsvm(split.X, size, lam, width, position).fit(split.X, split.y) for size in sizes)
    return {"errors": [round(split.error(machine), 3) for machine in fits]}


def _rsvm(X: Array, size: int, lam: float, width: float, seed: int) -> RSVM:
    return RSVM(size, C=0.5 / lam, loss="squared_hinge", gamma=width * scale_gamma(X), random_state=seed)


@dataclass(frozen=True)
class Curve:
    """One machine on one set: means over the splits."""

    errors: Array
    """At ``SIZES``, or at ``MORE_SIZES``."""
    over_optimum: float = np.nan
    """How many percent the objective at the largest of ``SIZES`` exceeds the full SVM's."""
    mean_over_optimum: float = np.nan
    """The same, in the mean over ``SHOWN``."""
    cost: float = np.nan
    """Over SpSVM-2's."""
    few_steps: float = np.nan
    """The share of solutions with fewer than ``FEW_STEPS`` Newton steps."""

    def error(self, size: int) -> float:
        """Return the mean error at a size."""
        return float(self.errors[SIZES.index(size)])

    @property
    def height(self) -> float:
        """The mean error over the sizes shown."""
        return float(np.mean([self.error(size) for size in SHOWN]))

    def needs(self, svm: float) -> float:
        """Return the smallest size whose error is close to the SVM's; infinite if there is none."""
        close = np.flatnonzero(self.errors <= svm + CLOSE)
        return float(MORE_SIZES[close[0]]) if len(close) else np.inf


@dataclass(frozen=True)
class Comparison:
    """All machines on one set."""

    choice: Choice
    svm: float
    """The mean error of the full SVM."""
    n_support: float
    curves: dict[str, Curve]

    def needs(self, machine: str) -> float:
        """Return how many basis functions a machine needs to be close to the SVM."""
        return self.curves[machine].needs(self.svm)

    def needs_text(self, machine: str) -> str:
        """Return the same as it is shown."""
        needed = self.needs(machine)
        return f"{needed:.0f}" if np.isfinite(needed) else f"over {MORE_SIZES[len(self.curves[machine].errors) - 1]}"


def compare(lab: Lab, name: str) -> Comparison:
    """Return the comparison on one set."""
    choice = choose(lab, "SVM", name, 1)
    where = positions(lab, name)[:SPLITS]
    svm = lab.map(measure_svm, [{"name": name, "position": p, **asdict(choice)} for p in where], f"{name}: SVM")
    parameters = {"name": name, "lam": choice.lam, "width": choice.width}
    cases = [{**parameters, "rule": machine, "position": p} for machine in GREEDY for p in where]
    outcomes = lab.map(follow, cases, f"{name}: greedy machines")
    found = {machine: outcomes[k * len(where) : (k + 1) * len(where)] for k, machine in enumerate(GREEDY)}
    reference = np.array(column(found["SpSVM-2"], "seconds"))
    optimum = np.array(column(svm, "objective"))[:, None]
    curves = {}
    for machine, cells in found.items():
        over = 100.0 * (np.array([cell["objectives"] for cell in cells]) / optimum - 1.0).mean(axis=0)
        comparable = machine in SAME_OBJECTIVE
        curves[machine] = Curve(
            np.mean([cell["errors"] for cell in cells], axis=0),
            over[len(SIZES) - 1] if comparable else np.nan,
            float(np.mean([over[SIZES.index(size)] for size in SHOWN])) if comparable else np.nan,
            float(np.median(np.array(column(cells, "seconds")) / reference)),
            float(np.mean(column(cells, "few_steps"))),
        )
    curves["RSVM"] = Curve(_rsvm_errors(lab, name, choice.width, where))
    return Comparison(choice, float(np.mean(column(svm, "error"))), float(np.mean(column(svm, "vectors"))), curves)


def _rsvm_errors(lab: Lab, name: str, width: float, where: range) -> Array:
    grid = [{"name": name, "lam": lam, "width": width} for lam in RSVM_LAMBDAS]
    best = int(np.argmin(column(lab.map(select_rsvm, grid, f"{name}: parameters of RSVM"), "error")))
    outcomes = lab.map(follow_rsvm, [{**grid[best], "position": p} for p in where], f"{name}: RSVM")
    return np.asarray(np.mean([outcome["errors"] for outcome in outcomes], axis=0))
