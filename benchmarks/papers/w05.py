"""[W05] Table 1: seven ways to few vectors, on six IDA sets and USPS.

RS, MRS, RSVM, MRSVM and SLMC, with 5 % and 10 % as many vectors as the SVM has support vectors, and the RVM, are
compared with the SVM.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from benchmarks import _ida, _report
from benchmarks.papers import TABLES
from benchmarks.papers._lab import Case, Lab, Work
from benchmarks.papers._results import (
    ERROR_ALLOWANCE,
    Check,
    Section,
    column,
    error_check,
    mean_std,
    vector_check,
)
from benchmarks.papers._w05_claims import claims
from benchmarks.papers._w05_effort import EFFORTS, IDA_EFFORT, USPS_EFFORT, Effort
from benchmarks.papers._w05_machines import (
    USPS,
    USPS_ALLOWANCE,
    parameters,
    random_rows,
    random_rows_cv,
    reduced_set,
    reference,
    rvm,
    rvm_cv,
    slmc,
)
from benchmarks.papers._w05_per_class import METHODS as PER_CLASS_METHODS
from benchmarks.papers._w05_per_class import all_digits, joint_outcome, support_of_digits
from benchmarks.papers._w05_reasons import OF_EACH_CLASS, PER_CLASS, Results, label, reasons

SETS = ("usps", "banana", "breast-cancer", "titanic", "waveform", "german", "image")
PAPER = {  # Table 1, columns as in SETS; N_SV and N_z/N_SV of the RVM (%) are counts, all others errors (%)
    "N_SV": (2683, 86.7, 112.8, 70.6, 158.9, 408.2, 172.1),
    "svm": (4.3, 11.8, 28.6, 22.1, 9.9, 22.5, 2.8),
    "rs 5%": (4.9, 39.4, 28.8, 37.4, 9.9, 22.9, 37.6),
    "mrs 5%": (4.9, 27.6, 28.8, 23.9, 10.0, 22.5, 19.4),
    "rsvm 5%": (11.6, 29.9, 29.5, 24.5, 15.1, 23.6, 23.6),
    "mrsvm 5%": (11.5, 28.1, 29.4, 24.8, 14.7, 23.9, 20.7),
    "slmc 5%": (4.9, 16.5, 27.9, 26.4, 9.9, 22.3, 5.2),
    "rs 10%": (4.7, 21.9, 27.9, 26.6, 10.0, 22.9, 18.3),
    "mrs 10%": (4.8, 17.5, 29.0, 22.6, 9.9, 22.6, 6.9),
    "rsvm 10%": (8.2, 17.5, 31.0, 22.9, 11.6, 24.5, 14.2),
    "mrsvm 10%": (8.0, 16.9, 30.3, 23.9, 11.8, 23.7, 12.7),
    "slmc 10%": (4.7, 11.0, 27.9, 22.4, 9.9, 22.9, 3.6),
    "rvm share": (11.8, 13.2, 5.6, 92.5, 9.2, 3.1, 20.1),
    "rvm": (5.1, 10.8, 29.9, 23.0, 10.9, 22.2, 3.9),
}
RATIOS = (0.05, 0.1)

NOTES = f"""\
Protocol of section 7: the first ten splits; SVM, RS, MRS and SLMC with the repository's C and gamma (USPS: C = 10,
gamma = 1/128); 5 % and 10 % of the SVM's support vectors of the same split, rounded up (USPS: 134 and 268, shared by
the ten classes). The paper builds ten machines for USPS and does not say how their vectors are counted. Its N_SV is
like ours where a row that several machines use counts once. In the lines "per class" each machine has vectors of its
own, 134 and 268 in all, shared out in proportion to the support vectors of the ten; in the lines "of each class" it has
5 % and 10 % of its own support vectors. RSVM's C and gamma and the RVM's gamma have the lowest 5-fold error on the
training rows of the first {IDA_EFFORT.selection_splits} splits (image: {EFFORTS["image"].selection_splits}; USPS: RSVM
on the first {USPS_EFFORT.selection_rows} training rows, the RVM with the SVM's gamma), from coarse grids; MRSVM has
RSVM's parameters and rows. SLMC: hinge loss, random starts, the lowest objective of {IDA_EFFORT.slmc_starts} (USPS:
{USPS_EFFORT.slmc_starts}), stopped when ten iterations gain less than 1 %, a rule that was settled while looking at
these sets. RS: the paper takes the best of three
programs by eq. (4), here it is the best of {IDA_EFFORT.rs_starts} starts, by turns from the fixed-point iteration and
from random support vectors (USPS: {USPS_EFFORT.rs_starts}); MRS has its vectors. RSVM and MRSVM: the mean of
{IDA_EFFORT.draws} random draws per split (USPS: {USPS_EFFORT.draws}). RVM: on USPS it chooses among
{USPS_EFFORT.rvm_candidates} random training rows; a machine makes {IDA_EFFORT.rvm_changes} changes at most (USPS:
{USPS_EFFORT.rvm_changes}); the paper copied its RVM figures from Tipping (2001). All splits are original but the last
of image. Each cell: ours (the paper's). N_z is the mean number of vectors, the paper's is its share of its N_SV."""


@TABLES.register("w05-table1")
def table1(lab: Lab, folder: Path) -> Section:
    """Return Table 1 with our figures beside the paper's."""
    results = [_results(lab, name) for name in SETS]
    lines = [[label(row), *(_cell(result, row) for result in results)] for row in _rows()]
    chosen = [[name, *(result.chosen[name] for result in results)] for name in results[0].chosen]
    body = "\n\n".join(
        [
            _report.markdown(["test error %", *SETS], lines),
            "Parameters chosen by cross-validation:",
            _report.markdown(["parameter", *SETS], chosen),
        ]
    )
    checks = [check for result in results for check in _checks(result)]
    ours = {result.name: {row: result.mean(row) for row in result.rows} for result in results}
    paper = {result.name: {row: _paper(result, row) for row in result.rows} for result in results}
    return Section(
        "[W05] Table 1: seven sparse machines",
        f"{NOTES} {_counted_for_each(lab)} {_unsolved(results)}",
        body,
        checks,
        claims(ours, paper),
        reasons=reasons(lab, checks, results),
    )


def _paper(result: Results, row: str) -> float:
    """Return the paper's figure."""
    return float(PAPER[row.removesuffix(PER_CLASS).removesuffix(OF_EACH_CLASS)][SETS.index(result.name)])


def _rows() -> Iterator[str]:
    """Yield the rows of the table: the paper's, and after SLMC's those with vectors of its own for each class."""
    for row in PAPER:
        yield row
        method, _, mark = row.partition(" ")
        if method == "slmc":
            yield from (f"{m} {mark}{ending}" for ending in (PER_CLASS, OF_EACH_CLASS) for m in PER_CLASS_METHODS)


def _counted_for_each(lab: Lab) -> str:
    """Return how many vectors USPS has where a row counts for each machine that uses it."""
    support = support_of_digits(lab)
    shares = " and ".join(str(_of_each_class(ratio, support)) for ratio in RATIOS)
    return f'Our N_SV of USPS is {support:,} if a row counts for each machine; "of each class" has {shares} in all.'


def _of_each_class(ratio: float, support: int) -> int:
    return round(ratio * support)


def _unsolved(results: Sequence[Results]) -> str:
    """Return which machines of the RVM reached the bound on their changes."""
    counts = {
        result.name: [sum(column(result.rows["rvm"], key)) for key in ("unsolved", "machines")] for result in results
    }
    words = [f"{name} {unsolved:.0f} of {all_:.0f}" for name, (unsolved, all_) in counts.items() if unsolved]
    return (
        f"Machines of the RVM that made as many changes as they may and did not converge: {', '.join(words) or 'none'}."
    )


def _results(lab: Lab, name: str) -> Results:
    """Return every outcome of one column of the table."""
    effort = EFFORTS.get(name, IDA_EFFORT)
    positions = [0] if name == USPS else list(lab.positions(name))
    cases = [{"name": name, "position": position} for position in positions]
    results = Results(name)
    results.rows["svm"] = lab.map(reference, cases, f"{name}: SVM")
    for ratio in RATIOS:
        mark = f"{ratio:.0%}"
        sized = [{**case, "n_vectors": n} for case, n in zip(cases, _sizes(results, ratio), strict=True)]
        starts = [{**case, "n_init": effort.rs_starts} for case in sized]
        results.add(("rs", "mrs"), mark, lab.map(reduced_set, starts, f"{name}, {mark}: RS, MRS"))
        chosen = _choose_random_rows(lab, sized[: effort.selection_splits], effort)
        results.draws[mark] = [{**case, **chosen} for case in sized]
        results.chosen[f"RSVM {mark}: C, gamma"] = f"{chosen['C']:g}, {chosen['gamma']:.3g}"
        draws = [{**case, **chosen, "draws": effort.draws} for case in sized]
        results.add(("rsvm", "mrsvm"), mark, lab.map(random_rows, draws, f"{name}, {mark}: RSVM, MRSVM"))
        starts = [{**case, "n_init": effort.slmc_starts} for case in sized]
        results.rows[f"slmc {mark}"] = lab.map(slmc, starts, f"{name}, {mark}: SLMC")
        if name == USPS:
            totals = {
                PER_CLASS: _sizes(results, ratio)[0],
                OF_EACH_CLASS: _of_each_class(ratio, support_of_digits(lab)),
            }
            for ending, n_vectors in totals.items():
                digits = all_digits(lab, n_vectors)
                for method in PER_CLASS_METHODS:
                    results.rows[f"{method} {mark}{ending}"] = [joint_outcome(digits, method)]
    results.validated.update(_rvm_errors(lab, cases[: effort.selection_splits], effort))
    gamma = min(results.validated, key=results.validated.__getitem__)
    results.chosen["RVM: gamma"] = f"{gamma:.3g}"
    settings = {
        "gamma": gamma,
        "n_init": effort.rvm_starts,
        "n_candidates": effort.rvm_candidates,
        "max_iter": effort.rvm_changes,
    }
    results.rows["rvm"] = lab.map(rvm, [{**case, **settings} for case in cases], f"{name}: RVM")
    return results


def _sizes(results: Results, ratio: float) -> list[int]:
    """Return the numbers of vectors: a share of each split's support vectors; on USPS the paper's own number."""
    if results.name == USPS:
        return [round(ratio * _paper(results, "N_SV"))]
    return [_ida.share_of(ratio, n) for n in column(results.rows["svm"], "vectors")]


def _choose_random_rows(lab: Lab, cases: Sequence[Case], effort: Effort) -> dict[str, float]:
    """Return C and gamma of the lowest mean cross-validated error of RSVM."""
    name = cases[0]["name"]
    grid = [
        {"C": C, "gamma": factor * parameters(name).gamma}
        for C, factor in itertools.product(effort.C, effort.gamma_factors)
    ]
    cases = [{**case, "draws": effort.selection_draws} for case in cases]
    errors = _validated(lab, random_rows_cv, cases, grid, effort, f"{name}: parameters of RSVM")
    return grid[int(np.argmin(errors))]


def _rvm_errors(lab: Lab, cases: Sequence[Case], effort: Effort) -> dict[float, float]:
    """Return the mean cross-validated error of the RVM at every gamma; nothing is computed for a single one."""
    name = cases[0]["name"]
    gammas = [factor * parameters(name).gamma for factor in effort.rvm_gamma_factors]
    if len(gammas) == 1:
        return {gammas[0]: np.nan}
    cases = [{**case, "n_candidates": effort.rvm_candidates, "max_iter": effort.rvm_changes} for case in cases]
    grid = [{"gamma": gamma} for gamma in gammas]
    return dict(zip(gammas, _validated(lab, rvm_cv, cases, grid, effort, f"{name}: gamma of the RVM"), strict=True))


def _validated(
    lab: Lab, work: Work, cases: Sequence[Case], grid: Sequence[dict[str, float]], effort: Effort, title: str
) -> list[float]:
    """Return the mean error over the cases of every setting."""
    trials = [{**case, **settings, "n_rows": effort.selection_rows} for settings in grid for case in cases]
    errors = np.reshape(column(lab.map(work, trials, title), "error"), (len(grid), len(cases)))
    return [float(error) for error in errors.mean(axis=1)]


def _cell(result: Results, row: str) -> str:
    """Return our figure with the paper's in brackets; nothing where two classes have one machine anyway."""
    if row.endswith((PER_CLASS, OF_EACH_CLASS)) and row not in result.rows:
        return ""
    paper = _paper(result, row)
    if row == "N_SV":
        return f"{mean_std(column(result.rows['svm'], 'vectors'), 1)} ({paper:g})"
    if row == "rvm share":
        return f"{mean_std(column(result.rows['rvm'], 'vectors'), 1)} ({paper / 100 * _paper(result, 'N_SV'):.1f})"
    return f"{mean_std(column(result.rows[row], 'error'))} ({paper:.1f})"


def _checks(result: Results) -> Iterator[Check]:
    name, allowance = result.name, USPS_ALLOWANCE if result.name == USPS else ERROR_ALLOWANCE
    support = _paper(result, "N_SV")
    yield vector_check(f"{name}, SVM", column(result.rows["svm"], "vectors"), support)
    for ratio in RATIOS if name != USPS else ():  # on USPS the number is the paper's own
        mark = f"{ratio:.0%}"
        vectors = column(result.rows[f"slmc {mark}"], "vectors")
        yield vector_check(f"{name}, {mark}", vectors, ratio * support)
    yield vector_check(
        f"{name}, RVM", column(result.rows["rvm"], "vectors"), _paper(result, "rvm share") / 100 * support
    )
    for row, outcomes in result.rows.items():
        if row.endswith(OF_EACH_CLASS):  # more vectors than the paper prints
            continue
        yield error_check(f"{name}, {label(row)}", column(outcomes, "error"), _paper(result, row), allowance=allowance)
