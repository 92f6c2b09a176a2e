"""What [W05, Table 1] has for one set, and why some of its cells miss the paper's figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from benchmarks.papers._lab import Case, Lab, Outcome
from benchmarks.papers._results import UNEXPLAINED, Check, Figure, column
from benchmarks.papers._w05_effort import IDA_EFFORT, USPS_EFFORT
from benchmarks.papers._w05_machines import USPS, parameters, reduced_set, single_draws

PER_CLASS, OF_EACH_CLASS = " per class", " of each class"
"""End the names of the rows in which each class has vectors of its own: N_z in all, or a share of its own N_SV."""
DRAWS = 12
"""Of random rows, to see how much a single one of them varies."""
BY_CHANCE = 2.0
"""Standard deviations from the mean draw within which the paper's draw may lie by chance."""


@dataclass(frozen=True)
class Results:
    """Outcomes by the rows of the table, for one set."""

    name: str
    rows: dict[str, list[Outcome]] = field(default_factory=dict)
    chosen: dict[str, str] = field(default_factory=dict)
    draws: dict[str, list[Case]] = field(default_factory=dict)
    """The cases of RSVM and MRSVM with the chosen parameters, by share of the vectors."""
    validated: dict[float, float] = field(default_factory=dict)
    """The RVM's cross-validated error at every gamma that was tried."""

    def add(self, methods: Sequence[str], mark: str, outcomes: Sequence[Outcome]) -> None:
        """Add outcomes that hold one error for each method."""
        for method in methods:
            own = [{"error": outcome[method], "vectors": outcome["vectors"]} for outcome in outcomes]
            self.rows[f"{method} {mark}"] = own

    def mean(self, row: str) -> float:
        """Return our mean error."""
        return float(np.mean(column(self.rows[row], "error")))


def label(row: str) -> str:
    """Return a row's name as it is shown."""
    method, _, ratio = row.partition(" ")
    if row == "rvm share":
        return "RVM, N_z"
    return method.upper() + (f", {ratio}" if ratio else "") if row != "N_SV" else "SVM, N_SV"


def reasons(lab: Lab, checks: Sequence[Check], results: Sequence[Results]) -> dict[Figure, str]:
    """Return why figures miss, as far as cells of this run tell."""
    rows = {f"{result.name}, {label(row)}": (result, row) for result in results for row in result.rows}
    return {
        check.figure: _reason(row)(lab, result, row, check)
        for check in checks
        if not check.within and check.cell in rows
        for result, row in [rows[check.cell]]
    }


def _reason(row: str) -> Callable[[Lab, Results, str, Check], str]:
    method, _, mark = row.partition(" ")
    if mark.endswith(PER_CLASS):
        return _few_vectors
    return {"rs": _one_vector, "rsvm": _draws, "mrsvm": _draws, "rvm": _gammas}.get(method, _unknown)


def _unknown(lab: Lab, result: Results, row: str, check: Check) -> str:
    return UNEXPLAINED


def _few_vectors(lab: Lab, result: Results, row: str, check: Check) -> str:
    other = row.removesuffix(PER_CLASS) + OF_EACH_CLASS
    each = result.rows[row][0]["vectors"] / result.rows["rvm"][0]["machines"]
    return (
        f"{each:.0f} vectors a machine are few; the paper may count them for each machine: with a share of each "
        f"machine's own support vectors, {result.rows[other][0]['vectors']} in all, the error is "
        f"{result.mean(other):.1f}"
    )


def _one_vector(lab: Lab, result: Results, row: str, check: Check) -> str:
    """Return what one vector more or less is worth to RS."""
    if result.name == USPS:
        return UNEXPLAINED
    middle = round(float(np.mean(column(result.rows[row], "vectors"))))
    numbers = range(max(1, middle - 1), middle + 3)
    cases = [
        {"name": result.name, "position": position, "n_vectors": n, "n_init": IDA_EFFORT.rs_starts}
        for n in numbers
        for position in lab.positions(result.name)
    ]
    found = column(lab.map(reduced_set, cases, f"{result.name}: RS by one vector"), "rs")
    means = np.reshape(found, (len(numbers), -1)).mean(axis=1)
    steps = -np.diff(means)
    return (
        f"{UNEXPLAINED}; one vector is worth {steps.min():.1f} to {steps.max():.1f} points: with "
        f"{', '.join(map(str, numbers))} on every split RS has {', '.join(f'{mean:.1f}' for mean in means)}"
    )


def _draws(lab: Lab, result: Results, row: str, check: Check) -> str:
    """Return how much the mean over the splits varies from one draw of the rows to the next."""
    method, _, mark = row.partition(" ")
    cases = [{**case, "method": method, "draws": DRAWS} for case in result.draws[mark]]
    outcomes = lab.map(single_draws, cases, f"{result.name}, {mark}: single draws of {method.upper()}")
    means = np.mean([outcome["errors"] for outcome in outcomes], axis=0)
    mean, spread = float(means.mean()), float(means.std(ddof=1))
    cause = "chance" if abs(check.paper - mean) <= BY_CHANCE * spread else f"{UNEXPLAINED}, and not chance"
    return (
        f"{cause}: the paper has one draw of rows per split; of {DRAWS} such draws of ours the mean over the splits is "
        f"{mean:.1f} ± {spread:.1f}"
    )


def _gammas(lab: Lab, result: Results, row: str, check: Check) -> str:
    """Return what the RVM chose gamma by, or what was not tried."""
    if len(result.validated) == 1:
        unsolved, machines = (sum(column(result.rows[row], key)) for key in ("unsolved", "machines"))
        return (
            f"{UNEXPLAINED}; it chooses among {USPS_EFFORT.rvm_candidates:,} random training rows at the SVM's gamma, "
            "to save time: more rows and a cross-validated gamma were not tried; "
            f"{unsolved:.0f} of {machines:.0f} machines did not converge"
        )
    given = parameters(result.name).gamma
    tried = ", ".join(f"{error:.1f} at {gamma / given:g}" for gamma, error in result.validated.items())
    return f"{UNEXPLAINED}; gamma has the lowest cross-validated error: {tried} times the SVM's"
