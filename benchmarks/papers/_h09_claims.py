"""What [H09, V-A] and its abstract conclude from the test errors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.stats import ttest_rel

from benchmarks.papers._h09_cells import MIXTURES, SHARES, Cell, Cells
from benchmarks.papers._results import Claim

LEVEL = 0.05  # of the paired t-test
NEAR = 1.0  # points of error within which a compact machine counts as accurate, as for [W05]
SSKC_WINS = {("SMKC1 fixed", 0.02): 9, ("SMKC1 fixed", 0.04): 7, ("SMKC2 fixed", 0.02): 8, ("SMKC2 fixed", 0.04): 4}
"""[H09, V-A]: on how many sets SSKC is significantly better."""


def significance(one: Cell, other: Cell) -> int:
    """Return 1 where the other machine's error is significantly lower, -1 where it is higher, otherwise 0."""
    differences = np.array(one.errors) - np.array(other.errors)
    if len(differences) < 2 or not differences.any():
        return 0
    if np.ptp(differences) > 0 and ttest_rel(one.errors, other.errors).pvalue >= LEVEL:
        return 0
    return int(np.sign(differences.mean()))


def sets_of(cells: Cells) -> list[str]:
    """Return the names of the sets, each once."""
    return list(dict.fromkeys(name for name, _, _ in cells))


def means(cells: Cells, method: str, share: float) -> list[float]:
    """Return the mean error on every set."""
    return [float(np.mean(cells[name, share, method].errors)) for name in sets_of(cells)]


def as_accurate(cells: Cells, one: str, other: str, share: float, allowance: float = 1e-9) -> int:
    """Return on how many sets the other machine's mean error is at most the one's, plus an allowance."""
    pairs = zip(means(cells, one, share), means(cells, other, share), strict=True)
    return sum(theirs <= own + allowance for own, theirs in pairs)


def significant(cells: Cells, one: str, other: str, share: float) -> tuple[int, int]:
    """Return on how many sets the other machine is significantly better than the one, and worse."""
    signs = [significance(cells[name, share, one], cells[name, share, other]) for name in sets_of(cells)]
    return signs.count(1), signs.count(-1)


@dataclass(frozen=True)
class Counts:
    """On how many of ``n`` sets a machine is significantly better than another, worse, and its mean at most as high."""

    better: int
    worse: int
    as_accurate: int
    n: int


@dataclass(frozen=True)
class Rule:
    """What a machine's error, beside another's, must be for a sentence of the paper to hold."""

    text: str
    holds: Callable[[Counts], bool]


GREATLY_BETTER = Rule("significantly lower on most sets", lambda c: 2 * c.better > c.n)
BETTER = Rule(
    "significantly lower more often than higher, and at most the other's on most sets",
    lambda c: c.better > c.worse and 2 * c.as_accurate > c.n,
)
COMPARABLE = Rule("significantly lower at least as often as higher", lambda c: c.better >= c.worse)


def conclusions(cells: Cells) -> list[Claim]:
    """Return the conclusions of [H09, V-A] and of its abstract, in its words."""
    return [claim for share in SHARES for claim in _conclusions_at(cells, share)]


def _conclusions_at(cells: Cells, share: float) -> list[Claim]:
    n, at = len(sets_of(cells)), f"{share:.0%}: "
    claims = []
    for m in MIXTURES:
        printed = SSKC_WINS[f"{m} fixed", share]
        _, wins = significant(cells, "SSKC", f"{m} fixed", share)
        text = f"not sufficient to only optimize mu: SSKC outperforms {m} on {printed} data sets"
        found = f"on {wins} of {n}, significantly"
        claims.append(Claim("[H09] V-A, Figure 1", at + text, found, f"on at least {printed}", wins >= printed))
    comparisons = (
        *(
            ("V-A, Figure 2", f"optimizing the expansion vectors greatly improves {m}", f"{m} fixed", m, GREATLY_BETTER)
            for m in MIXTURES
        ),
        ("V-A, Figure 3", "SMKC1 now becomes comparable with SSKC", "SSKC", "SMKC1", COMPARABLE),
        ("V-A, Figure 3", "SMKC2 is even better [than SSKC]", "SSKC", "SMKC2", BETTER),
        ("abstract", "empirically, the second formulation is particularly competitive", "SMKC1", "SMKC2", BETTER),
    )
    for place, text, one, other, rule in comparisons:
        counts = Counts(*significant(cells, one, other, share), as_accurate(cells, one, other, share), n)
        drop = np.mean(means(cells, one, share)) - np.mean(means(cells, other, share))
        found = (
            f"significantly lower error than {one} on {counts.better} of {n} sets, higher on {counts.worse}; at most "
            f"as high on {counts.as_accurate}"
        )
        detail = f"{other}'s error is {drop:+.2f} points lower on average"
        claims.append(Claim(f"[H09] {place}", at + text, found, rule.text, rule.holds(counts), detail))
    near = as_accurate(cells, "MK-SVM", "SMKC2", share, NEAR)
    kept = np.mean(
        [np.mean(cells[s, share, "SMKC2"].vectors) / np.mean(cells[s, share, "MK-SVM"].vectors) for s in sets_of(cells)]
    )
    found = f"SMKC2 is within {NEAR:g} point of MK-SVM on {near} of {n} sets, with {kept:.1%} of its vectors"
    text = "the resultant classifier is compact and accurate"
    claims.append(Claim("[H09] abstract", at + text, found, "on most sets", 2 * near > n))
    return claims
