"""A process that has imported what tests import, sparsegen apart, and forks for every job: a mutant costs no start-up.

It reads one job per line from its input and writes one answer per line, both JSON. :class:`Server` is the other end.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path
from types import TracebackType
from typing import Any

from benchmarks.mutation import ROOT

OWN_FAILURE = 70
MOST_BYTES = 6 << 30  # of memory: a mutant may ask for any size
ENVIRONMENT = {
    "NUMBA_DISABLE_JIT": "1",  # compiled code would come from a cache that knows no mutants, and cannot be traced
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MPLBACKEND": "agg",
}


class Server:
    """The process, as its user sees it: a job in, an answer out."""

    def __enter__(self) -> Server:
        command = [sys.executable, "-m", "benchmarks.mutation.server"]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=os.environ | ENVIRONMENT
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.stdin:
            self.process.stdin.close()
        self.process.terminate()
        self.process.wait()

    def ask(self, job: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to a job: see :func:`session.run`; ``ended`` says what stopped a run, if anything did."""
        assert self.process.stdin and self.process.stdout
        print(json.dumps(job), file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("the server of mutants ended; what it printed says why")
        answer: dict[str, Any] = json.loads(line)
        if answer["ended"] == "own failure":
            raise RuntimeError(answer["log"])
        return answer


def serve() -> None:
    """Answer jobs until there are no more."""
    for line in sys.stdin:
        print(json.dumps(_answer(json.loads(line))), flush=True)


def _answer(job: dict[str, Any]) -> dict[str, Any]:
    scratch = Path(tempfile.mkdtemp(prefix="mutation-"))
    child = os.fork()
    if child == 0:
        _run(job, scratch)
    answer: dict[str, Any] = {"code": None, "failed": [], "lines": None, "modules": []}
    status = _wait(child, job["seconds"])
    log = scratch / "log"
    if status is None or os.WIFSIGNALED(status):
        timed_out = status is None or os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL)
        answer["ended"] = "time" if timed_out else "crash"
    elif os.WEXITSTATUS(status) == OWN_FAILURE:
        answer["ended"] = "own failure"
    else:
        answer |= json.loads((scratch / "answer").read_text())
        answer["ended"] = None
    answer["log"] = log.read_text(errors="replace")[-3000:] if log.exists() else ""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # what the tests left running
    shutil.rmtree(scratch, ignore_errors=True)
    _preload(answer.pop("modules"))
    return answer


def _wait(child: int, seconds: float) -> int | None:
    """Return how the child ended; one that lives long after its processor time, or grows too large, is killed."""
    latest, parent = time.monotonic() + 10.0 * seconds, os.getppid()
    while time.monotonic() < latest and os.getppid() == parent and _bytes_of(child) < MOST_BYTES:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status
        time.sleep(0.02)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def _bytes_of(process: int) -> int:
    """Return the memory that a process holds, where the system tells; a limit would hold for sanitized programs too."""
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * resource.getpagesize()
    except (OSError, IndexError):
        return 0


def _run(job: dict[str, Any], scratch: Path) -> None:
    """Do the job in this fork, and end it."""
    code = OWN_FAILURE
    try:
        os.setsid()
        log = os.open(scratch / "log", os.O_WRONLY | os.O_CREAT)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(log, 1)
        os.dup2(log, 2)
        seconds = int(job["seconds"]) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
        from benchmarks.mutation import session

        answer = session.run(job, scratch)
        answer["modules"] = [name for name, module in list(sys.modules.items()) if _is_foreign(module)]
        (scratch / "answer").write_text(json.dumps(answer))
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _is_foreign(module: Any) -> bool:
    """Whether a module comes from elsewhere than this repository."""
    file = getattr(module, "__file__", None)
    return isinstance(file, str) and (not Path(file).is_relative_to(ROOT) or "site-packages" in file)


def _preload(names: list[str]) -> None:
    """Import what a fork had to import, for all later ones."""
    for name in names:
        if name not in sys.modules and not name.startswith("__"):
            with contextlib.suppress(Exception):
                importlib.import_module(name)


if __name__ == "__main__":
    serve()
