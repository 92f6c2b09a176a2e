"""What [I08] concludes from Tables IV to VII, XI and XII."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from benchmarks.papers._i08_machines import Setting
from benchmarks.papers._i08_printed import Printed
from benchmarks.papers._results import Check, Claim, error_check, vector_check

COMPARABLE = 1.0
"""Percentage points of error within which a sparse machine generalises as the ordinary one does."""


@dataclass(frozen=True)
class Cell:
    """A machine on a set: what the paper prints, the setting used, and errors and vectors on the splits."""

    printed: Printed
    setting: Setting
    errors: list[float]
    vectors: list[float]
    all_errors: list[float]
    """On all splits of the file, where the mean over the first ones is too far from the paper's; else empty."""

    @property
    def mean_error(self) -> float:
        """The mean error, rounded as the paper prints rates."""
        return round(float(np.mean(self.errors)), 1)

    @property
    def error_spread(self) -> float:
        """The standard deviation of the error, rounded likewise."""
        return round(float(np.std(self.errors, ddof=1)), 1) if len(self.errors) > 1 else 0.0

    @property
    def mean_vectors(self) -> float:
        """The mean number of vectors, rounded as the paper prints its own."""
        return round(float(np.mean(self.vectors)), self._vector_decimals)

    @property
    def _vector_decimals(self) -> int:
        return 0 if self.printed.vectors >= 100 else 1

    def checks(self, cell: str) -> list[Check]:
        """Return both figures' checks."""
        return [
            error_check(cell, self.errors, self.printed.error),
            vector_check(cell, self.vectors, self.printed.vectors, self._vector_decimals),
        ]


Cells = dict[tuple[str, str], Cell]


def same_claim(cells: Cells, names: Iterable[str]) -> Claim:
    """Return the claim that OSV is the SVM: the same rates."""
    pairs = [(cells[name, "linear SVM"], cells[name, "OSV"]) for name in names]
    gaps = [(abs(svm.mean_error - osv.mean_error), abs(svm.error_spread - osv.error_spread)) for svm, osv in pairs]
    same = sum(round(max(gap), 1) == 0.0 for gap in gaps)
    apart = " and ".join(f"{max(column):.1f}" for column in zip(*gaps, strict=True))
    return Claim(
        "[I08] Table IV",
        "the recognition rates and standard deviations are the same for SVM and OSV",
        f"on {same} of {len(gaps)} sets; they differ by {apart} points at most",
        "both the same at one decimal, on all sets",
        same == len(gaps),
    )


def inputs_claim(cells: Cells, inputs: Mapping[str, int]) -> Claim:
    """Return the claim that OSV and NOSV have one vector for each input."""
    differing = {
        machine: [name for name in inputs if set(cells[name, machine].vectors) != {inputs[name]}]
        for machine in ("OSV", "NOSV")
    }
    words = [
        f"{machine} on {name}: {np.mean(cells[name, machine].vectors):.1f} for {inputs[name]} inputs (the paper's "
        f"table: {cells[name, machine].printed.vectors:g})"
        for machine, names in differing.items()
        for name in names
    ]
    counts = " and ".join(f"{machine} on {len(inputs) - len(names)}" for machine, names in differing.items())
    return Claim(
        "[I08] Table VI",
        "The numbers of support vectors for OSV and NOSV are the same with the number of inputs.",
        f"{counts} of {len(inputs)} sets",
        "both, on every split of every set",
        not any(differing.values()),
        "; ".join(words),
    )


def rbf_claims(machine: str, pairs: Mapping[str, tuple[Cell, Cell]]) -> list[Claim]:
    """Return what [I08] concludes from an ordinary and a sparse machine on every set."""
    fewer = {name for name, (svm, sparse) in pairs.items() if sparse.mean_vectors < svm.mean_vectors}
    in_paper = {name for name, (svm, sparse) in pairs.items() if sparse.printed.vectors < svm.printed.vectors}
    near = {n for n, (svm, sparse) in pairs.items() if round(sparse.mean_error - svm.mean_error, 1) <= COMPARABLE}
    near_in_paper = {n for n, (svm, s) in pairs.items() if round(s.printed.error - svm.printed.error, 1) <= COMPARABLE}
    both, both_in_paper, n = len(fewer & near), len(in_paper & near_in_paper), len(pairs)
    conclusion = Claim(
        "[I08] VI",
        f"{machine}: for almost all data sets tested the sparse SVMs could realize sparsity while realizing "
        "generalization ability comparable with that of the SVMs",
        f"on {both} of {n} sets (by the paper's own tables: {both_in_paper}); comparable alone on {len(near)}, fewer "
        f"vectors alone on {len(fewer)}",
        f"fewer vectors and at most {COMPARABLE:g} point more error, on all sets but one",
        both >= n - 1,
    )
    return [_sparsity_claim(machine, fewer, in_paper, n), conclusion]


def _sparsity_claim(machine: str, fewer: set[str], in_paper: set[str], n: int) -> Claim:
    """Return the claim of [I08, V] on where the sparse machine has fewer vectors."""
    missing, further = sorted(in_paper - fewer), sorted(fewer - in_paper)
    found = f"on {len(fewer)} of {n} sets (the paper: {len(in_paper)})"
    if machine == "L2 SVM":
        text = "sparsity was obtained for 8 problems out of 13"
        return Claim("[I08] Table XII", text, found, "on at least as many", len(fewer) >= len(in_paper))
    text = "except for the image, ringnorm, splice, and thyroid problems we could reduce the number of support vectors"
    if missing:
        found += f"; not on {', '.join(missing)}"
    detail = f"Also on {', '.join(further)}" if further else ""
    return Claim("[I08] Table VII", text, found, "fewer on every set but these four", not missing, detail)
