"""A process that runs ``sparsegen`` commands in forks of itself, so that a killer need not wait for imports.

``python -m benchmarks.trust._victim`` reads requests, ``{"arguments": [...], "limit": BYTES, "here": BOOL}``, one per
line. It forks for each, or runs it ``here`` to load what its later forks need. A limit forbids files that are longer.
What happens is told on standard output, one line each:

    pid N          the fork that runs the command; it stays a zombie until a line is read, so N is nobody else's
    writing        it begins to write files
    finished CODE  it ended by itself
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

TELL = 3
"""The file descriptor that the killer listens to in a fork, whose standard output is thrown away."""
FAILED = 70
"""Stands for the exit code of a command that ended with an exception."""


def tell(words: str) -> None:
    """Send one line to the killer."""
    os.write(TELL, f"{words}\n".encode())


def run_command(arguments: list[str]) -> int:
    """Run a command in this process; return its exit code."""
    from sparsegen import cli

    sys.argv = ["sparsegen", *arguments]
    try:
        cli.main()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 0
    return 0


def be_the_victim(limit: int | None) -> None:
    """Tell when files begin to be written, and forbid files that are longer than the limit."""
    from sparsegen.files import writing

    locked = writing._locked

    @contextmanager
    def announced(folder: Path) -> Iterator[None]:
        tell("writing")
        with locked(folder):
            yield

    writing._locked = announced
    if limit is not None:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))


def serve(requests: TextIO) -> None:
    """Answer every request, and bury each fork when the next line comes."""
    for line in requests:
        request = json.loads(line)
        pid = 0 if request["here"] else os.fork()
        if pid == 0:
            code = FAILED
            try:
                if not request["here"]:
                    be_the_victim(request["limit"])
                code = run_command(request["arguments"])
            finally:
                if request["here"]:
                    tell("pid 0")
                tell(f"finished {code}")
                if not request["here"]:
                    os._exit(0)
        else:
            tell(f"pid {pid}")
        requests.readline()
        if pid:
            os.waitpid(pid, 0)


if __name__ == "__main__":
    os.dup2(1, TELL)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    tell("ready")
    serve(sys.stdin)
