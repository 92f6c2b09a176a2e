"""A search on a Dask cluster of two worker processes, of which one is killed half way: nothing but its work is lost.

A scheduler runs here; two workers are processes of their own that nothing starts again. ``sparsegen search`` runs on
them with trials to a number. When half of these are finished, one worker gets kill -9 while it is at work. The search
must go on with the other to its end, hold every trial, none of them failed, and find a model.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from benchmarks import _report
from benchmarks.search_kills import MAX_SECONDS, POLL_SECONDS, count_trials, search_command, trials_of, write_rows
from sparsegen.errors import ToolError

WORKERS = 2
START_SECONDS = 120.0


def main(arguments: Sequence[str]) -> str:
    """Return the table."""
    options = _report.parser(str(__doc__))
    options.add_argument("--trials", type=_report.count, default=24)
    given = options.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        write_rows(folder / "digits.csv")
        client, workers = stack.enter_context(_cluster())
        address = client.scheduler.address
        search = [*search_command(folder / "digits.csv", folder, given.trials, 1), "--engine", address]
        began = time.monotonic()
        process = subprocess.Popen(search, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        at_kill, running = _kill_half_way(process, folder / "study.db", given.trials, client, workers[0])
        told, complaints = process.communicate(timeout=MAX_SECONDS)
        seconds = time.monotonic() - began
        left = len(client.nthreads())
        trials = trials_of(folder / "study.db")
        model = (folder / "best.safetensors").exists()
    if process.returncode:
        raise ToolError(f"the search failed: {complaints[-300:]}")
    document = {
        "workers": WORKERS,
        "workers_at_the_end": left,
        "trials_at_the_kill": at_kill,
        "tasks_on_the_killed_worker": running,
        "trials": len(trials),
        "trials_that_failed": sum("failure" in " ".join(one) for one in trials.values()),
        "model_found": model,
        "score": json.loads(told)["test_score"],
        "seconds": round(seconds, 1),
    }
    if given.json:
        return _report.as_json(document)
    return _report.markdown(["", "found"], [[name.replace("_", " "), str(value)] for name, value in document.items()])


@contextmanager
def _cluster() -> Iterator[tuple[Any, list[subprocess.Popen[bytes]]]]:
    """Yield a client of a scheduler in this process, and workers that are processes of their own."""
    from distributed import Client, LocalCluster

    with LocalCluster(n_workers=0, processes=False, protocol="tcp://", dashboard_address=":0") as cluster:
        made = [sys.executable, "-m", "distributed.cli.dask_worker", cluster.scheduler_address]
        made += ["--no-nanny", "--nthreads", "1", "--no-dashboard"]
        workers = [
            subprocess.Popen([*made, "--name", f"worker{i}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            for i in range(WORKERS)
        ]
        try:
            with Client(cluster.scheduler_address) as client:
                client.wait_for_workers(WORKERS, timeout=START_SECONDS)
                yield client, workers
        finally:
            for worker in workers:
                worker.kill()
                worker.wait()


def _kill_half_way(
    process: subprocess.Popen[str], study: Path, trials: int, client: Any, worker: subprocess.Popen[bytes]
) -> tuple[int, int]:
    """Kill a worker at work once half of the trials are finished; return how many were, and what it was running."""
    end = time.monotonic() + MAX_SECONDS
    while count_trials(study) < trials // 2:
        if process.poll() is not None or time.monotonic() > end:
            raise ToolError("the search ended before half of its trials were finished")
        time.sleep(POLL_SECONDS)
    pids = client.run(os.getpid)
    (victim,) = (address for address, pid in pids.items() if pid == worker.pid)
    while not (running := len(client.processing().get(victim, ()))) and process.poll() is None:
        time.sleep(POLL_SECONDS)
    os.kill(worker.pid, signal.SIGKILL)
    return count_trials(study), running


if __name__ == "__main__":
    raise SystemExit(_report.run(main))
