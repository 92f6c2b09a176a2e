"""[W05, 7.8]: what training an SLMC costs, beside the SVM, RS and the RVM.

The paper gives seconds of programs in C++ and in Matlab and warns against comparing them. Here one process measures
all of them, so that their ratios mean something.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import _ida, _report
from benchmarks.papers import TABLES
from benchmarks.papers._lab import Lab, Outcome
from benchmarks.papers._results import Claim, Section
from benchmarks.papers._timing import few_rows, timed
from benchmarks.papers._w05_machines import parameters, published_slmc, rows_of
from benchmarks.papers._w05_per_class import MAX_ITER, all_digits
from sparsegen.arrays import Array
from sparsegen.kernels import KERNELS
from sparsegen.methods.rs import RS
from sparsegen.methods.rvm import RVM
from sparsegen.methods.shared.libsvm import PRECOMPUTED, train_svc
from sparsegen.methods.shared.ridge import with_ridge
from sparsegen.methods.shared.slmc_objective import SlmcObjective
from sparsegen.methods.svm import SVM
from sparsegen.solvers.newton import Loss

SOURCE = "[W05] 7.8"
SETS = ("banana", "breast-cancer", "titanic", "waveform", "german", "image")
BANANA = "banana"
SPLITS = 5
RATIO = 0.1
WARM_UP_RATIO = 0.5
"""Of the support vectors of a few rows, so that more than one vector is trained before the clock starts."""
USPS_VECTORS = 268
"""A tenth of the paper's N_SV, for the ten machines together."""
ITERATIONS = (20, 200)
PAPER_HOURS = {"slmc": 6.9, "rs": 2.3}  # USPS
PAPER_SECONDS = {"slmc": 1.5, "rvm": 5.0}  # banana
MUCH_SLOWER = 2.0

NOTES = f"""\
CPU seconds of one process and one thread, the machines trained one after the other on each split, first on a few rows
that are not timed; the median of {SPLITS} splits, and ratios of medians. {RATIO:.0%} as many vectors as the SVM has
support vectors, one start each; C, gamma and the stopping rule as in Table 1, but SLMC may take {MAX_ITER} iterations.
The RVM has the SVM's gamma; RS includes the SVM it starts from. USPS: ten machines per method, each with vectors of
its own, {USPS_VECTORS} in all, their seconds added up; the RVM is not timed there. The last column solves for the
coefficients at SLMC's vectors in two ways: LIBSVM with the kernel K_z of eq. (28), and a linear SVM on phi_z(x). The
paper's seconds are of a Pentium 4 at 3 GHz, SLMC in C++, RS and RVM in Matlab; it says that they cannot be compared
directly. Our RVM is the faster method of Tipping and Faul (2003). Other processes on the same processor can change a
ratio by a tenth or two."""


def train_all(folder: Path | None, name: str, position: int) -> Outcome:
    """Return CPU seconds of every machine on one split, SLMC's iterations, and seconds of both ways to beta."""
    split, given = rows_of(folder, name, position), parameters(name)
    few = few_rows(split.y)
    _train_each(split.X[few], split.y[few], given, WARM_UP_RATIO)
    return _train_each(split.X, split.y, given, RATIO)


def _train_each(X: Array, y: NDArray[Any], given: _ida.Parameters, ratio: float) -> Outcome:
    kernel: dict[str, Any] = {"gamma": given.gamma}
    start: dict[str, Any] = {"n_init": 1, "random_state": 0}
    svm, svm_seconds = timed(lambda: SVM(C=given.C, **kernel).fit(X, y))
    n_vectors = _ida.share_of(ratio, len(svm.vectors_))
    _, rs_seconds = timed(lambda: RS(n_vectors, C=given.C, **kernel, **start).fit(X, y))
    machine = published_slmc(n_vectors, given, n_init=1, max_iter=MAX_ITER)
    slmc, slmc_seconds = timed(lambda: machine.fit(X, y))
    _, rvm_seconds = timed(lambda: RVM(**kernel, **start).fit(X, y))
    signs = np.where(y == slmc.classes_[1], 1.0, -1.0)
    linear, equivalent = _two_ways(X, signs, slmc.vectors_, given.C, given.gamma)
    return {
        "seconds": {"svm": svm_seconds, "rs": rs_seconds, "slmc": slmc_seconds, "rvm": rvm_seconds},
        "iterations": slmc.n_iter_,
        "vectors": n_vectors,
        "linear": linear,
        "equivalent": equivalent,
    }


def _two_ways(X: Array, signs: Array, Z: Array, C: float, gamma: float) -> tuple[float, float]:
    """Return CPU seconds of the linear SVM on phi_z(x), and of LIBSVM with ``K_z(x, x')`` [W05, eq. 28, footnote 8]."""
    kernel = KERNELS["rbf"].bind(gamma=gamma)

    def equivalent() -> object:
        Kxz = kernel.gram(X, Z)
        gram = Kxz @ np.linalg.solve(with_ridge(kernel.gram(Z, Z)), Kxz.T)
        return train_svc(gram, signs, PRECOMPUTED, C, 1e-3)

    objective = SlmcObjective(X, signs[:, None], kernel, Loss("hinge", C))
    return timed(lambda: objective.expansion(Z, None, iterations=0))[1], timed(equivalent)[1]


@TABLES.register("w05-cost")
def cost(lab: Lab, folder: Path) -> Section:
    """Return the training times of section 7.8 as ratios, and the iterations of SLMC."""
    outcomes = {
        name: lab.map(
            train_all,
            [{"name": name, "position": position} for position in lab.positions(name)[:SPLITS]],
            f"{name}: training times",
        )
        for name in SETS
    }
    digits = all_digits(lab, USPS_VECTORS)
    seconds = {name: _medians(found) for name, found in outcomes.items()}
    seconds["usps"] = {m: float(sum(d["seconds"][m] for d in digits)) for m in ("svm", "rs", "slmc")}
    iterations = {
        name: [int(one["iterations"]) for one in found] for name, found in {**outcomes, "usps": digits}.items()
    }
    ways = {
        name: float(np.median([one["equivalent"] / one["linear"] for one in found])) for name, found in outcomes.items()
    }
    rows = [_row(name, seconds[name], iterations[name], ways.get(name)) for name in (*SETS, "usps")]
    header = ["set", "SLMC, s", "SLMC / SVM", "SLMC / RS", "SLMC / RVM", "iterations of SLMC", "K_z / phi_z"]
    body = _report.markdown(header, rows)
    claims = [
        _iterations_claim(iterations),
        _order_claim("USPS", "RS", PAPER_HOURS, seconds["usps"], "h"),
        _order_claim("Banana", "RVM", PAPER_SECONDS, seconds[BANANA], "s"),
        _ways_claim(ways),
    ]
    return Section("[W05] Section 7.8: training time of SLMC", NOTES, body, claims=claims)


def _medians(outcomes: Sequence[Outcome]) -> dict[str, float]:
    return {m: float(np.median([one["seconds"][m] for one in outcomes])) for m in outcomes[0]["seconds"]}


def _row(name: str, seconds: dict[str, float], iterations: Sequence[int], ways: float | None) -> list[str]:
    ratios = [f"{seconds['slmc'] / seconds[m]:.2g}" if m in seconds else "" for m in ("svm", "rs", "rvm")]
    spread = f"{min(iterations)} to {max(iterations)}"
    return [name, f"{seconds['slmc']:.2g}", *ratios, spread, "" if ways is None else f"{ways:.2g}"]


def _iterations_claim(iterations: dict[str, list[int]]) -> Claim:
    every = [n for found in iterations.values() for n in found]
    least, most = ITERATIONS
    within = sum(least <= n <= most for n in every)
    text = "the SLMC algorithm requires 20-200 iterations to converge"
    figures = f"{min(every)} to {max(every)}; {within} of {len(every)} trainings within"
    return Claim(SOURCE, text, figures, "all trainings within", within == len(every))


def _order_claim(name: str, other: str, paper: dict[str, float], ours: dict[str, float], unit: str) -> Claim:
    """Return a claim on which of SLMC and another method takes longer."""
    slmc, rival = paper["slmc"], paper[other.lower()]
    printed, found = slmc / rival, ours["slmc"] / ours[other.lower()]
    text = f"on {name}, SLMC takes {slmc:g} {unit} to train, {other} {rival:g} {unit}"
    side = "above" if printed > 1.0 else "below"
    figures = f"SLMC / {other} is {found:.2g} (the paper: {printed:.2g})"
    return Claim(SOURCE, text, figures, f"{side} 1", (found > 1.0) == (printed > 1.0))


def _ways_claim(ways: dict[str, float]) -> Claim:
    slower = sum(ratio >= MUCH_SLOWER for ratio in ways.values())
    text = "equivalently we can build an SVM with the kernel function K_z; but this is much slower"
    figures = (
        f"{min(ways.values()):.2g} to {max(ways.values()):.2g} times as long; {MUCH_SLOWER:g} times or more on "
        f"{slower} of {len(ways)} sets"
    )
    rule = f"{MUCH_SLOWER:g} times or more on most sets"
    return Claim(f"{SOURCE}, footnote 8", text, figures, rule, 2 * slower > len(ways))
