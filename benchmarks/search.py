"""Searches of some minutes against longer ones: what more time buys, for one budget on one device.

Every search starts from nothing, in a study of its own. The test rows are those of benchmarks.defaults and choose
nothing; accuracy is that of the winner in its own number format.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks import _report
from benchmarks.defaults import SETS
from sparsegen import data
from sparsegen.budget.amounts import parse_bytes, parse_milliseconds, parse_seconds
from sparsegen.budget.budget import Budget
from sparsegen.promised import percent
from sparsegen.search.find import find_best

USUAL = ("digits", "image", "letter", "basicmotions", "exercises", "gestures")


@dataclass(frozen=True)
class Result:
    """What one search found."""

    name: str
    asked: str
    seconds: float
    """In all, the winner's training and its measurement included."""
    candidates: int
    stopped: int
    inside: float
    """Accuracy in cross-validation, which chose."""
    accuracy: float
    test_rows: int
    dtype: str
    vectors: int
    flash: int
    ram: int
    milliseconds: float | None
    """Of the slowest measured row."""


def main(arguments: Sequence[str]) -> str:
    """Return the table."""
    options = _report.parser(str(__doc__))
    options.add_argument("--sets", nargs="+", choices=list(SETS), default=list(USUAL))
    options.add_argument("--times", nargs="+", default=["10m", "1h"], help="lengths of searches, the longest last")
    options.add_argument("--device", default="cortex-m0plus")
    options.add_argument("--flash", default="4K")
    options.add_argument("--latency", default="1ms")
    options.add_argument("--jobs", type=_report.count, default=2)
    options.add_argument("--trials", type=_report.count, help="stop after so many candidates, whatever the time")
    given = options.parse_args(arguments)
    budget = Budget(parse_bytes(given.flash), None, parse_milliseconds(given.latency))
    results = [
        search(given.data, name, asked, given.device, budget, given.jobs, given.seed, given.trials)
        for name in given.sets
        for asked in given.times
    ]
    return _report.as_json([asdict(result) for result in results]) if given.json else _table(results)


def search(
    folder: Path | None, name: str, asked: str, device: str, budget: Budget, jobs: int, seed: int, trials: int | None
) -> Result:
    """Return what a search of one set finds in the time asked for."""
    problem = SETS[name](folder)
    train_set = data.from_arrays(problem.X, problem.y, source=name, groups=problem.groups)
    test_set = data.from_arrays(problem.X_test, problem.y_test, source=name)
    began = time.monotonic()
    found = find_best(
        train_set,
        test_set,
        device=device,
        budget=budget,
        seconds=parse_seconds(asked),
        trials=trials,
        jobs=jobs,
        seed=seed,
    )
    pick, tested = found.pick, found.winner.judged.rows
    return Result(
        name=name,
        asked=asked,
        seconds=time.monotonic() - began,
        candidates=found.tried["finished"],
        stopped=found.tried["stopped"],
        inside=pick.score,
        accuracy=tested.share,
        test_rows=tested.rows,
        dtype=f"{pick.dtype} {pick.reads}",
        vectors=pick.n_vectors,
        flash=pick.flash,
        ram=pick.ram,
        milliseconds=found.winner.cost.worst_milliseconds,
    )


def _table(results: Sequence[Result]) -> str:
    """Return the results; what a search lost to the longest of its set is in points of the test's accuracy."""
    header = ["set", "format", "time", "took s", "candidates", "stopped", "inside", "test", "rows", "below the longest"]
    rows = []
    for result in results:
        longest = [other for other in results if other.name == result.name][-1]
        lost = "" if result is longest else f"{100 * (longest.accuracy - result.accuracy):+.2f}"
        rows.append(
            [
                result.name,
                result.dtype,
                result.asked,
                f"{result.seconds:.0f}",
                str(result.candidates),
                str(result.stopped),
                percent(result.inside),
                percent(result.accuracy),
                str(result.test_rows),
                lost,
                str(result.vectors),
                f"{result.flash:,}",
                f"{result.ram:,}",
                "" if result.milliseconds is None else f"{result.milliseconds:.3f}",
            ]
        )
    return _report.markdown([*header, "vectors", "flash", "RAM", "worst ms"], rows, text=3)


if __name__ == "__main__":
    raise SystemExit(_report.run(main))
