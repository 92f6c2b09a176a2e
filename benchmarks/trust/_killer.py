"""The other end of _victim.py: starts commands there, and kills them."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

MAX_SECONDS = 120.0


class Victim:
    """The process in which commands run."""

    def __init__(self) -> None:
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        command = [sys.executable, "-m", "benchmarks.trust._victim"]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
        )
        self._said = b""
        self.pid = 0
        self._expect("ready")

    def close(self) -> None:
        """End the process."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.wait()

    def start(self, arguments: Sequence[str], limit: int | None = None, *, here: bool = False) -> None:
        """Start a command in a fork, or ``here``, in the process from which the later forks are made."""
        self._send(json.dumps({"arguments": list(arguments), "limit": limit, "here": here}))
        self.pid = int(self._expect("pid"))

    def finish(self) -> int:
        """Return the exit code of a command that may end by itself."""
        code = int(self._expect("finished"))
        self._send("")
        return code

    def kill(self, seconds: float, *, while_writing: bool) -> None:
        """Kill the command after some seconds, counted from its start or from the moment it begins to write."""
        if while_writing:
            self._expect("writing", "finished")
        time.sleep(seconds)
        os.kill(self.pid, signal.SIGKILL)
        self._send("")

    def run(self, arguments: Sequence[str], limit: int | None = None, *, here: bool = False) -> int:
        """Run a command; return its exit code."""
        self.start(arguments, limit, here=here)
        return self.finish()

    def _send(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n".encode())
        self._process.stdin.flush()

    def _expect(self, *words: str) -> str:
        """Return what follows the first line that begins with one of the words."""
        assert self._process.stdout is not None
        handle = self._process.stdout.fileno()
        while True:
            line, newline, rest = self._said.partition(b"\n")
            if newline:
                self._said = rest
                first, _, more = line.decode().partition(" ")
                if first in words:
                    return more
                continue
            if not select.select([handle], [], [], MAX_SECONDS)[0] or not (read := os.read(handle, 4096)):
                raise RuntimeError(f"the victim did not say {' or '.join(words)}")
            self._said += read


@contextmanager
def running() -> Iterator[Victim]:
    """Give a process to run commands in; it ends with the block."""
    victim = Victim()
    try:
        yield victim
    finally:
        victim.close()
