"""A search that is killed again and again: nothing finished is lost, and it ends where an undisturbed one does.

``sparsegen search`` runs with trials to a number and is ended by kill -9 at random moments: some time after it began,
or after it finished a trial or two more. After every kill the study must be whole, hold all trials that it held before,
unchanged, and the model must be absent or whole; no worker may be left. Then the same command runs to its end. With one
job, its candidates and its model must equal, to the bit, those of a search that nobody disturbed.
"""

from __future__ import annotations

import csv
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from benchmarks import _report
from sparsegen.errors import SparsegenError, ToolError
from sparsegen.model import SparseModel

ROWS = 500
DEVICE = "cortex-m0plus"
BUDGET = ("--flash", "3K", "--latency", "1ms")
MAX_SECONDS = 900.0
ORPHAN_SECONDS = 20.0
ATTRIBUTES = "SELECT trial_id, key, value_json FROM trial_user_attributes ORDER BY trial_id, key"
MORE_TRIALS = (0, 1, 1, 2)
POLL_SECONDS = 0.02
CLOCKS = ("seconds", "elapsed", "run")
"""What two equal searches do not share."""

Trials = dict[int, dict[str, str]]


@dataclass
class Tally:
    """What was seen."""

    kills: int = 0
    early: int = 0
    """Kills that came before the first trial was finished."""
    more: int = 0
    """Kills that came after the run had finished a trial at least."""
    ended: int = 0
    """Runs that ended before they were killed."""
    flaws: list[str] = field(default_factory=list)


def main(arguments: Sequence[str]) -> str:
    """Return the table."""
    options = _report.parser(str(__doc__))
    options.add_argument("--kills", type=_report.count, default=20)
    options.add_argument("--trials", type=_report.count, default=40)
    options.add_argument("--jobs", type=_report.count, default=1)
    given = options.parse_args(arguments)
    draw = random.Random(given.seed)  # noqa: S311 - moments, no secrets
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder) / "digits.csv"
        write_rows(rows)
        whole, killed = (Path(folder) / name for name in ("whole", "killed"))
        for place in (whole, killed):
            place.mkdir()
        began = time.monotonic()
        undisturbed = _finish(search_command(rows, whole, given.trials, 1))
        usual = time.monotonic() - began
        tally = Tally()
        command = search_command(rows, killed, given.trials, given.jobs)
        for _ in _report.track(range(given.kills), "killing", given.kills):
            _kill_once(command, killed, draw.choice(MORE_TRIALS), draw.uniform(0.0, usual / given.trials), tally)
        end = _finish(command)
        trials, wanted = trials_of(killed / "study.db"), trials_of(whole / "study.db")
        same_trials = _without_clocks(trials) == _without_clocks(wanted)
        same_model = (killed / "best.safetensors").read_bytes() == (whole / "best.safetensors").read_bytes()
    if given.jobs == 1 and not (same_trials and same_model):
        tally.flaws.append("the search that was killed ended elsewhere than the undisturbed one")
    document = {
        "kills": tally.kills,
        "before_the_first_trial": tally.early,
        "after_new_trials": tally.more,
        "ended_before_the_kill": tally.ended,
        "trials": len(trials),
        "same_trials": same_trials,
        "same_model": same_model,
        "score": end["test_score"],
        "undisturbed_score": undisturbed["test_score"],
        "flaws": tally.flaws,
    }
    if given.json:
        return _report.as_json(document)
    return _report.markdown(["", "found"], [[name.replace("_", " "), str(value)] for name, value in document.items()])


def write_rows(path: Path) -> None:
    """Write rows to search on, as CSV."""
    X, y = load_digits(return_X_y=True)
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow([*(f"p{i}" for i in range(X.shape[1])), "digit"])
        table.writerows(np.column_stack([X, y])[:ROWS].astype(int).tolist())


def search_command(rows: Path, folder: Path, trials: int, jobs: int) -> list[str]:
    """Return the command of a search that keeps everything in a folder."""
    places = ["--study", str(folder / "study.db"), "-o", str(folder / "best.safetensors")]
    search = ["search", str(rows), "--device", DEVICE, *BUDGET, "--trials", str(trials), "--jobs", str(jobs)]
    return [sys.executable, "-m", "sparsegen", *search, *places, "--json"]


def _finish(command: Sequence[str]) -> dict[str, Any]:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=MAX_SECONDS)
    if done.returncode:
        raise ToolError(f"the search failed: {done.stderr[-300:]}")
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def _kill_once(command: Sequence[str], folder: Path, more_trials: int, seconds: float, tally: Tally) -> None:
    """Start the command, kill it some seconds after it has finished so many trials more, and look at what is left."""
    study, model = folder / "study.db", folder / "best.safetensors"
    before = trials_of(study)
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    while more_trials and process.poll() is None and count_trials(study) < len(before) + more_trials:
        time.sleep(POLL_SECONDS)
    try:
        process.wait(seconds)
        tally.ended += 1
    except subprocess.TimeoutExpired:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        tally.kills += 1
    after = trials_of(study)
    tally.early += not after
    tally.more += len(after) > len(before)
    lost = [number for number, attributes in before.items() if after.get(number) != attributes]
    if lost:
        tally.flaws.append(f"trials {lost} were lost or changed")
    if study.exists():
        with closing(sqlite3.connect(study)) as connection:
            (verdict,) = connection.execute("PRAGMA integrity_check").fetchone()
            unfinished = connection.execute("SELECT COUNT(*) FROM trials WHERE state IN ('RUNNING', 'WAITING')")
            (running,) = unfinished.fetchone()
        if verdict != "ok" or running:
            tally.flaws.append(f"the study is {verdict}, {running} trials seem to be running")
    if model.exists():
        try:
            SparseModel.load(model)
        except SparsegenError as error:
            tally.flaws.append(f"the model is damaged: {error}")
    if not _is_gone(process.pid):
        tally.flaws.append("a worker was left behind")


def _is_gone(session: int) -> bool:
    """Return whether every process of a session ends soon."""
    end = time.monotonic() + ORPHAN_SECONDS
    while time.monotonic() < end:
        try:
            os.killpg(session, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


def trials_of(study: Path) -> Trials:
    """Return what every trial of a study keeps, by its number in the database."""
    found: Trials = {}
    if study.exists():
        with closing(sqlite3.connect(study)) as connection:
            for trial, key, value in connection.execute(ATTRIBUTES):
                found.setdefault(trial, {})[key] = value
    return found


def count_trials(study: Path) -> int:
    """Return how many trials a study holds by now."""
    if not study.exists():
        return 0
    with closing(sqlite3.connect(study, timeout=MAX_SECONDS)) as connection:
        return int(connection.execute("SELECT COUNT(*) FROM trials").fetchone()[0])


def _without_clocks(trials: Trials) -> list[dict[str, str]]:
    return [{key: value for key, value in one.items() if key not in CLOCKS} for one in trials.values()]


if __name__ == "__main__":
    raise SystemExit(_report.run(main))
