"""The machines of [H09, V] on the splits of a set: C and gamma by cross-validation, then test errors and kernels."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import _ida
from benchmarks.papers._folds import cross_validated_error
from benchmarks.papers._lab import Case, Lab, Outcome
from benchmarks.papers._results import column
from sparsegen import SLMC, SVM
from sparsegen.methods.mksvm import MKSVM
from sparsegen.methods.smkc1 import SMKC1
from sparsegen.methods.smkc2 import SMKC2

SHARES = (0.02, 0.04)
GAMMAS = tuple(2.0**power for power in range(-8, 9, 2))  # [H09, V]
COSTS = GAMMAS  # every second of [H09, V]
FOLDS = 3
SPLITS_FACTOR = 3  # [H09] averages over 30 splits, other papers over fewer
PILOT_ROWS, MOST_PILOTS = 2000, 5  # cross-validation uses the first splits, until they have this many rows
BEST_GAMMAS = 3  # of the first split; the other pilots try only these
DESCENT: dict[str, Any] = {"tol": 1e-3, "max_iter": 100}  # the same for every method that moves vectors
TIE = 1e-9  # errors in percent that differ by less are the same

MIXTURES = ("SMKC1", "SMKC2")
MACHINES = ("MK-SVM", "SSKC", "SMKC1 fixed", "SMKC2 fixed", "SMKC1", "SMKC2")
"""A machine marked as fixed keeps its vectors at the centres of k-means. MK-SVM has all its support vectors."""


@dataclass(frozen=True)
class Cell:
    """The results of a machine on the splits of a set, with a share of the support vectors."""

    errors: list[float]
    kernels: list[float]
    vectors: list[float]
    rare_rows: list[float]
    """How many distinct test rows are given the label that is predicted less often."""
    gammas: Sequence[float]
    C: float
    validated: Sequence[float]
    """Mean cross-validated error for each of ``COSTS``, with these gammas."""


Cells = dict[tuple[str, float, str], Cell]


def machine(
    name: str, n_vectors: int | None, gammas: Sequence[float], C: float, seed: int
) -> SLMC | SMKC1 | SMKC2 | MKSVM:
    """Return the machine, not yet trained."""
    kind, _, fixed = name.partition(" ")
    if kind == "MK-SVM":
        return MKSVM(gammas=gammas, C=C)
    options = {"C": C, "optimize": "coefficients" if fixed else "vectors", "random_state": seed, **DESCENT}
    if kind == "SMKC2":  # the other solver of [H09, IV-B]; the linear program is slower here
        return SMKC2(n_vectors, gammas=gammas, solver="gradient", **options)
    if kind == "SMKC1":
        return SMKC1(n_vectors, gammas=gammas, **options)
    (gamma,) = gammas
    return SLMC(n_vectors, gamma=gamma, solver="exact", **options)


def reference(folder: Path, name: str, position: int) -> Outcome:
    """Return test error and number of support vectors of SK-SVM."""
    split, parameters = _ida.split(folder, name, position), _ida.PARAMETERS[name]
    svm = SVM(C=parameters.C, gamma=parameters.gamma).fit(split.X, split.y)
    return {"error": split.error(svm), "support": len(svm.vectors_)}


def validate(
    folder: Path, name: str, position: int, method: str, vectors: int | None, gammas: list[float], costs: list[float]
) -> Outcome:
    """Return the cross-validated error of each C on the training rows of one split."""
    split = _ida.split(folder, name, position)
    machines = [machine(method, vectors, gammas, C, position) for C in costs]
    return {"errors": [cross_validated_error(each, split.X, split.y, FOLDS, position) for each in machines]}


def run_split(
    folder: Path, name: str, position: int, method: str, vectors: int | None, gammas: list[float], C: float
) -> Outcome:
    """Return test error, numbers of active kernels, vectors and distinct rows with the rarer label, on one split."""
    split = _ida.split(folder, name, position)
    trained = machine(method, vectors, gammas, C, position).fit(split.X, split.y)
    positive = trained.predict(split.X_test) == 1
    rare = split.X_test[positive if 2 * positive.sum() <= len(positive) else ~positive]
    return {
        "error": split.error(trained),
        "kernels": len(trained.model_.kernels),
        "vectors": trained.model_.n_vectors,
        "rare_rows": len(np.unique(rare, axis=0)),
    }


def references(lab: Lab, sets: Iterable[str]) -> dict[str, list[Outcome]]:
    """Return the outcomes of SK-SVM on every split, by set."""
    found = {}
    for name in sets:
        n_splits = min(SPLITS_FACTOR * lab.splits, _ida.n_splits(lab.data, name))
        cases = [{"name": name, "position": position} for position in range(n_splits)]
        found[name] = lab.map(reference, cases, f"{name}: SK-SVM")
    return found


def cells(lab: Lab, svms: dict[str, list[Outcome]], machines: Iterable[str]) -> Cells:
    """Return the results of these machines on the sets that ``svms`` has."""
    return {
        (name, share, method): _cell(lab, svms[name], name, share, method)
        for name, share, method in itertools.product(svms, SHARES, machines)
    }


def n_pilots(lab: Lab, name: str) -> int:
    """Return on how many splits of a set parameters are chosen."""
    return min(max(1, PILOT_ROWS // _ida.arrays(lab.data, name)["train"].shape[1]), MOST_PILOTS)


def _cell(lab: Lab, svms: list[Outcome], name: str, share: float, method: str) -> Cell:
    vectors = [_ida.share_of(share, outcome["support"]) for outcome in svms]
    cases: list[Case] = [
        {"name": name, "position": position, "method": method, "vectors": None if method == "MK-SVM" else m}
        for position, m in enumerate(vectors)
    ]
    pilots = cases[: n_pilots(lab, name)]
    gammas, C, validated = choose(lab, pilots, f"{name}, {share:.0%}: {method}, cross-validation")
    final = [{**case, "gammas": list(gammas), "C": C} for case in cases]
    found = lab.map(run_split, final, f"{name}, {share:.0%}: {method}")
    return Cell(
        column(found, "error"),
        column(found, "kernels"),
        column(found, "vectors"),
        column(found, "rare_rows"),
        gammas,
        C,
        validated,
    )


def choose(lab: Lab, pilots: list[Case], title: str) -> tuple[Sequence[float], float, Sequence[float]]:
    """Return gammas and C with the lowest mean error on the pilot splits, and the mean error of every C.

    Of equal ones the middle one is taken: the first is at the edge of a plateau, next to what is worse.
    """

    def errors(cases: list[Case], candidates: list[Sequence[float]]) -> NDArray[np.float64]:
        trials = [{**c, "gammas": list(gammas), "costs": list(COSTS)} for c in cases for gammas in candidates]
        found = [outcome["errors"] for outcome in lab.map(validate, trials, title)]
        return np.reshape(found, (len(cases), len(candidates), len(COSTS)))

    candidates: list[Sequence[float]] = [GAMMAS]
    if pilots[0]["method"] == "SSKC":
        candidates = [(gamma,) for gamma in GAMMAS]
        first = errors(pilots[:1], candidates)[0]
        best = sorted(range(len(GAMMAS)), key=lambda i: min(first[i]))[:BEST_GAMMAS]
        candidates = [candidates[i] for i in sorted(best)]
    means = errors(pilots, candidates).mean(axis=0)
    lowest = np.argwhere(means <= means.min() + TIE)
    i, j = lowest[(len(lowest) - 1) // 2]
    return candidates[i], COSTS[j], means[i].tolist()
