"""The machines of [W05, section 7] on one split: errors, numbers of vectors, and cross-validated errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import _ida, _usps
from benchmarks.papers._folds import cross_validated_error
from benchmarks.papers._lab import Outcome
from sparsegen.methods.mrsvm import MRSVM
from sparsegen.methods.rs import RS
from sparsegen.methods.rsvm import RSVM
from sparsegen.methods.rvm import RVM
from sparsegen.methods.slmc import SLMC
from sparsegen.methods.svm import SVM

USPS, USPS_PARAMETERS = _usps.NAME, _usps.PARAMETERS
USPS_ALLOWANCE = 0.5  # percentage points over the paper's error
SLMC_STOP: dict[str, Any] = {"max_iter": 200, "tol": 0.01}  # as in benchmarks/ida.py
FIGURE_DIGITS = (3, 8)


def parameters(name: str) -> _ida.Parameters:
    """Return C and width of the reference SVM."""
    return USPS_PARAMETERS if name == USPS else _ida.PARAMETERS[name]


def rows_of(folder: Path | None, name: str, position: int) -> _ida.Split:
    """Return training and test rows; USPS has one split."""
    return _usps.split(folder) if name == USPS else _ida.split(folder, name, position)


def published_slmc(n_vectors: int, given: _ida.Parameters, n_init: int, **stop: Any) -> SLMC:
    """Return SLMC as published, not yet trained: hinge, exact descent from random rows; it ends by ``SLMC_STOP``."""
    published: dict[str, Any] = {"loss": "hinge", "init": "random", "solver": "exact"}
    options: dict[str, Any] = {**published, "random_state": 0, **SLMC_STOP, **stop}
    return SLMC(n_vectors, C=given.C, gamma=given.gamma, n_init=n_init, **options)


def reference(folder: Path | None, name: str, position: int) -> Outcome:
    """Return the SVM's error and its number of vectors."""
    split, given = rows_of(folder, name, position), parameters(name)
    machine = SVM(C=given.C, gamma=given.gamma).fit(split.X, split.y)
    return {"error": split.error(machine), "vectors": len(machine.vectors_)}


def reduced_set(folder: Path | None, name: str, position: int, n_vectors: int, n_init: int) -> Outcome:
    """Return the errors of RS and of MRS, which re-solves the coefficients of the same vectors [W05, eq. 33]."""
    split, given = rows_of(folder, name, position), parameters(name)
    rs = RS(n_vectors, C=given.C, gamma=given.gamma, n_init=n_init, random_state=position).fit(split.X, split.y)
    mrs = SLMC(init=rs.vectors_, optimize="coefficients", loss="hinge", C=given.C, gamma=given.gamma)
    errors = {"rs": split.error(rs), "mrs": split.error(mrs.fit(split.X, split.y))}
    return {**errors, "vectors": len(rs.vectors_)}


def slmc(folder: Path | None, name: str, position: int, n_vectors: int, n_init: int) -> Outcome:
    """Return the error of SLMC as published."""
    split, given = rows_of(folder, name, position), parameters(name)
    machine = published_slmc(n_vectors, given, n_init).fit(split.X, split.y)
    return {"error": split.error(machine), "vectors": len(machine.vectors_)}


def random_rows_cv(
    folder: Path | None,
    name: str,
    position: int,
    n_vectors: int,
    C: float,
    gamma: float,
    n_rows: int | None,
    draws: int,
) -> Outcome:
    """Return the cross-validated error of RSVM on training rows, all or the first, averaged over draws."""
    split = rows_of(folder, name, position)
    machines = [RSVM(n_vectors, C=C, gamma=gamma, random_state=draw) for draw in range(draws)]
    errors = [cross_validated_error(machine, split.X[:n_rows], split.y[:n_rows]) for machine in machines]
    return {"error": float(np.mean(errors))}


def random_rows(
    folder: Path | None, name: str, position: int, n_vectors: int, C: float, gamma: float, draws: int
) -> Outcome:
    """Return the errors of RSVM and MRSVM on the same random rows, averaged over draws."""
    split = rows_of(folder, name, position)
    errors = [
        [
            split.error(method(n_vectors, C=C, gamma=gamma, random_state=draw).fit(split.X, split.y))
            for method in (RSVM, MRSVM)
        ]
        for draw in range(draws)
    ]
    rsvm, mrsvm = np.mean(errors, axis=0)
    return {"rsvm": float(rsvm), "mrsvm": float(mrsvm), "vectors": n_vectors}


def single_draws(
    folder: Path | None, name: str, position: int, n_vectors: int, C: float, gamma: float, method: str, draws: int
) -> Outcome:
    """Return the error of RSVM or MRSVM on each of several draws of its rows."""
    split, kind = rows_of(folder, name, position), {"rsvm": RSVM, "mrsvm": MRSVM}[method]
    machines = [kind(n_vectors, C=C, gamma=gamma, random_state=draw) for draw in range(draws)]
    return {"errors": [split.error(machine.fit(split.X, split.y)) for machine in machines]}


def rvm_cv(
    folder: Path | None, name: str, position: int, gamma: float, n_candidates: int, max_iter: int, n_rows: int | None
) -> Outcome:
    """Return the cross-validated error of the RVM on training rows, all or the first."""
    split = rows_of(folder, name, position)
    machine = RVM(gamma=gamma, n_init=1, n_candidates=n_candidates, max_iter=max_iter, random_state=0)
    return {"error": cross_validated_error(machine, split.X[:n_rows], split.y[:n_rows])}


def rvm(
    folder: Path | None, name: str, position: int, gamma: float, n_init: int, n_candidates: int, max_iter: int
) -> Outcome:
    """Return the error of the RVM, its number of vectors, and how many of its machines did not converge."""
    split = rows_of(folder, name, position)
    machine = RVM(gamma=gamma, n_init=n_init, n_candidates=n_candidates, max_iter=max_iter, random_state=position)
    machine.fit(split.X, split.y)
    unsolved = machine.model_.card["fit"]["unsolved_machines"]
    return {
        "error": split.error(machine),
        "vectors": len(machine.vectors_),
        "unsolved": unsolved,
        "machines": len(machine.intercept_),
    }


def three_or_eight(folder: Path | None, method: str, n_vectors: int, n_init: int) -> Outcome:
    """Return the test error of '3' against '8', and the vectors of SLMC as rows of pixels."""
    if method == "svm":
        return svm_of_three_or_eight(folder, USPS_PARAMETERS.C, USPS_PARAMETERS.gamma)
    split = _threes_and_eights(folder)
    machine = published_slmc(n_vectors, USPS_PARAMETERS, n_init).fit(split.X, split.y)
    pixels = np.round(machine.vectors_, 3).tolist()
    return {"error": split.error(machine), "vectors": len(machine.vectors_), "pixels": pixels}


def svm_of_three_or_eight(folder: Path | None, C: float, gamma: float) -> Outcome:
    """Return the test error of the SVM for '3' against '8', and its number of vectors."""
    split = _threes_and_eights(folder)
    svm = SVM(C=C, gamma=gamma).fit(split.X, split.y)
    return {"error": split.error(svm), "vectors": len(svm.vectors_)}


def _threes_and_eights(folder: Path | None) -> _ida.Split:
    whole = rows_of(folder, USPS, 0)
    train, test = np.isin(whole.y, FIGURE_DIGITS), np.isin(whole.y_test, FIGURE_DIGITS)
    return _ida.Split(whole.X[train], whole.y[train], whole.X_test[test], whole.y_test[test])
