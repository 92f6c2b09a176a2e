"""The tables and figures of the five papers, recomputed and compared with the printed figures.

``python -m benchmarks.papers --data FOLDER`` does all of them; name tables to do a few. Finished cells are kept in the
store: a killed run continues where it stopped, and ``--finished`` shows what it has so far. A run of all tables also
writes ``RESULTS.md``.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from benchmarks import _report
from benchmarks.papers import TABLES
from benchmarks.papers._lab import Lab, UnfinishedError
from benchmarks.papers._results import ERROR_ALLOWANCE, VECTOR_ALLOWANCE, document
from benchmarks.papers._w05_machines import USPS_ALLOWANCE
from sparsegen.files import write_atomic

HEAD = """\
Written by `python -m benchmarks.papers --data FOLDER --splits {splits}`. Errors are test errors in percent, mean ±
standard deviation over the splits. The IDA repository's own splits come first, as far as we have them (banana,
breast-cancer, german, heart, ringnorm, titanic, waveform: ten; image: nine; twonorm: one); all other splits are random
ones of the same sizes, so that a mean can differ from the paper's by chance. A figure of ours is rounded as the paper's
is before the two are compared; it may be {points:g} point of error above the paper's (USPS: {usps:g}), or {times:g}
times as many vectors."""


def main(arguments: Sequence[str]) -> str:
    """Return the sections of the tables asked for."""
    options = _options().parse_args(arguments)
    lab = Lab(options.data, options.store, options.splits, options.jobs, computes=not options.finished)
    names = options.tables or list(TABLES)
    sections, unfinished = [], []
    for name in names:
        try:
            sections.append(TABLES[name](lab, options.output))
        except UnfinishedError:
            unfinished.append(name)
    text = document(sections, _head(options.splits), unfinished)
    if len(names) == len(TABLES):
        write_atomic(options.output / "RESULTS.md", text.encode(), force=True)
    return text


def _head(splits: int) -> str:
    return HEAD.format(splits=splits, points=ERROR_ALLOWANCE, usps=USPS_ALLOWANCE, times=VECTOR_ALLOWANCE)


def _options() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(
        prog="python -m benchmarks.papers", description=(__doc__ or "").partition("\n")[0]
    )
    options.add_argument("tables", nargs="*", metavar="table", help=f"all, or some of: {', '.join(TABLES)}")
    options.add_argument("--data", type=Path, help="folder with the data sets")
    options.add_argument("--splits", type=_report.count, default=10, help="how many splits to average over")
    options.add_argument("--jobs", type=_report.count, default=1, help="processes")
    options.add_argument("--finished", action="store_true", help="compute nothing; leave unfinished tables out")
    options.add_argument("--store", type=Path, default=Path("papers-cells"), help="folder of the finished cells")
    options.add_argument("--output", type=Path, default=Path(__file__).parent, help="folder for RESULTS.md and plots")
    return options


if __name__ == "__main__":
    raise SystemExit(_report.run(main))
