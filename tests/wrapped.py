"""Packages around the C export, written out, and an integer model to put into them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from c_programs import compile_c

from sparsegen.kernels import KERNELS
from sparsegen.lowering.formats import Format
from sparsegen.lowering.integer_program import IntegerProgram
from sparsegen.model import SparseModel, Transform
from sparsegen.targets import TARGETS, Export
from sparsegen.targets.c.package import Package as PackageTarget

PACKAGES = [name for name, target in TARGETS.items() if isinstance(target, PackageTarget) and name != "c"]
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror")
HOSTILE = (
    'quote " inside',
    "back\\slash",
    "end */ of",
    "// line",
    "größe",
    "%s %n",
    "$(touch x)",
    "${x}",
    "{{ name }}",
)

COUNTS = SparseModel(
    vectors=np.ones((1, 5)),
    coef=np.ones((1, 1, 1)),
    intercept=np.array([-1000.0]),
    kernels=(KERNELS["linear"].bind(),),
    transform=Transform.identity(5),
    classes=("few", "many"),
    card={"ranges": {"low": [0.0] * 5, "high": [255.0] * 5}},
)
"""Whether five counts up to 255 add up to more than 1000."""


@pytest.fixture(params=["raw-int16", "raw-uint8"])
def counts(request: pytest.FixtureRequest) -> Format:
    """A format in which COUNTS reads integers as they are."""
    return Format("q7", request.param)


def counted(export: Export, *row: int) -> int:
    """Return the score that COUNTS must give for a row."""
    program = export.program
    assert isinstance(program, IntegerProgram)
    return int(program.scores(np.array([row], dtype=export.input_dtype))[0, 0])


@dataclass(frozen=True)
class Package:
    export: Export
    folder: Path

    def texts(self) -> dict[str, str]:
        return {path: content.decode() for path, content in self.export.files.items()}


def packed(target: str, model, name: str, folder: Path, **options) -> Package:
    """Return a package, written into a folder."""
    export = TARGETS[target].export(model, name, **options)
    export.save(folder)
    return Package(export, folder)


def built(command, *arguments) -> None:
    """Compile without a word from the compiler."""
    result = compile_c(command, *arguments)
    assert result.returncode == 0, result.stderr
    assert "warning" not in result.stderr
