"""Running make in a firmware's folder."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

from sparsegen.errors import ToolError
from sparsegen.firmware.boards import Board

BUILD_FOLDER = "build"
MAX_SECONDS = 120
"""For any step; flashing over a serial line is the slowest."""


def run_make(board: Board, folder: Path, goal: str, *options: str) -> subprocess.CompletedProcess[bytes]:
    """Return the finished process; when time runs out, make and everything it started are killed."""
    command = ["make", "-s", goal, f"BOARD={board.name}", f"BUILD={BUILD_FOLDER}", "DEFINES=", *options]
    with subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, "LC_ALL": "C"},  # the tools' messages are searched for English words
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        _limit_processor_time(process.pid)
        try:
            out, err = process.communicate(timeout=MAX_SECONDS)
        except BaseException as error:
            os.killpg(process.pid, signal.SIGKILL)
            if isinstance(error, subprocess.TimeoutExpired):
                raise ToolError(
                    f"board {board.name}: make {goal} did not end within {MAX_SECONDS} s; is the board connected, and "
                    "the model small enough?"
                ) from None
            raise
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def _limit_processor_time(pid: int) -> None:
    """Let an emulator end by itself: where sparsegen is killed, nobody else ends what make has started."""
    with suppress(ImportError, AttributeError, ProcessLookupError):  # Linux has such limits
        import resource

        resource.prlimit(pid, resource.RLIMIT_CPU, (MAX_SECONDS, MAX_SECONDS))
