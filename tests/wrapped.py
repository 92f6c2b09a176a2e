"""Packages around the C export, written out, and an integer C export to put into them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from c_programs import compile_c

from sparsegen.files import write_all
from sparsegen.lowering.formats import Format
from sparsegen.targets import TARGETS, Export, Target
from sparsegen.targets._wrap import Wrapper

WRAPPERS = [name for name, target in TARGETS.items() if isinstance(target, Wrapper)]
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

INTEGER_HEADER = """
#ifndef {upper}_H
#define {upper}_H
#include <stdint.h>
#define {upper}_FEATURES {features}
#define {upper}_CLASSES 2
#define {upper}_OUTPUTS 1
#ifdef __cplusplus
extern "C" {{
#endif
void {name}_scores(const {type} *x, int32_t *scores);
int {name}_predict(const {type} *x);
const char *{name}_label(int index);
int {name}_selftest(void);
#ifdef __cplusplus
}}
#endif
#endif
"""
INTEGER_SOURCE = """/* sums */

#include "{name}.h"

void {name}_scores(const {type} *x, int32_t *scores)
{{
    int i;
    scores[0] = -1000;
    for (i = 0; i < {upper}_FEATURES; ++i) {{ scores[0] += x[i]; }}
}}
int {name}_predict(const {type} *x) {{ int32_t s; {name}_scores(x, &s); return s > 0; }}
const char *{name}_label(int index) {{ return index == 1 ? "many" : index == 0 ? "few" : ""; }}
int {name}_selftest(void) {{ return 0; }}
"""
INTEGER_MAIN = """/* Build: cc */
#include "{name}.h"
#include <stdio.h>

int main(void)
{{
    printf("self-test ok\\n");
    return 0;
}}
"""


class IntegerC(Target):
    """Stands in for the c target: integer features in, their sum less 1000 out."""

    def __init__(self, dtype: str) -> None:
        self.name, self.description, self.dtype = "c", "sums", np.dtype(dtype)

    def export(self, model, name, numbers=None) -> Export:
        values = {"name": name, "upper": name.upper(), "type": f"{self.dtype.name}_t", "features": model.n_features}
        texts = {f"{name}.c": INTEGER_SOURCE, f"{name}.h": INTEGER_HEADER, "example_main.c": INTEGER_MAIN}
        files = {file: text.format(**values).encode() for file, text in texts.items()}
        program = SimpleNamespace(input_dtype=self.dtype, inputs=lambda X: (10 * np.abs(X)).astype(self.dtype))
        return Export("c", "c", name, files, (f"{name}.c",), model.n_features, 1, 0, "cc", numbers, program)


INTEGERS = Format(dtype="q7", input="raw-int16")


@pytest.fixture(params=["int16", "uint8"])
def integer_c(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> np.dtype:
    """The c target makes integer exports that read features of this type."""
    TARGETS["c"]
    monkeypatch.setitem(TARGETS._entries, "c", IntegerC(request.param))
    return np.dtype(request.param)


@dataclass(frozen=True)
class Package:
    export: Export
    folder: Path

    def texts(self) -> dict[str, str]:
        return {path: content.decode() for path, content in self.export.files.items()}


def packed(target: str, model, name: str, folder: Path, **options) -> Package:
    """Return a package, written into a folder."""
    export = TARGETS[target].export(model, name, **options)
    write_all(folder, export.files)
    return Package(export, folder)


def built(command, *arguments) -> None:
    """Compile without a word from the compiler."""
    result = compile_c(command, *arguments)
    assert result.returncode == 0, result.stderr
    assert "warning" not in result.stderr
