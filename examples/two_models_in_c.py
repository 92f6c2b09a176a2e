"""Two models in one C program: every symbol has its model's prefix, so they never collide."""

import shutil
import subprocess
import sys
from pathlib import Path

from sklearn.datasets import load_iris, load_wine

import sparsegen

MAIN = r"""
#include "iris.h"
#include "wine.h"
#include <stdio.h>

int main(void)
{
    static const float flower[IRIS_FEATURES] = {%s};
    static const float bottle[WINE_FEATURES] = {%s};

    printf("flower: %%s\n", iris_label(iris_predict(flower)));
    printf("bottle: %%s\n", wine_label(wine_predict(bottle)));
    return iris_selftest() + wine_selftest();
}
"""

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "two-models")
rows = []
for name, load in (("iris", load_iris), ("wine", load_wine)):
    data = load()
    X, labels = data.data, data.target_names[data.target]
    classifier = sparsegen.SLMC(n_vectors=5, random_state=0).fit(X, labels)
    classifier.model_.export("c", folder, name=name)
    rows.append(", ".join(f"{value}f" for value in X[0].astype(float)))
(folder / "main.c").write_text(MAIN % tuple(rows))

system = shutil.which("cc")
compiler = [system] if system else [sys.executable, "-m", "ziglang", "cc"]
program = folder / "two_models"
sources = [str(folder / name) for name in ("main.c", "iris.c", "wine.c")]
subprocess.run([*compiler, "-std=c99", "-O2", *sources, "-o", str(program)], check=True)
subprocess.run([str(program.resolve())], check=True)
