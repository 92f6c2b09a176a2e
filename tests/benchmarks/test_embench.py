"""The program that holds estimates against cycles measured on a board, on a program of our own."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from benchmarks.devices import embench
from sparsegen.devices import DEVICES

LOOP = """
#include "support.h"
static volatile int sum;
void initialise_benchmark(void) { sum = 0; }
int benchmark(void) { for (int i = 0; i < 1000 * CPU_MHZ; i++) { sum += rand_beebs() & 1; } return sum; }
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "baseline-data").mkdir()
    (tmp_path / "baseline-data" / "speed.json").write_text(json.dumps({"loop": 20, "broken": 3, "absent": 4}))
    for name, text in (("loop", LOOP), ("broken", "no C")):
        (tmp_path / "src" / name).mkdir(parents=True)
        (tmp_path / "src" / name / "a.c").write_text(text)
    (tmp_path / "support").mkdir()
    (tmp_path / "support" / "beebsc.h").write_text("int rand_beebs(void);\n")
    (tmp_path / "support" / "beebsc.c").write_text("int rand_beebs(void) { static int n; return n++; }\n")
    return tmp_path


def test_programs_that_build_are_compared(folder: Path) -> None:
    if shutil.which(embench.GCC) is None or DEVICES["cortex-m4f"].missing() is not None:
        pytest.skip("no compiler or no emulator")
    (found,) = embench.compare(folder)
    assert (found.program, found.measured) == ("loop", 20_000)
    assert 8000 < found.instructions < found.least < found.most < 40_000
    table = embench.main(["--embench", str(folder)])
    assert table.splitlines()[2].startswith(
        f"| loop | 0.020 | {found.least / 20_000:.2f} | {found.most / 20_000:.2f} |"
    )
    assert json.loads(embench.main(["--embench", str(folder), "--json"]))[0]["program"] == "loop"
