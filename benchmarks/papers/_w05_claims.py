"""What [W05, 7.6] concludes from Table 1, scored on errors that are rounded as the paper prints them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmarks.papers._results import ERROR_ALLOWANCE, Claim

SOURCE = "[W05] 7.6"
METHODS = ("rs", "mrs", "rsvm", "mrsvm", "slmc")
MARKS = ("5%", "10%")
LARGE = ("banana", "image")
LARGE_IMPROVEMENT = 5.0
"""Percentage points that count as a large improvement; the paper's four are 10.9 to 32.4."""

Errors = Mapping[str, Mapping[str, float]]
"""Test errors in percent, by set and by row of the table."""
Group = dict[str, float]


def claims(ours: Errors, paper: Errors) -> list[Claim]:
    """Return every conclusion with what we found; "most" and "usually" mean more than half of the groups."""
    found, printed = _groups(ours), _groups(paper)
    gaps = {name: round(_rounded(rows["slmc 10%"]) - _rounded(rows["svm"]), 1) for name, rows in ours.items()}
    worst = max(gaps, key=lambda name: gaps[name])
    best = _best_or_equal(found)
    result = [
        Claim(
            SOURCE,
            "the classification accuracy of SLMC is comparable with the full SVM when N_z/N_SV = 0.1",
            f"at most {gaps[worst]:.1f} points more error, on {worst}",
            f"at most {ERROR_ALLOWANCE:.1f} points more on every set",
            gaps[worst] <= ERROR_ALLOWANCE,
        ),
        Claim(
            SOURCE,
            "SLMC outperforms the other sparse learning algorithms in most cases",
            f"best or equal in {best} of {len(found)} groups, best alone in {_alone(found)}",
            "best or equal in more than half, so that a tie counts as outperforming",
            2 * best > len(found),
            f"The paper: {_best_or_equal(printed)} and {_alone(printed)}",
        ),
        _beats(found, printed, "slmc", "rs", "the SLMC usually improves the classification results of the RS method"),
    ]
    large = [
        round(_rounded(ours[name][f"rs {mark}"]) - _rounded(ours[name][f"slmc {mark}"]), 1)
        for name in LARGE
        if name in ours
        for mark in MARKS
    ]
    if large:
        result.append(
            Claim(
                SOURCE,
                "in some cases the improvement over RS is large such as on Banana and Image data sets",
                f"by {', '.join(f'{points:.1f}' for points in large)} points",
                f"{LARGE_IMPROVEMENT:.0f} points in each",
                min(large) >= LARGE_IMPROVEMENT,
            )
        )
    return [
        *result,
        _beats(found, printed, "mrs", "rs", "in most cases MRS beats RS"),
        _beats(found, printed, "mrsvm", "rsvm", "MRSVM usually outperforms RSVM a little"),
    ]


def _beats(found: Sequence[Group], printed: Sequence[Group], winner: str, loser: str, text: str) -> Claim:
    """Return a claim that one method has the lower error in more than half of the groups."""
    wins = sum(group[winner] < group[loser] for group in found)
    equal = sum(group[winner] == group[loser] for group in found)
    in_paper = sum(group[winner] < group[loser] for group in printed)
    figures = f"lower error in {wins} of {len(found)} groups, equal in {equal}"
    rule = "lower in more than half"
    return Claim(SOURCE, text, figures, rule, 2 * wins > len(found), f"The paper: lower in {in_paper}")


def _groups(errors: Errors) -> list[Group]:
    return [{m: _rounded(rows[f"{m} {mark}"]) for m in METHODS} for rows in errors.values() for mark in MARKS]


def _best_or_equal(groups: Sequence[Group]) -> int:
    return sum(group["slmc"] <= min(group.values()) for group in groups)


def _alone(groups: Sequence[Group]) -> int:
    return sum(all(group["slmc"] < group[m] for m in METHODS if m != "slmc") for group in groups)


def _rounded(error: float) -> float:
    return round(error, 1)
