"""USPS as [W05, 7.4] has it: ten machines, each separating one digit from all others, each with vectors of its own.

A number of vectors for all ten is shared out in proportion to the support vectors of their SVMs.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.papers._lab import Lab, Outcome
from benchmarks.papers._timing import few_rows, timed
from benchmarks.papers._w05_machines import USPS, USPS_PARAMETERS, published_slmc, rows_of
from sparsegen.methods.rs import RS
from sparsegen.methods.slmc import SLMC
from sparsegen.methods.svm import SVM

DIGITS = tuple(range(10))
METHODS = ("rs", "slmc")
MAX_ITER = 1000
"""Of SLMC, so that the stopping rule ends it and not the bound."""
WARM_UP_VECTORS = 2
SCORE_DECIMALS = 4
GIVEN: dict[str, Any] = {"C": USPS_PARAMETERS.C, "gamma": USPS_PARAMETERS.gamma}


def reference_digit(folder: Path | None, digit: int) -> Outcome:
    """Return the support vectors of the SVM for one digit, and its CPU seconds."""
    split = rows_of(folder, USPS, 0)
    own = split.y == digit
    few = few_rows(own)
    SVM(**GIVEN).fit(split.X[few], own[few])  # before the clock starts
    svm, seconds = timed(lambda: SVM(**GIVEN).fit(split.X, own))
    return {"vectors": len(svm.vectors_), "seconds": seconds}


def one_digit(folder: Path | None, digit: int, n_vectors: int) -> Outcome:
    """Return CPU seconds of RS and SLMC, SLMC's iterations, which test rows are of the digit, and both scores."""
    split = rows_of(folder, USPS, 0)
    own = split.y == digit
    few = few_rows(own)
    for machine in _machines(WARM_UP_VECTORS):
        machine.fit(split.X[few], own[few])  # before the clock starts
    rs, slmc = _machines(n_vectors)
    rs_seconds, slmc_seconds = timed(lambda: rs.fit(split.X, own))[1], timed(lambda: slmc.fit(split.X, own))[1]
    return {
        "vectors": n_vectors,
        "seconds": {"rs": rs_seconds, "slmc": slmc_seconds},
        "iterations": slmc.n_iter_,
        "own": "".join("1" if y == digit else "0" for y in split.y_test),
        "scores": {name: _scores(fitted, split.X_test) for name, fitted in zip(METHODS, (rs, slmc), strict=True)},
    }


def _machines(n_vectors: int) -> tuple[RS, SLMC]:
    """Return the machines of ``METHODS``, not yet trained."""
    slmc = published_slmc(n_vectors, USPS_PARAMETERS, n_init=1, max_iter=MAX_ITER)
    return RS(n_vectors, **GIVEN, n_init=1, random_state=0), slmc


def all_digits(lab: Lab, n_vectors: int) -> list[Outcome]:
    """Return the outcome of every digit, with so many vectors in all."""
    svms = _svms(lab)
    sizes = shares(n_vectors, [svm["vectors"] for svm in svms])
    cases = [{"digit": digit, "n_vectors": size} for digit, size in zip(DIGITS, sizes, strict=True)]
    found = lab.map(one_digit, cases, f"usps, {n_vectors}: vectors of its own for each class")
    return [{**one, "seconds": {"svm": svm["seconds"], **one["seconds"]}} for one, svm in zip(found, svms, strict=True)]


def support_of_digits(lab: Lab) -> int:
    """Return the support vectors of all ten SVMs; a row that several of them use counts for each."""
    return sum(svm["vectors"] for svm in _svms(lab))


def _svms(lab: Lab) -> list[Outcome]:
    return lab.map(reference_digit, [{"digit": digit} for digit in DIGITS], "usps: the SVM of each class")


def shares(total: int, weights: Sequence[int]) -> list[int]:
    """Return whole numbers in proportion to the weights that add up to the total; to more where each must have one."""
    exact = total * np.array(weights) / sum(weights)
    whole = np.maximum(1, np.floor(exact).astype(int))
    for k in np.argsort(whole - exact, kind="stable")[
        : max(0, total - whole.sum())
    ]:  # what rounding down has cut off most
        whole[k] += 1
    return [int(n) for n in whole]


def joint_outcome(outcomes: Sequence[Outcome], method: str) -> Outcome:
    """Return the error of the digit with the highest score, and the vectors of all machines together."""
    winner = np.argmax([outcome["scores"][method] for outcome in outcomes], axis=0)
    right = [outcomes[k]["own"][row] == "1" for row, k in enumerate(winner)]
    return {"error": 100.0 * (1.0 - float(np.mean(right))), "vectors": sum(outcome["vectors"] for outcome in outcomes)}


def _scores(machine: Any, X: NDArray[np.float64]) -> list[float]:
    return [round(float(score), SCORE_DECIMALS) for score in machine.decision_function(X)]
