"""Running firmware in its board's emulator."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sparsegen.devices._toolchain import first_lines
from sparsegen.errors import ToolError
from sparsegen.firmware.build import Firmware
from sparsegen.firmware.make import run_make

END = r" (?:labels|values) as in Python"
"""What the last line of a firmware says."""


def emulate(firmware: Firmware) -> list[str]:
    """Return the lines that the firmware sends over the serial line in the emulator."""
    finished = run_make(firmware.board, firmware.folder, "emulate")
    lines = [line.rstrip() for line in finished.stdout.decode(errors="replace").splitlines() if line.strip()]
    if finished.returncode != 0 or not any(re.search(END, line) for line in lines):
        said = first_lines(finished.stderr.decode(errors="replace") or "\n".join(lines), firmware.folder)
        raise ToolError(f"the firmware did not reach its end in {firmware.board.emulator}, which says: {said}")
    return lines


def succeeded(lines: Sequence[str]) -> bool:
    """Return whether the firmware passed its self-test and found every label, or value, that Python found."""
    same = re.findall(rf"^(\d+) of (\d+){END}", "\n".join(lines), re.MULTILINE)
    return "self-test ok" in lines and [a for a, _ in same] == [b for _, b in same] != []
