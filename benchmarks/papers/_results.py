"""What a table shows: Markdown, plots, and each of its figures checked against the paper's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import _report

ERROR_ALLOWANCE = 1.0  # percentage points over the paper's error
VECTOR_ALLOWANCE = 1.2  # times the paper's number of vectors
UNEXPLAINED = "unexplained"

Figure = tuple[str, str]
"""A cell of a table and the kind of its figure."""


@dataclass(frozen=True)
class Check:
    """A figure of ours, what the paper printed for it, and the most it may be."""

    cell: str
    kind: str
    """"error" (percent) or "vectors"."""
    ours: float
    paper: float
    limit: float
    decimals: int = 1
    """As the paper prints; ours is rounded alike before it is compared."""

    @property
    def figure(self) -> Figure:
        """Which figure of the table it is."""
        return self.cell, self.kind

    @property
    def within(self) -> bool:
        """Whether the figure is at most its limit."""
        return round(self.ours, self.decimals) <= self.limit + 1e-9

    @property
    def as_good(self) -> bool:
        """Whether the figure is at most the paper's."""
        return round(self.ours, self.decimals) <= self.paper + 1e-9


@dataclass(frozen=True)
class Claim:
    """A conclusion of a paper, what we found, and whether that bears the conclusion out."""

    source: str
    """Paper and place, such as ``[W05] 7.2``."""
    text: str
    """What the paper concludes, in its own words or as near to them as the table allows."""
    found: str
    """The figures that decide: by how much it holds or fails here."""
    rule: str
    """What the figures must be for the conclusion to hold."""
    holds: bool
    detail: str = ""
    """More figures, such as the paper's own; they decide nothing."""

    @property
    def paper(self) -> str:
        """The key of the paper, such as ``[W05]``."""
        return self.source.partition(" ")[0]


@dataclass(frozen=True)
class Section:
    """One table or figure of a paper."""

    title: str
    notes: str
    """Protocol, which splits are original, what differs from the paper."""
    body: str
    checks: Sequence[Check] = ()
    claims: Sequence[Claim] = ()
    plots: Sequence[Path] = ()
    reasons: dict[Figure, str] = field(default_factory=dict)
    """Why a figure misses: what cells of the same run show, or that nobody knows."""


def error_check(
    cell: str, errors: Sequence[float], paper: float, decimals: int = 1, allowance: float = ERROR_ALLOWANCE
) -> Check:
    """Return the check of a mean test error in percent."""
    return Check(cell, "error", float(np.mean(errors)), paper, paper + allowance, decimals)


def vector_check(cell: str, vectors: Sequence[float], paper: float, decimals: int = 1) -> Check:
    """Return the check of a mean number of vectors."""
    return Check(cell, "vectors", float(np.mean(vectors)), paper, paper * VECTOR_ALLOWANCE, decimals)


def splits_reason(check: Check, errors: Sequence[float]) -> str:
    """Return what the errors on all splits of a file say about a miss of the mean over the first ones."""
    mean = float(np.mean(errors))
    cause = f"{UNEXPLAINED}, and not chance of the splits"
    if round(mean, check.decimals) <= check.limit + 1e-9:
        cause = "chance of the splits"
    elif round(mean, check.decimals) < round(check.ours, check.decimals):
        cause = f"in part chance of the splits, the rest {UNEXPLAINED}"
    return f"{cause}: over all {len(errors)} of the file the same setting gives {mean:.{check.decimals}f}"


def mean_std(values: Sequence[float], decimals: int = 2) -> str:
    """Return mean ± standard deviation."""
    if len(values) < 2:
        return f"{np.mean(values):.{decimals}f}"
    return f"{np.mean(values):.{decimals}f} ± {np.std(values, ddof=1):.{decimals}f}"


def column(outcomes: Iterable[dict[str, Any]], name: str) -> list[float]:
    """Return one entry of every outcome."""
    return [float(outcome[name]) for outcome in outcomes]


def document(sections: Sequence[Section], head: str, unfinished: Sequence[str] = ()) -> str:
    """Return RESULTS.md: the papers' conclusions, which figures missed, then every section."""
    checks = [(section, check) for section in sections for check in section.checks]
    parts = ["# The papers' tables, reproduced"]
    if unfinished:
        parts.append(f"Tables that are not finished and left out: {', '.join(unfinished)}.")
    parts += [*_claims(sections), "## Figures beside the papers'", head]
    parts += [*_summary(checks), *_missed(checks), *map(_section, sections)]
    return "\n\n".join(parts) + "\n"


def _summary(checks: Sequence[tuple[Section, Check]]) -> list[str]:
    lines = []
    for kind in ("error", "vectors"):
        chosen = [check for _, check in checks if check.kind == kind]
        if chosen:
            within, as_good = sum(check.within for check in chosen), sum(check.as_good for check in chosen)
            name = "Mean test error" if kind == "error" else "Number of vectors"
            lines.append(
                f"- {name}: {within} of {len(chosen)} cells are near enough; {as_good} are at or below the paper's."
            )
    return ["\n".join(lines)] if lines else []


def _missed(checks: Sequence[tuple[Section, Check]]) -> list[str]:
    rows = [
        [
            f"{section.title.partition(':')[0]}: {check.cell}",
            check.kind,
            f"{check.ours:.{check.decimals}f}",
            f"{check.paper:.{check.decimals}f}",
            section.reasons.get(check.figure, UNEXPLAINED),
        ]
        for section, check in checks
        if not check.within
    ]
    if not rows:
        return []
    header = ["cell", "figure", "ours", "paper", "reason"]
    return ["### Cells that miss", _report.markdown(header, rows, text=len(header))]


def _claims(sections: Sequence[Section]) -> list[str]:
    claims = [claim for section in sections for claim in section.claims]
    rows = [[c.source, c.text, _verdict(c), c.found] for c in claims]
    if not rows:
        return []
    papers: dict[str, list[bool]] = {}
    for claim in claims:
        papers.setdefault(claim.paper, []).append(claim.holds)
    counts = ", ".join(f"{paper} {sum(holds)} of {len(holds)}" for paper, holds in papers.items())
    head = (
        f"{sum(claim.holds for claim in claims)} of {len(claims)} conclusions of the papers hold here: {counts}. What "
        "each must show to hold is said beside its table, further down."
    )
    return [head, _report.markdown(["paper", "conclusion", "here", "by how much"], rows, text=4)]


def _verdict(claim: Claim) -> str:
    return "holds" if claim.holds else "**does not hold**"


def _section(section: Section) -> str:
    images = [f"![{section.title}]({plot.name})" for plot in section.plots]
    rules = [_rule(claim) for claim in section.claims]
    decided = ["Conclusions:", "\n".join(rules)] if rules else []
    return "\n\n".join([f"## {section.title}", section.notes, section.body, *decided, *images])


def _rule(claim: Claim) -> str:
    detail = f" {claim.detail}." if claim.detail else ""
    return f'- "{claim.text}" {_verdict(claim)}: {claim.found}. Rule: {claim.rule}.{detail}'
