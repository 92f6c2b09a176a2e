"""The first hour of five people with sparsegen: a maker, a firmware engineer, a data scientist, an ONNX user, a reader.

Each does, in a folder of their own and with data made here, what they would try without asking, through the command
line or from Python. A row of the table is one wish and what they get to see for it; what is refused is listed as such.
The exit code is 1 if anything came out otherwise than it should.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks import _report
from benchmarks._roles import firmware_engineer, maker, newcomer, onnx_user, scientist
from benchmarks._roles.visit import FAILED, LACKING, OK, REFUSED, SKIPPED, Seen, Visit

ROLES = {
    "maker": maker.visit,
    "firmware engineer": firmware_engineer.visit,
    "data scientist": scientist.visit,
    "ONNX user": onnx_user.visit,
    "newcomer": newcomer.visit,
}


def main(arguments: Sequence[str]) -> str:
    """Return the table, or JSON."""
    return play(arguments)[0]


def play(arguments: Sequence[str]) -> tuple[str, int]:
    """Return the table, or JSON, and the exit code."""
    options = _report.parser(__doc__ or "")
    options.add_argument("--roles", nargs="+", choices=list(ROLES), default=list(ROLES), metavar="ROLE")
    chosen = options.parse_args(arguments)
    start, seen = time.perf_counter(), list[Seen]()
    for role in _report.track(chosen.roles, "roles", len(chosen.roles)):
        with tempfile.TemporaryDirectory() as folder:
            seen += Visit(role, Path(folder), chosen.seed).of(ROLES[role])
    failed = any(one.ended == FAILED for one in seen)
    if chosen.json:
        return _report.as_json([asdict(one) for one in seen]), int(failed)
    table = _report.markdown(
        ["who", "what was asked", "what they see", ""],
        [[one.role, _cell(one.asked), _cell(one.told), one.ended] for one in seen],
        text=4,
    )
    ends = Counter(one.ended for one in seen)
    counts = ", ".join(f"{ends[end]} {end}" for end in (OK, REFUSED, LACKING, SKIPPED, FAILED) if ends[end])
    return f"{table}\n\n{len(seen)} wishes: {counts}; {time.perf_counter() - start:.0f} s", int(failed)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def exit_code(arguments: Sequence[str]) -> int:
    """Print the table and return 1 if a wish failed, 2 if the program could not run."""
    ended = 0

    def table(given: Sequence[str]) -> str:
        nonlocal ended
        text, ended = play(given)
        return text

    return _report.run(table, arguments) or ended


if __name__ == "__main__":
    raise SystemExit(exit_code(sys.argv[1:]))
