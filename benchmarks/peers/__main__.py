"""Our code beside that of other generators: accuracy, agreement with its own Python, flash, RAM, instructions, cycles.

One run, one compiler per device with the same flags for all. ``x flash`` and ``x cost`` say how many times that of our
chosen q7 model a figure is. Our model has the fewest vectors that reach the SVC's accuracy less one point in
cross-validation over the training rows. Peers read rows that are scaled already, ours raw ones. ``--draw`` writes the
pictures.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks import _report
from benchmarks.peers import PEERS
from benchmarks.peers._draw import draw
from benchmarks.peers._ours import our_models, our_rows
from benchmarks.peers._problem import BUNDLED, SOURCES, prepare
from benchmarks.peers._row import Row
from benchmarks.peers._stage import Stage
from benchmarks.peers._table import table
from sparsegen.devices import DEVICES
from sparsegen.errors import DataError

DEVICE_NAMES = ("cortex-m0plus", "cortex-m4f", "atmega328p", "host")


def main(arguments: Sequence[str]) -> str:
    """Return the tables, or JSON."""
    options = _report.parser(__doc__ or "")
    options.add_argument("--problems", nargs="+", choices=list(SOURCES), default=list(BUNDLED))
    options.add_argument("--devices", nargs="+", choices=DEVICE_NAMES, default=list(DEVICE_NAMES))
    options.add_argument("--peers", nargs="+", choices=list(PEERS), default=list(PEERS))
    options.add_argument("--draw", type=Path, metavar="FOLDER", help="write one picture per problem and device")
    options.add_argument(
        "--load", type=Path, nargs="+", metavar="FILE", help="show what earlier runs wrote with --json"
    )
    chosen = options.parse_args(arguments)
    rows, notes = _run(chosen) if chosen.load is None else (_loaded(chosen.load), [])
    if chosen.draw is not None:
        draw(rows, chosen.draw)
    return _report.as_json([asdict(row) for row in rows]) if chosen.json else "\n\n".join([*table(rows), *notes])


def _loaded(paths: Sequence[Path]) -> list[Row]:
    """Return the rows of several runs; those that two runs share are the same, and kept once."""
    return list(dict.fromkeys(row for path in paths for row in _load(path)))


def _load(path: Path) -> list[Row]:
    try:
        return [Row(**row) for row in json.loads(path.read_text())]
    except (OSError, ValueError, TypeError) as error:
        raise DataError(f"{path} is not what --json writes: {error}") from None


def _run(chosen: argparse.Namespace) -> tuple[list[Row], list[str]]:
    """Return every row, and notes: what made the figures, and what is missing."""
    missing = [f"{name}: {reason}" for name in chosen.devices if (reason := DEVICES[name].missing())]
    stage = Stage([name for name in chosen.devices if DEVICES[name].missing() is None])
    missing += [reason for name in chosen.peers if (reason := PEERS[name].missing())]
    able = [name for name in chosen.peers if PEERS[name].missing() is None]
    rows: list[Row] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # peers that ask scikit-learn for what it will drop
        for name in chosen.problems:
            problem = prepare(name, chosen.data, chosen.seed)
            stage.models[name] = list(our_models(problem))
            rows += our_rows(problem, stage, stage.models[name])
            for peer in _report.track(able, name, len(able)):
                rows += PEERS[peer].rows(problem, stage)
    made_by = [f"{name}: {DEVICES[name].made_by(measuring=True)}" for name in stage.devices]
    return rows, [f"Built and run by {'; '.join(made_by)}.", *missing]


if __name__ == "__main__":
    raise SystemExit(_report.run(main))
