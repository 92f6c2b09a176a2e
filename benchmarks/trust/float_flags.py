"""Compiler flags that change floating-point arithmetic: scores stay right under all of them, and the self-test passes.

Every float kernel, and integers that read floats, with every compiler, level and flag. Float scores may be off by a few
times the estimated rounding error of their row; integer scores must agree bit for bit.
"""

from __future__ import annotations

import itertools
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.trust import Outcome
from sparsegen.arrays import Array
from sparsegen.devices._toolchain import installed, zig
from sparsegen.kernels import KERNELS
from sparsegen.lowering.formats import FLOAT32, Format
from sparsegen.lowering.integer_program import IntegerProgram
from sparsegen.lowering.rounding import form_errors, sum_errors
from sparsegen.lowering.selftest import ESTIMATES_ALLOWED
from sparsegen.model import SparseModel, Transform
from sparsegen.targets import TARGETS, Export
from sparsegen.targets.c.code import c_type

TITLE = "floating-point flags"
LEVELS = ("-O2", "-O0", "-O3")
FLAGS: dict[str, tuple[str, ...]] = {  # what once broke something first
    "-ffast-math": ("-ffast-math",),
    "-fassociative-math": ("-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math"),
    "-mfpmath=387": ("-mfpmath=387",),
    "-m32": ("-m32",),
    "-Ofast": ("-Ofast",),
    "-funsafe-math-optimizations": ("-funsafe-math-optimizations",),
    "-m32 -mfpmath=387 -ffast-math": ("-m32", "-mfpmath=387", "-ffast-math"),
    "-mfma -ffp-contract=fast": ("-mfma", "-ffp-contract=fast"),
    "-mfma -ffast-math": ("-mfma", "-ffast-math"),
    "-freciprocal-math": ("-freciprocal-math",),
    "-ffinite-math-only": ("-ffinite-math-only",),
    "-frounding-math": ("-frounding-math",),
    "no flag": (),
}
SAFETY = 4.0  # flags may add more than the form of the program, whose error is estimated
N_ROWS, N_VECTORS, N_FEATURES = 400, 9, 7
PROBE = "volatile float a = 1.0f, b = 2.0f, c = 3.0f;\nint main(void) { return a * b + c != 5.0f; }\n"
"""Where a processor has no fused product, it ends with a signal."""


@dataclass(frozen=True)
class Tried:
    """One compiler at one level, and how many scores or self-tests were wrong."""

    where: str
    scores: int = 0
    failures: int = 0
    remark: str = ""


@dataclass(frozen=True)
class Attacked:
    """An export, rows for it, the scores it must give and how far they may be off."""

    what: str
    export: Export
    inputs: Array
    expected: Array
    allowed: Array


def run(minutes: float, seed: int) -> Iterator[Outcome]:
    """Yield an outcome for every flag, over the compilers and levels tried within about so many minutes."""
    end = time.monotonic() + 60.0 * minutes
    attacked = [make_attacked(model, numbers, seed) for model, numbers in exports(seed)]
    found: dict[str, list[Tried]] = {flag: [] for flag in FLAGS}
    with tempfile.TemporaryDirectory() as folder:
        source = program(attacked, Path(folder))
        for level, flag, name in itertools.product(LEVELS, FLAGS, compilers()):
            if time.monotonic() < end or not any(tried.scores for tries in found.values() for tried in tries):
                found[flag].append(attack(attacked, source, name, level, FLAGS[flag]))
    for flag, tries in found.items():
        yield summed_up(flag, tries)


def summed_up(flag: str, tries: Sequence[Tried]) -> Outcome:
    """Return what became of one flag; the remark is the first failure, or says where the flag ran."""
    ran = ", ".join(tried.where for tried in tries if tried.scores) or "no time, or no compiler that knows it"
    wrong = next((f"{tried.where}: {tried.remark}" for tried in tries if tried.failures), ran)
    scores, failures = sum(tried.scores for tried in tries), sum(tried.failures for tried in tries)
    return Outcome(f"{flag}: right scores and a self-test that passes", scores, "scores", failures, wrong)


def compilers() -> dict[str, list[str]]:
    """Return the commands of the compilers that are installed."""
    found = {name: [path] for name in ("gcc", "clang") if (path := shutil.which(name)) is not None}
    return found | ({"zig": list(zig())} if installed("ziglang") else {})


def exports(seed: int) -> Iterator[tuple[SparseModel, Format]]:
    """Yield a model of every kernel and every input stage in float32, and Gaussians in integers that read floats."""
    for kernel in KERNELS:
        for stage in ("plain", "scaled", "projected"):
            yield make_model(kernel, stage, seed), FLOAT32
    for dtype in ("q7", "q15"):
        for kernel in ("rbf", "laplacian", "cauchy"):
            yield make_model(kernel, "scaled", seed), Format(dtype, "f32")


def make_model(kernel: str, stage: str, seed: int) -> SparseModel:
    """Return a random model: raw features, features with an offset and scales of their own, or projected ones."""
    rng = np.random.default_rng([seed, *kernel.encode(), *stage.encode()])
    plain = stage == "plain"
    offset = np.zeros(N_FEATURES) if plain else 30.0 * rng.normal(size=N_FEATURES)
    scale = np.ones(N_FEATURES) if plain else 10.0 ** rng.uniform(-1, 1, N_FEATURES)
    projection = rng.normal(size=(3, N_FEATURES)) / 2.0 if stage == "projected" else None
    transform = Transform(offset, scale, projection)
    width = KERNELS[kernel].scale_parameter
    bound = KERNELS[kernel].bind(**({} if width is None else {width: 0.2}))
    vectors = transform(offset + rng.normal(size=(N_VECTORS, N_FEATURES)) / scale)
    n_outputs = 1 if plain else 3
    coef = rng.normal(size=(n_outputs, 1, N_VECTORS))
    classes = (0, 1) if plain else (0, 1, 2)
    return SparseModel(vectors, coef, 0.1 * rng.normal(size=n_outputs), (bound,), transform, classes)


def make_attacked(model: SparseModel, numbers: Format, seed: int) -> Attacked:
    """Return the export of a model with rows near its data and far from it."""
    rng = np.random.default_rng(seed)
    spread = np.where(np.arange(N_ROWS) % 4 == 0, 5.0, 1.0)[:, None]
    X = model.transform.offset + spread * rng.normal(size=(N_ROWS, N_FEATURES)) / model.transform.scale
    X = X.astype(np.float32).astype(np.float64)
    what = f"{numbers.dtype} {model.kernels[0].name}"
    name = f"m{model.sha256[:12]}_{numbers.dtype}"
    export = TARGETS["c"].export(model, name, numbers)
    lowered = export.lowered
    assert lowered is not None
    program = lowered.program
    if isinstance(program, IntegerProgram):
        X[:: N_ROWS // 8, 0] = [np.nan, -np.nan, np.inf, -np.inf, 3e38, -3e38, 1e-40, 0.0]
        expected = program.scores(program.inputs(X)).astype(np.float64)
        return Attacked(what, export, X, expected, np.zeros_like(expected))
    estimates = form_errors(program, X) + sum_errors(program, X)
    return Attacked(what, export, X, model.scores(X), SAFETY * ESTIMATES_ALLOWED * estimates)


def program(attacked: Sequence[Attacked], folder: Path) -> Path:
    """Write one C program that prints, for every export, what its self-test gives and the scores of all its rows."""
    lines = [f'#include "{a.export.name}.c"' for a in attacked]
    lines += ["#include <stdio.h>", "int main(void)", "{", f"    static float x[{N_ROWS}][{N_FEATURES}];"]
    for a in attacked:
        for file in (f"{a.export.name}.c", f"{a.export.name}.h"):
            (folder / file).write_bytes(a.export.files[file])
        kind, name, n = c_type(a.export.score_dtype), a.export.name, a.export.n_outputs
        lines += [
            "    if (fread(x, sizeof x, 1, stdin) != 1) { return 1; }",
            f"    {{ int32_t passed = {name}_selftest(); fwrite(&passed, sizeof passed, 1, stdout); }}",
            f"    for (int i = 0; i < {N_ROWS}; ++i) {{ {kind} scores[{n}]; {name}_scores(x[i], scores);",
            "        fwrite(scores, sizeof scores, 1, stdout); }",
        ]
    path = folder / "attacked.c"
    path.write_text("\n".join([*lines, "    return 0;", "}", ""]))
    return path


def attack(attacked: Sequence[Attacked], source: Path, name: str, level: str, flags: Sequence[str]) -> Tried:
    """Return what became of all exports under flags; nothing is tried where a compiler does not know them."""
    where, command, folder = f"{name} {level}", compilers()[name], source.parent
    (folder / "probe.c").write_text(PROBE)
    if not _built(command, [*flags, "probe.c", "-o", "probe"], folder) or not _runs(folder / "probe"):
        return Tried(where)
    if not _built(command, ["-std=gnu99", level, *flags, source.name, "-o", "attacked"], folder):
        return Tried(where, remark="refused to compile")
    given = b"".join(a.inputs.astype(np.float32).tobytes() for a in attacked)
    made = subprocess.run([folder / "attacked"], input=given, capture_output=True, check=True, timeout=300)
    return judge(where, attacked, made.stdout)


def judge(where: str, attacked: Sequence[Attacked], printed: bytes) -> Tried:
    """Return how many scores are wrong, and whether a self-test does not say the same as the scores."""
    tried = failures = at = 0
    remark = ""
    for a in attacked:
        passed = np.frombuffer(printed, np.int32, 1, at)[0] == 0
        scores = np.frombuffer(printed, a.export.score_dtype, a.expected.size, at + 4).reshape(a.expected.shape)
        at += 4 + scores.nbytes
        off = np.abs(scores.astype(np.float64) - a.expected)
        wrong = int(np.count_nonzero(~(off <= a.allowed)))
        tried, failures = tried + scores.size, failures + wrong + (not passed)
        if wrong or not passed:
            verdict = "passes" if passed else "fails"
            remark = remark or f"{a.what}: {wrong} scores off by up to {off.max():.3g}, self-test {verdict}"
    return Tried(where, tried, failures, remark)


def _built(command: Sequence[str], arguments: Sequence[str], folder: Path) -> bool:
    result = subprocess.run([*command, *arguments], cwd=folder, capture_output=True, check=False, timeout=300)
    return result.returncode == 0


def _runs(path: Path) -> bool:
    return subprocess.run([path], capture_output=True, check=False, timeout=60).returncode == 0
