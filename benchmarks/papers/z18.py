"""[Z18] Table 2: the slack counted as xi^0.5 instead of xi, fewer support vectors and a higher accuracy?

Of the paper's image sets, ATT and BinAlpha are at hand. The same table is made for pairs of digits, some as few rows as
in its other sets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from benchmarks import _report
from benchmarks.papers import TABLES
from benchmarks.papers._folds import cross_validated_error
from benchmarks.papers._lab import Case, Lab, Outcome
from benchmarks.papers._results import Check, Claim, Section, column, error_check, vector_check
from benchmarks.papers._z18_machines import MACHINES, NAMES, fit, has_slack, machine_of, on_or_inside, rows_of
from sparsegen.arrays import Array
from sparsegen.methods.minimal import COUNTED_SLACK

FOLDS = 5
C_GRID = (0.001, 0.01, 0.1, 1.0, 10.0)
SMALL = 30  # rows of each class, as in MSRC and Caltech101

Pair = tuple[int, int]
DIGITS: tuple[Pair, ...] = ((3, 8), (4, 9), (5, 6), (1, 7), (2, 3))


def neighbours(first: int, last: int) -> tuple[Pair, ...]:
    """Return (first, first + 1), (first + 2, first + 3), ... up to ``last``."""
    return tuple((label, label + 1) for label in range(first, last, 2))


@dataclass(frozen=True)
class Group:
    """Pairs of classes of one data set: a task each."""

    source: str
    pairs: tuple[Pair, ...]
    n_rows: int | None = None
    """Of each class, the first ones; ``None`` for all."""
    printed: Mapping[str, tuple[float, float]] | None = None
    """The paper's test accuracy and number of support vectors for each machine."""


GROUPS = {
    "ATT": Group("att_faces", neighbours(1, 40), printed={"svm": (0.85, 11.0), "minimal": (0.90, 2.0)}),
    "BinAlpha": Group("binalpha", neighbours(11, 36), printed={"svm": (0.89, 53.0), "minimal": (0.90, 33.4)}),
    f"USPS, {SMALL} rows each": Group("usps", DIGITS, SMALL),
    "USPS": Group("usps", DIGITS),
    "digits": Group("digits", DIGITS),
    "toy": Group("toy", ((0, 1),)),
}

NOTES = f"""\
Section 4.3: linear machines, p = 0.5, means of 5-fold cross-validation. The paper has seven tasks and names neither
their classes nor how C was chosen. ATT here: 20 pairs of people, 1-2 to 39-40, images of 32 x 32 pixels (the paper:
28 x 23). BinAlpha: 13 pairs of letters, A-B to Y-Z. MSRC and Caltech101 are not at hand; pairs of USPS training digits
({", ".join(f"{a}-{b}" for a, b in DIGITS)}) with as few rows and with all rows, the same pairs of scikit-learn's digits
and the points of Figure 1 are further tasks. Each machine has the C of {", ".join(f"{C:g}" for C in C_GRID)} with its
own lowest 5-fold error within the training part (the smallest of equals). The Minimal SVM starts from the SVM.

The printed table has seven columns under four names. By the number of rows, the first must be MSRC, the second ATT (11
support vectors), the third BinAlpha (53, more than the others have rows to train on), the last Caltech101; the other
three may be either. The third is compared with ours.

Support vectors are counted in three ways: as the paper seems to (SVM: alpha > 0, on the margin or inside; Minimal SVM:
xi > 0 by eq. 21, over {COUNTED_SLACK:g}), both by xi > 0, and both by alpha > 0. By the first, a machine has fewer
support vectors than itself, since rows on the margin count in one column only: it is shown, and the numbers of vectors
checked against the paper's are counted so, but it decides no conclusion. Angle and distance between the two
weight vectors are those of eq. 29 and 30."""

MOST_ANGLE, MOST_DISTANCE = 6.75, 0.14  # [Z18, 4.3]
REASON = "unexplained; the paper names neither the classes nor C; ours is a mean over pairs"
RULE = "the mean is better and more tasks are better than worse"


def select(
    folder: Path | None, source: str, classes: Sequence[int], n_rows: int | None, fold: int, machine: str
) -> Outcome:
    """Return the C of the lowest cross-validated error of a machine within the training part of a fold."""
    X, y = rows_of(folder, source, classes, n_rows)
    train, _ = _fold(y, fold)
    errors = [cross_validated_error(machine_of(machine, C), X[train], y[train], FOLDS) for C in C_GRID]
    return {"C": C_GRID[int(np.argmin(errors))]}


def compare(
    folder: Path | None, source: str, classes: Sequence[int], n_rows: int | None, fold: int, C: Sequence[float]
) -> Outcome:
    """Return both machines' accuracies and counts on one fold, and how far apart their weight vectors are."""
    X, y = rows_of(folder, source, classes, n_rows)
    sign = np.where(y == classes[1], 1.0, -1.0)
    train, test = _fold(y, fold)
    outcome: Outcome = {}
    lines = [fit(machine, X[train], y[train], own) for machine, own in zip(MACHINES, C, strict=True)]
    for machine, line in zip(MACHINES, lines, strict=True):
        margins = line.margins(X, sign)
        outcome[f"{machine} test"] = float(np.mean(margins[test] > 0.0))
        outcome[f"{machine} train"] = float(np.mean(margins[train] > 0.0))
        outcome[f"{machine} slack"] = int(has_slack(margins[train]).sum())
        outcome[f"{machine} alpha"] = int(on_or_inside(margins[train]).sum())
    outcome["svm paper"], outcome["minimal paper"] = outcome["svm alpha"], outcome["minimal slack"]
    one, half = (line.w for line in lines)
    cosine = one @ half / (np.linalg.norm(one) * np.linalg.norm(half))
    outcome["angle"] = float(np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0))))  # [Z18, eq. 29]
    outcome["distance"] = float(np.linalg.norm(one - half) / np.linalg.norm(one))  # [Z18, eq. 30]
    return outcome


def _fold(y: Array, fold: int) -> tuple[Any, Any]:
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    return list(folds.split(np.zeros(len(y)), y))[fold]


Means = dict[str, float]


def measure(lab: Lab, name: str) -> list[Means]:
    """Return the means over the folds for every task of a group."""
    group = GROUPS[name]
    cases: list[Case] = [
        {"source": group.source, "classes": list(pair), "n_rows": group.n_rows, "fold": fold}
        for pair in group.pairs
        for fold in range(FOLDS)
    ]
    chosen = [
        column(lab.map(select, [{**case, "machine": machine} for case in cases], f"{name}: C of {machine}"), "C")
        for machine in MACHINES
    ]
    trained = [{**case, "C": list(C)} for case, C in zip(cases, zip(*chosen, strict=True), strict=True)]
    outcomes = [
        {**outcome, **{f"{machine} log C": np.log10(C) for machine, C in zip(MACHINES, case["C"], strict=True)}}
        for outcome, case in zip(lab.map(compare, trained, name), trained, strict=True)
    ]
    tasks = [outcomes[first : first + FOLDS] for first in range(0, len(outcomes), FOLDS)]
    return [{key: float(np.mean(column(folds, key))) for key in folds[0]} for folds in tasks]


@TABLES.register("z18-table2")
def table2(lab: Lab, folder: Path) -> Section:
    """Return the rows of Table 2 for every group of tasks; nothing is drawn."""
    found = {name: measure(lab, name) for name in GROUPS}
    lines, checks = [], []
    for name, tasks in found.items():
        lines.append([name, str(len(tasks)), *_cells(tasks)])
        printed = GROUPS[name].printed
        if printed is not None:
            lines.append(["the paper's", "1", *_printed_cells(printed)])
            checks += _checks(name, tasks, printed)
    header = ["data", "tasks", "test accuracy", "higher, same, lower", "train accuracy", "# SV as the paper counts"]
    header += ["xi > 0", "alpha > 0", "C (geometric mean)", "angle", "distance"]
    body = "SVM / Minimal SVM in every cell, means over the tasks.\n\n" + _report.markdown(header, lines)
    claims = _claims(found)
    reasons = {check.figure: REASON for check in checks}
    return Section("[Z18] Table 2: SVM and Minimal SVM", NOTES, body, checks, claims, reasons=reasons)


def _cells(tasks: Sequence[Means]) -> list[str]:
    def both(figure: str, decimals: int) -> str:
        return " / ".join(f"{np.mean(column(tasks, f'{machine} {figure}')):.{decimals}f}" for machine in MACHINES)

    C = " / ".join(f"{10.0 ** np.mean(column(tasks, f'{machine} log C')):.2g}" for machine in MACHINES)
    accuracy = compared(tasks, "test", 1)
    counts = f"{accuracy.gains}, {accuracy.ties}, {accuracy.losses}"
    apart = [f"{np.mean(column(tasks, figure)):.2f}" for figure in ("angle", "distance")]
    return [
        both("test", 3),
        counts,
        both("train", 3),
        *(both(f, 1) for f in ("paper", "slack", "alpha")),
        C,
        *apart,
    ]


def _printed_cells(printed: Mapping[str, tuple[float, float]]) -> list[str]:
    accuracy, vectors = zip(*(printed[machine] for machine in MACHINES), strict=True)
    shown = [" / ".join(f"{value:.2f}" for value in accuracy), "1, 0, 0", "", " / ".join(f"{n:.1f}" for n in vectors)]
    return shown + [""] * 5


@dataclass(frozen=True)
class Comparison:
    """In how many tasks a figure of the Minimal SVM is better than the SVM's, the same, worse, and both means."""

    gains: int
    ties: int
    losses: int
    means: tuple[float, float]
    better: bool

    @property
    def pair(self) -> str:
        """Both means: SVM / Minimal SVM."""
        one, half = self.means
        return f"{one:.2f} / {half:.2f}"

    def __str__(self) -> str:
        return f"{self.pair}, better in {self.gains} tasks, the same in {self.ties}, worse in {self.losses}"


def compared(tasks: Sequence[Means], figure: str, sign: int) -> Comparison:
    """Return how the machines compare; ``sign`` 1 where the higher figure is better, -1 where the lower is."""
    one, half = (np.round(column(tasks, f"{machine} {figure}"), 9) for machine in MACHINES)
    changes = sign * np.sign(half - one)
    gains, ties, losses = (int((changes == outcome).sum()) for outcome in (1, 0, -1))
    scale = 100.0 if figure == "test" else 1.0
    means = scale * float(one.mean()), scale * float(half.mean())
    return Comparison(gains, ties, losses, means, sign * (means[1] - means[0]) > 0.0 and gains > losses)


def _checks(name: str, tasks: Sequence[Means], printed: Mapping[str, tuple[float, float]]) -> list[Check]:
    checks = []
    for machine, (accuracy, vectors) in printed.items():
        errors = [100.0 * (1.0 - task[f"{machine} test"]) for task in tasks]
        checks.append(error_check(f"{name}, {NAMES[machine]}", errors, 100.0 * (1.0 - accuracy), decimals=0))
        checks.append(vector_check(f"{name}, {NAMES[machine]}", column(tasks, f"{machine} paper"), vectors))
    return checks


def _claims(found: Mapping[str, Sequence[Means]]) -> list[Claim]:
    """Return what section 4.3 and the conclusion say of the table."""
    tasks = [task for group in found.values() for task in group]
    fewer = "the proposed model further reduces the number of support vectors [...] compared to standard SVM"
    more = "the proposed model [...] increases the classification accuracy compared to standard SVM"
    counted, by_slack, by_alpha = (compared(tasks, figure, -1) for figure in ("paper", "slack", "alpha"))
    accuracy = compared(tasks, "test", 1)
    return [
        Claim(
            "[Z18] 5",
            fewer,
            f"mean over the tasks by xi > 0 {by_slack.pair}, by alpha > 0 {by_alpha.pair}",
            f"{RULE}, by both counts",
            by_slack.better and by_alpha.better,
            f"By xi > 0: {by_slack}. By alpha > 0: {by_alpha}. Not scored, alpha > 0 for the SVM and xi > 0 for the "
            f"Minimal SVM: {counted}",
        ),
        Claim("[Z18] 5", more, f"test accuracy in percent: {accuracy}", RULE, accuracy.better),
        _nearness({name: group for name, group in found.items() if GROUPS[name].printed is not None}),
    ]


def _nearness(found: Mapping[str, Sequence[Means]]) -> Claim:
    """Return the claim of how far apart the machines are, scored on the paper's own sets.

    Note: the paper's ends are those of its seven tasks. A mean over our pairs is asked to lie below the upper ones.
    """
    means = {name: tuple(np.mean(column(tasks, k)) for k in ("angle", "distance")) for name, tasks in found.items()}
    tasks = [task for group in found.values() for task in group]
    near = sum(task["angle"] <= MOST_ANGLE and task["distance"] <= MOST_DISTANCE for task in tasks)
    shown = ", ".join(f"{name} {angle:.2f} degrees and {distance:.2f}" for name, (angle, distance) in means.items())
    return Claim(
        "[Z18] 4.3",
        "the angle degree difference is between 1.87 to 6.75 degrees. The normalized Euclidean distance is between "
        "0.04 and 0.14",
        f"means {shown}",
        f"the means of each of these sets of the paper at most {MOST_ANGLE:g} and {MOST_DISTANCE:g}",
        all(angle <= MOST_ANGLE and distance <= MOST_DISTANCE for angle, distance in means.values()),
        f"At most so much in {near} of {len(tasks)} tasks",
    )
