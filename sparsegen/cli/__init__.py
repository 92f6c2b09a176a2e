"""The ``sparsegen`` command, one file per command: parse, call the library, print.

Importing this package registers every command and must stay quick: a command imports what it needs once it runs.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from sparsegen.cli.app import app
from sparsegen.cli.console import complain, set_quiet
from sparsegen.cli.flags import sentence
from sparsegen.errors import SparsegenError

COMMANDS = (
    "train",
    "search",
    "compress",
    "predict",
    "export",
    "verify",
    "bench",
    "flash",
    "inspect",
    "report",
    "list",
    "demo",
)
"""The modules of this package that each register one command, in the order of the help."""

for _command in COMMANDS:
    import_module(f"sparsegen.cli.{_command}")


def main() -> None:
    """Run the command; a user's mistake becomes one sentence and exit code 2."""
    for stream in ("stdout", "stderr"):
        if getattr(sys, stream) is None:  # closed by the shell: >&-
            setattr(sys, stream, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - until the process ends
    if hasattr(sys.stdout, "reconfigure"):  # a label may hold letters that the terminal cannot show
        sys.stdout.reconfigure(errors="backslashreplace")
    set_quiet(False)
    try:
        try:
            app(prog_name="sparsegen")  # what a shell completes, however the command was started
        finally:
            sys.stdout.flush()
    except SparsegenError as error:
        _fail(sentence(error))
    except MemoryError:
        _fail("there is not enough memory; use fewer rows, features or vectors")
    except BrokenPipeError:  # the reader, such as head, has seen enough
        _drop_output()
        sys.exit(141)
    except OSError as error:
        if error.filename is not None:  # of a file, which the library should have turned into a sentence
            raise
        _drop_output()
        _fail(f"the output could not be written ({error.strerror}); make room or choose another place for it")


def _drop_output() -> None:
    """Let what is still to be printed go nowhere, or Python would fail once more as it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(told: str) -> None:
    with suppress(OSError):  # standard error may be full or closed too; the exit code still tells
        complain(f"error: {told}")
        sys.stderr.flush()
    sys.exit(2)
