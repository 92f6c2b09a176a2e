"""[I08] Tables VIII, IX and XIII: the time to train and test, as ratios of the sparse machine to the ordinary one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from benchmarks import _report
from benchmarks.papers import TABLES
from benchmarks.papers._i08_machines import Setting, build, scaled_split
from benchmarks.papers._i08_printed import (
    L1,
    L1_SECONDS,
    L2,
    L2_SECONDS,
    LINEAR,
    LINEAR_ETA,
    LINEAR_SECONDS,
    Printed,
)
from benchmarks.papers._lab import Lab, Outcome
from benchmarks.papers._results import Claim, Section
from benchmarks.papers._timing import few_rows, interleaved
from sparsegen.kernels import KERNELS
from sparsegen.methods.shared.reduce import independent_rows

SPLITS = 3
ROUNDS = 5
BUDGET = 6.0
"""CPU seconds on one split, after which there is no further round."""
CHOLESKY = "Cholesky factorisation"
LONG_SHARE = 0.5
"""Of the time of the sparse machine, from which its Cholesky factorisation took long."""
SLOWER_SETS = ("german", "image")
FASTER_SETS = ("banana", "ringnorm", "titanic", "twonorm", "waveform")

NOTES = f"""\
CPU seconds of one process and one thread for training on a split and predicting its test rows, with the parameters
that the paper prints (Tables II, III, X). On each of the first {SPLITS} splits the machines run in turn, up to
{ROUNDS} rounds, fewer after {BUDGET:.0f} s; the median of the rounds, then the mean over the splits. A ratio is the
sparse machine's time over the ordinary one's: the paper's, from its rounded seconds, then ours. The ordinary machines
are LIBSVM's, the sparse ones NumPy and the Newton method of solvers/newton.py, where the paper has one program for
both; the L2 SVM is LIBSVM on the whole kernel matrix plus I / C. All go through the same estimator, which takes about
0.01 s of every time, so that ratios of times near that are pulled to 1. The paper averages over 100 or 20 splits at
2.6 GHz. Other processes on the same processor can change a ratio by a tenth or two."""

Times = dict[str, dict[str, float]]
"""Mean seconds, by set and machine."""
Ratios = dict[str, float]


def times(folder: Path, name: str, position: int, settings: dict[str, Setting]) -> Outcome:
    """Return the CPU seconds of each machine, and of the Cholesky factorisation where there is one, round by round."""
    split = scaled_split(folder, name, position)
    few = few_rows(split.y)

    def run(machine: str, setting: Setting) -> object:
        return build(machine, split, setting).fit(split.X, split.y).predict(split.X_test)

    works = {}
    for machine, setting in settings.items():
        build(machine, split, setting).fit(split.X[few], split.y[few])
        works[machine] = lambda machine=machine, setting=setting: run(machine, setting)
        if "gamma" in setting and "eta" in setting:
            kernel, eta = KERNELS["rbf"].bind(gamma=setting["gamma"] / split.X.shape[1]), setting["eta"]
            works[CHOLESKY] = lambda kernel=kernel, eta=eta: independent_rows(split.X, kernel, eta)
    return {"seconds": interleaved(works, ROUNDS, BUDGET)}


@TABLES.register("i08-times")
def computation_times(lab: Lab, folder: Path) -> Section:
    """Return Tables VIII, IX and XIII as ratios."""
    linear = _measure(lab, {name: _linear_settings(row) for name, row in LINEAR.items()}, "linear")
    l1 = _measure(lab, {name: _rbf_settings(row, "L1 SVM") for name, row in L1.items()}, "L1")
    l2 = _measure(lab, {name: _rbf_settings(row, "L2 SVM") for name, row in L2.items()}, "L2")
    osv, nosv = (_ratios(linear, "linear SVM", machine) for machine in ("OSV", "NOSV"))
    sparse_l1, sparse_l2 = _ratios(l1, "L1 SVM", "sparse L1 SVM"), _ratios(l2, "L2 SVM", "sparse L2 SVM")
    columns = {
        "OSV / SVM": (_printed(LINEAR_SECONDS, 1), osv),
        "NOSV / SVM": (_printed(LINEAR_SECONDS, 2), nosv),
        "sparse L1 / L1": (_printed(L1_SECONDS, 1), sparse_l1),
        "sparse L2 / L2": (_printed(L2_SECONDS, 1), sparse_l2),
    }
    header = ["set", *(text for title in columns for text in (f"{title}, paper", "ours"))]
    rows = [[name, *(f"{side[name]:.2g}" for pair in columns.values() for side in pair)] for name in LINEAR]
    claims = [
        _osv_claim(osv),
        _slower_claim(l1, sparse_l1),
        _cholesky_claim(l1),
        _faster_claim(sparse_l2),
    ]
    title = "[I08] Tables VIII, IX and XIII: computation times as ratios"
    seconds_header = ["seconds, ours", *(machine for table in (linear, l1, l2) for machine in _machines(table))]
    seconds = [
        [name, *(f"{table[name][machine]:.2g}" for table in (linear, l1, l2) for machine in _machines(table))]
        for name in LINEAR
    ]
    body = "\n\n".join([_report.markdown(header, rows), _report.markdown(seconds_header, seconds)])
    return Section(title, NOTES, body, claims=claims)


def _linear_settings(row: tuple[Printed, ...]) -> dict[str, Setting]:
    svm, osv, nosv = row
    return {
        "linear SVM": {"C": svm.C},
        "OSV": {"C": osv.C, "eta": LINEAR_ETA},
        "NOSV": {"C": nosv.C, "eta": LINEAR_ETA},
    }


def _rbf_settings(row: tuple[Printed, ...], machine: str) -> dict[str, Setting]:
    svm, sparse = row
    assert svm.gamma is not None
    assert sparse.eta is not None
    own = {"gamma": float(svm.gamma)}
    return {machine: {"C": svm.C, **own}, f"sparse {machine}": {"C": sparse.C, "eta": sparse.eta, **own}}


def _measure(lab: Lab, settings: Mapping[str, dict[str, Setting]], title: str) -> Times:
    """Return mean seconds over the splits, of the median of the rounds."""
    result = {}
    for name, machines in settings.items():
        cases = [{"name": name, "position": p, "settings": machines} for p in lab.positions(name)[:SPLITS]]
        found = [one["seconds"] for one in lab.map(times, cases, f"[I08] times of {name}, {title}")]
        result[name] = {m: float(np.mean([np.median(one[m]) for one in found])) for m in found[0]}
    return result


def _machines(table: Times) -> Sequence[str]:
    return [machine for machine in next(iter(table.values())) if machine != CHOLESKY]


def _ratios(table: Times, ordinary: str, sparse: str) -> Ratios:
    return {name: seconds[sparse] / seconds[ordinary] for name, seconds in table.items()}


def _printed(table: Mapping[str, tuple[float, ...]], column: int) -> Ratios:
    return {name: seconds[column] / seconds[0] for name, seconds in table.items()}


def _osv_claim(osv: Ratios) -> Claim:
    shorter = sum(round(ratio, 2) < 1.0 for ratio in osv.values())
    in_paper = sum(seconds[1] < seconds[0] for seconds in LINEAR_SECONDS.values())
    text = "the calculation of the OSV is in most cases shorter than that of the SVM"
    figures = (
        f"on {shorter} of {len(osv)} sets (the paper: {in_paper}); median ratio {np.median(list(osv.values())):.2g}"
    )
    rule = "a ratio below 1 at two decimals, on more than half"
    return Claim("[I08] Table VIII", text, figures, rule, 2 * shorter > len(osv))


def _slower_claim(l1: Times, ratios: Ratios) -> Claim:
    """Return the claim on german and image: both slower, and by more seconds than any other set."""
    excess = {name: seconds["sparse L1 SVM"] - seconds["L1 SVM"] for name, seconds in l1.items()}
    most = sorted(excess, key=lambda name: -excess[name])[: len(SLOWER_SETS)]
    slower = all(ratios[name] > 1.0 for name in SLOWER_SETS)
    figures = ", ".join(f"{name} {ratios[name]:.2g} times" for name in SLOWER_SETS)
    figures += f"; most seconds are added on {' and '.join(most)}"
    text = "especially training the german and image problems is slower"
    rule = "slower on both, and by more seconds than on any other set"
    return Claim("[I08] Table IX", text, figures, rule, slower and set(most) == set(SLOWER_SETS))


def _cholesky_claim(l1: Times) -> Claim:
    found = {name: l1[name][CHOLESKY] / l1[name]["sparse L1 SVM"] for name in SLOWER_SETS}
    figures = ", ".join(f"{share:.0%} of the time on {name}" for name, share in found.items())
    text = "german and image took long time in the Cholesky factorization"
    return Claim("[I08] Table IX", text, figures, f"{LONG_SHARE:.0%} on both", min(found.values()) >= LONG_SHARE)


def _faster_claim(ratios: Ratios) -> Claim:
    figures = ", ".join(f"{name} {ratios[name]:.2g}" for name in FASTER_SETS)
    text = (
        "for the banana, ringnorm, titanic, twonorm and waveform problems, training of sparse L2 SVMs was faster than "
        "L2 SVMs"
    )
    faster = all(round(ratios[name], 2) < 1.0 for name in FASTER_SETS)
    return Claim("[I08] Table XIII", text, f"ratios: {figures}", "below 1 at two decimals, on all", faster)
