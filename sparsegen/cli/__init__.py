"""The ``sparsegen`` command, one file per command: parse, call the library, print.

Importing this package registers every command and must stay quick: a command imports what it needs once it runs.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module

from sparsegen.cli.app import app
from sparsegen.cli.flags import sentence
from sparsegen.errors import SparsegenError

COMMANDS = ("train", "predict", "export", "verify", "bench", "flash", "inspect", "list", "demo")
"""The modules of this package that each register one command, in the order of the help."""

for _command in COMMANDS:
    import_module(f"sparsegen.cli.{_command}")


def main() -> None:
    """Run the command; a user's mistake becomes one sentence and exit code 2."""
    if hasattr(sys.stdout, "reconfigure"):  # a label may hold letters that the terminal cannot show
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        try:
            app()
        finally:
            sys.stdout.flush()
    except SparsegenError as error:
        _fail(sentence(error))
    except MemoryError:
        _fail("there is not enough memory; use fewer rows, features or vectors")
    except BrokenPipeError:  # the reader, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)


def _fail(told: str) -> None:
    print(f"error: {told}", file=sys.stderr)
    sys.exit(2)
