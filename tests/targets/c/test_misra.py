"""Generated C under cppcheck's MISRA C:2012 addon: nothing but the deviations that docs/misra.md justifies."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from golden_models import EVERY, INTEGER, model, rbf
from pooled_models import POOLED

from sparsegen.lowering.formats import Format
from sparsegen.targets import TARGETS

DOCS = Path(__file__).parents[3] / "docs" / "misra.md"
CHECK = ("--std=c99", "--addon=misra", "-DCHECKED", "--enable=warning", "--quiet")
FORMAT = "--template={file} {id}"


@pytest.fixture(scope="module")
def remarks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Counter[str]]:
    """What cppcheck remarks, by file."""
    if shutil.which("cppcheck") is None:
        pytest.skip("cppcheck is not installed")
    folder = tmp_path_factory.mktemp("misra")
    exports = [TARGETS["c"].export(made, name) for name, made in EVERY.items()]
    exports += [golden.export(name) for name, golden in INTEGER.items()]
    for name, kernels in {"simd_rbf": [rbf()], "simd_mixed": [rbf(), ("laplacian", {})]}.items():
        exports.append(TARGETS["c"].export(model(kernels, 40, 4, (0, 1, 2)), name, loops="simd"))
    exports.append(TARGETS["header"].export(EVERY["matern32"], "one_header"))
    for early_exit, classes in ((True, (0, 1)), (True, (0, 1, 2)), (False, (0, 1, 2))):
        wanted = Format("q7", "raw-uint8", early_exit=early_exit)
        pixels = model([rbf(0.01)], 6, 9, classes, offset=[128.0] * 9, scale=[0.02] * 9)
        exports.append(TARGETS["c"].export(pixels, f"stops{early_exit:d}{len(classes)}", wanted))
    exports += [
        TARGETS["c"].export(case.model, name, Format("q7", "raw-uint8", rows=case.rows))
        for name, case in POOLED.items()
    ]
    sources: list[str] = []
    for export in exports:
        for file, content in export.files.items():
            if not file.startswith("example"):
                (folder / file).write_bytes(content)
        sources += export.sources
    command = ["cppcheck", *CHECK, FORMAT, *sources]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=300)
    found: dict[str, Counter[str]] = {source: Counter() for source in sources}
    for line in done.stderr.splitlines():
        file, remark = line.split()
        found[file.replace(".h", ".c")][remark] += 1
    assert done.returncode == 0
    return found


def deviations() -> dict[str, int]:
    """The rules that docs/misra.md lists, with the most remarks in a file."""
    rows = re.findall(r"^\| (\d+\.\d+) \| \w+ \| (\d+) \|", DOCS.read_text(), re.MULTILINE)
    return {f"misra-c2012-{rule}": int(most) for rule, most in rows}


def test_every_remark_is_a_deviation_that_is_written_down(remarks: dict[str, Counter[str]]) -> None:
    unknown = {source: set(found) - set(deviations()) for source, found in remarks.items()}
    assert {source: rules for source, rules in unknown.items() if rules} == {}


def test_no_deviation_is_out_of_date(remarks: dict[str, Counter[str]]) -> None:
    most = {rule: max(found[rule] for found in remarks.values()) for rule in deviations()}
    assert most == deviations()
