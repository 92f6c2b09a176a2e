"""Coverage-guided fuzzing of everything that reads files: the readers of models, ours and others', and of data."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from benchmarks.trust import Outcome
from benchmarks.trust import _file_mutators as mutators
from benchmarks.trust import _file_oracles as oracles
from benchmarks.trust import _foreign_mutators as foreign
from benchmarks.trust._coverage_loop import Finding, Target, fuzz

TITLE = "fuzzing of files"
CASES = Path(__file__).parents[2] / "tests" / "fuzz_cases"
"""Inputs that once failed, by target; a test replays them, and fuzzing starts from them too."""


def kept_cases(target: str) -> list[Path]:
    """Return the files that a target once failed on."""
    folder = CASES / target
    return sorted(path for path in folder.iterdir() if path.is_file()) if folder.is_dir() else []


TARGETS = {
    target.name: target
    for target in (
        Target("model", mutators.model_seeds, mutators.mutate_model, oracles.check_model),
        Target("libsvm_model", foreign.libsvm_seeds, foreign.mutate_libsvm, oracles.check_libsvm_model),
        Target("onnx", foreign.onnx_seeds, foreign.mutate_onnx, oracles.check_onnx_svm),
        Target("csv", mutators.csv_seeds, mutators.mutate_csv, oracles.check_csv),
        Target("libsvm", mutators.libsvm_seeds, mutators.mutate_libsvm, oracles.check_libsvm),
        Target("npz", mutators.npz_seeds, mutators.mutate_npz, oracles.check_npz),
    )
}


def run(minutes: float, seed: int) -> Iterator[Outcome]:
    """Fuzz each target for its share of the minutes; a file that fails is written to the folder of cases."""
    for target in TARGETS.values():
        yield outcome(target, 60.0 * minutes / len(TARGETS), seed)


def outcome(target: Target, seconds: float, seed: int, cases: Path = CASES) -> Outcome:
    """Return what fuzzing one target found, once the failing inputs are stored as cases."""
    known = [path.read_bytes() for path in kept_cases(target.name)]
    seeds = [*target.seeds(), *known]
    report = fuzz(Target(target.name, lambda: seeds, target.mutate, target.check), seconds, seed)
    findings = [_stored(finding, cases / target.name) for finding in report.findings.values()]
    remark = findings[0] if findings else f"{report.kept - len(seeds)} of them reached something new"
    return Outcome(f"{target.name} files", report.tried, "files", len(findings), remark)


def _stored(finding: Finding, folder: Path) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / hashlib.sha256(finding.data).hexdigest()[:12]
    path.write_bytes(finding.data)
    return f"{path.name}: {finding.reason}"
