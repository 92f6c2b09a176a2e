"""Mutate the code and print one table: mutants, killed, survivors with and without a reason.

Exit code 1 where an area is below ``--least`` per cent, or has survivors that ``survivors.md`` does not explain.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import _report
from benchmarks.mutation import AREAS, reasons
from benchmarks.mutation.campaign import BrokenTestsError, Campaign, Verdict, sample

DEFAULT_SAMPLE = 100
LEAST = 90.0


@dataclass(frozen=True)
class Score:
    """The verdicts on an area."""

    area: str
    killed: list[Verdict]
    explained: list[Verdict]
    unexplained: list[Verdict]

    @property
    def n_mutants(self) -> int:
        """How many were tried."""
        return len(self.killed) + len(self.explained) + len(self.unexplained)

    @property
    def per_cent(self) -> float:
        """How many of all mutants were killed; a reason saves no survivor from being counted."""
        return 100.0 * len(self.killed) / max(1, self.n_mutants)


def main(arguments: Sequence[str]) -> tuple[str, int]:
    """Return the table, or JSON, and the exit code."""
    options = _report.parser(__doc__ or "")
    options.add_argument("--areas", nargs="+", choices=list(AREAS), default=list(AREAS))
    options.add_argument("--sample", type=_report.count, default=DEFAULT_SAMPLE, help="mutants per area")
    options.add_argument("--all", action="store_true", help="every mutant instead of a sample")
    options.add_argument("--only", default="", help="mutants of files whose path holds this text")
    options.add_argument("--jobs", type=_report.count, default=2, help="processes")
    options.add_argument("--slowest", type=float, default=1.0, help="leave out tests that take more seconds")
    options.add_argument("--least", type=float, default=LEAST, help="per cent that must be killed")
    options.add_argument("--cache", type=Path, help="folder to keep results in; default: one that is thrown away")
    chosen = options.parse_args(arguments)
    with tempfile.TemporaryDirectory() as thrown_away:
        cache = chosen.cache or Path(thrown_away)
        with Campaign(cache, chosen.jobs, chosen.slowest, lambda text: print(text, file=sys.stderr)) as campaign:
            scores = [_score(campaign, name, chosen) for name in chosen.areas]
    low = any(score.per_cent < chosen.least for score in scores)
    code = int(low or any(score.unexplained for score in scores))
    if chosen.json:
        return _report.as_json([_document(score) for score in scores]), code
    return _table(scores), code


def _score(campaign: Campaign, name: str, chosen: Any) -> Score:
    known = reasons.read(reasons.SURVIVORS.read_text(encoding="utf-8"))
    drawn = [
        mutant
        for mutant in sample(AREAS[name], None if chosen.all or chosen.only else chosen.sample, chosen.seed)
        if chosen.only in mutant.path
    ]
    if chosen.only and not chosen.all:
        drawn = drawn[: chosen.sample]
    score = Score(name, [], [], [])
    for verdict in _report.track(campaign.judge(AREAS[name], drawn), name, len(drawn)):
        explained = score.explained if verdict.mutant.key in known else score.unexplained
        (explained if verdict.killed_by is None else score.killed).append(verdict)
    return score


def _document(score: Score) -> dict[str, Any]:
    return {
        "area": score.area,
        "mutants": score.n_mutants,
        "killed": len(score.killed),
        "per_cent": round(score.per_cent, 2),
        "survivors_with_a_reason": [_survivor(verdict) for verdict in score.explained],
        "survivors_without": [_survivor(verdict) for verdict in score.unexplained],
    }


def _survivor(verdict: Verdict) -> dict[str, Any]:
    mutant = verdict.mutant
    return {
        "file": mutant.path,
        "line": mutant.lines[0],
        "where": mutant.where,
        "original": mutant.original,
        "mutated": mutant.mutated,
        "tests": verdict.n_tests,
    }


def _table(scores: list[Score]) -> str:
    header = ["area", "mutants", "killed", "per cent", "survivors with a reason", "without"]
    rows = [
        [
            score.area,
            str(score.n_mutants),
            str(len(score.killed)),
            f"{score.per_cent:.1f}",
            str(len(score.explained)),
            str(len(score.unexplained)),
        ]
        for score in scores
    ]
    lines = [_report.markdown(header, rows)]
    for verdict in (verdict for score in scores for verdict in score.unexplained):
        mutant = verdict.mutant
        lines.append(f"\n{mutant.path}:{mutant.lines[0]} {mutant.where} ({verdict.n_tests} tests reach it)")
        lines.append(f"  {mutant.original}\n  {mutant.mutated}")
    return "\n".join(lines)


if __name__ == "__main__":
    try:
        text, code = main(sys.argv[1:])
    except BrokenTestsError as error:
        text, code = f"error: {error}", 2
    print(text)
    sys.exit(code)
