"""libFuzzer on generated predictors: any bit pattern as features, compared with the model in double arithmetic.

All predictors of a kind are one program, so that the fuzzer spends its time where it finds something new. An error that
comes nearer to its bound than any before counts as something new.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.trust import Outcome
from benchmarks.trust._predictor_models import Predictor, make_predictor, plans

TITLE = "fuzzing of predictors"
SOURCES = Path(__file__).parent / "predictors"
SANITIZERS = "fuzzer,address,undefined,integer"
SECONDS_PER_PREDICTOR = 1.5  # of fuzzing: a short run takes fewer predictors, since each takes time to compile
FEWEST = 3
ROW_LIMIT = 1 + 4 * 64
_EXECUTED = re.compile(r"stat::number_of_executed_units:\s*(\d+)")
_FOUND = re.compile(r"FOUND: .*|.*runtime error: .*|SUMMARY: .*")


def run(minutes: float, seed: int) -> Iterator[Outcome]:
    """Fuzz integer predictors, then float ones, each for half of the minutes."""
    clang = shutil.which("clang")
    for kind in ("integer", "float32"):
        what = f"{kind} predictors"
        if clang is None:
            yield Outcome(what, 0, "inputs", 0, "needs clang")
            continue
        seconds = 30.0 * minutes
        chosen = plans(integer=kind == "integer", seed=seed)[: max(FEWEST, round(seconds / SECONDS_PER_PREDICTOR))]
        predictors = [make_predictor(plan, f"m{i}", seed + i) for i, plan in enumerate(chosen)]
        yield fuzz(clang, predictors, what, seconds, seed)


def fuzz(clang: str, predictors: Sequence[Predictor], what: str, seconds: float, seed: int) -> Outcome:
    """Return what libFuzzer found in predictors that it runs as one program."""
    with tempfile.TemporaryDirectory(prefix="sparsegen-fuzz-") as temporary:
        folder = Path(temporary)
        program = build(clang, predictors, folder)
        if isinstance(program, str):
            return Outcome(what, 0, "inputs", 0, program)
        corpus = folder / "corpus"
        corpus.mkdir()
        for i, predictor in enumerate(predictors):
            rows = predictor.anchors
            for at in range(0, len(rows), predictor.row_bytes):
                (corpus / f"{i}-{at}").write_bytes(bytes([i]) + rows[at : at + predictor.row_bytes])
        options = [f"-max_total_time={max(1, round(seconds))}", f"-seed={seed + 1}", f"-max_len={ROW_LIMIT}"]
        options += ["-print_final_stats=1", "-verbosity=1", "-timeout=20", f"-artifact_prefix={folder}/case-"]
        command = [str(program), *options, str(corpus)]
        ran = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    executed = _EXECUTED.search(ran.stderr)
    tried = int(executed[1]) if executed else 0
    if ran.returncode == 0:
        return Outcome(what, tried, "inputs", 0, f"{len(predictors)} predictors")
    found = _FOUND.search(ran.stderr)
    return Outcome(what, tried, "inputs", 1, found[0] if found else ran.stderr[-300:])


def build(clang: str, predictors: Sequence[Predictor], folder: Path) -> Path | str:
    """Return the program around predictors, or why this clang cannot build it."""
    for predictor in predictors:
        for file, content in predictor.files.items():
            (folder / file).write_bytes(content)
    cases = ", ".join(f"&{predictor.name}_case" for predictor in predictors)
    lines = [
        '#include "fuzz.h"',
        *(f"extern const struct fuzz_case {predictor.name}_case;" for predictor in predictors),
    ]
    lines += [f"const struct fuzz_case *const fuzz_cases[] = {{{cases}}};"]
    lines += [f"const unsigned n_fuzz_cases = {len(predictors)};", ""]
    (folder / "cases.c").write_text("\n".join(lines))
    flags = ["-std=c99", "-O1", "-gline-tables-only", f"-fsanitize={SANITIZERS}", "-fno-sanitize-recover=all"]
    flags += [f"-fsanitize-ignorelist={SOURCES / 'ignored.txt'}", f"-I{SOURCES}"]
    flags_of = {folder / "cases.c": flags, SOURCES / "driver.c": flags}
    for predictor in predictors:
        dsp = ["-D__ARM_FEATURE_DSP=1", f"-I{SOURCES / 'dsp'}"] if predictor.plan.loops == "dsp" else []
        flags_of[folder / f"{predictor.name}_case.c"] = [*flags, *dsp]

    def compiled(source: Path) -> subprocess.CompletedProcess[str]:
        return _call([clang, *flags_of[source], "-c", str(source), "-o", str(folder / f"{source.stem}.o")])

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for built in pool.map(compiled, flags_of):
            if built.returncode != 0:
                raise AssertionError(f"a predictor does not compile: {built.stderr[:2000]}")
    program = folder / "fuzz"
    objects = [str(folder / f"{source.stem}.o") for source in flags_of]
    linked = _call([clang, f"-fsanitize={SANITIZERS}", *objects, "-lm", "-o", str(program)])
    return program if linked.returncode == 0 else "needs clang with libFuzzer and its sanitizers"


def _call(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False)
