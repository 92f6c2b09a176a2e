"""What runs the command as a user would: everything goes through main()."""

from __future__ import annotations

import sys

import pytest
from command_line import Ended, Run

from sparsegen import cli


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Return what runs the command with arguments and says how it ended."""

    def run_main(*arguments: object) -> Ended:
        monkeypatch.setattr(sys, "argv", ["sparsegen", *map(str, arguments)])
        capfd.readouterr()
        code: object = 0
        try:
            cli.main()
        except SystemExit as ended:
            code = ended.code
        printed = capfd.readouterr()
        return Ended(code if isinstance(code, int) else 0, printed.out, printed.err)

    return run_main
