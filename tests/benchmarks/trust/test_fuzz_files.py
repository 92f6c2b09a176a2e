from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.trust import _coverage_loop, fuzz_files
from benchmarks.trust._coverage_loop import Target, Tracer, fuzz
from benchmarks.trust._file_oracles import usable
from sparsegen.data.cells import Cells
from sparsegen.errors import DataError
from sparsegen.model import SparseModel, one_vs_one
from sparsegen.model.readers import libsvm, onnx_svm

CASES = [(name, path) for name in fuzz_files.TARGETS for path in fuzz_files.kept_cases(name)]


@pytest.mark.parametrize("name", fuzz_files.TARGETS)
def test_a_short_run_finds_nothing(name: str, tmp_path: Path) -> None:
    target = fuzz_files.TARGETS[name]
    outcome = fuzz_files.outcome(target, seconds=0.0, seed=0, cases=tmp_path)
    assert (outcome.failures, list(tmp_path.iterdir())) == (0, []), outcome.remark
    assert outcome.tried >= len(target.seeds()) + _coverage_loop.MIN_VARIANTS


@pytest.mark.parametrize(("name", "path"), CASES, ids=[f"{name}-{path.name}" for name, path in CASES])
def test_what_once_failed_passes(name: str, path: Path) -> None:
    fuzz_files.TARGETS[name].check(path.read_bytes())


def test_a_reader_that_raises_something_else_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def planted(_: Cells, cells: list[str]) -> list[float]:
        return [float(cell) for cell in cells]

    monkeypatch.setattr(Cells, "_numbers", planted)
    outcome = fuzz_files.outcome(fuzz_files.TARGETS["csv"], seconds=0.0, seed=0, cases=tmp_path)
    assert outcome.failures
    assert "ValueError" in outcome.remark
    [*stored] = (tmp_path / "csv").iterdir()
    assert len(stored) == outcome.failures
    with pytest.raises((ValueError, AssertionError)):
        fuzz_files.TARGETS["csv"].check(stored[0].read_bytes())


@pytest.mark.parametrize("wrong", ["intercept", "classes", "coef"])
def test_a_machine_of_libsvm_that_is_misread_is_reported(
    wrong: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = one_vs_one.libsvm_model

    def misread(*arguments: Any, **options: Any) -> SparseModel:
        model = read(*arguments, **options)
        value = getattr(model, wrong)
        return replace(model, **{wrong: value[::-1] if wrong == "classes" else 0.0 * value})

    monkeypatch.setattr(libsvm, "libsvm_model", misread)
    outcome = fuzz_files.outcome(fuzz_files.TARGETS["libsvm_model"], seconds=0.0, seed=0, cases=tmp_path)
    assert "but LIBSVM says" in outcome.remark


def test_a_reader_of_graphs_that_trusts_them_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx_svm, "_floats", lambda attributes, name, _: np.array(attributes.get(name, []), float))
    outcome = fuzz_files.outcome(fuzz_files.TARGETS["onnx"], seconds=0.0, seed=0, cases=tmp_path)
    assert outcome.failures and "Error at onnx_svm.py" in outcome.remark  # which of them is first, the seeds decide


def spin() -> None:
    while True:
        pass


def grow() -> None:
    assert len(bytearray(b"x") * (2 * _coverage_loop.MAX_GROWTH)) > 0


def refuse_in_two_lines() -> None:
    def fail() -> None:
        raise DataError("one\ntwo")

    usable(fail)


@pytest.mark.parametrize(
    ("defect", "reason"),
    [
        (spin, "TooSlow"),
        (grow, "of memory"),
        (lambda: os._exit(3), "ends the process with exit code 3"),
        (refuse_in_two_lines, "not one printable line"),
    ],
)
def test_every_kind_of_defect_is_reported(
    defect: Callable[[], None], reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def check(data: bytes) -> None:
        if data == b"bad":
            defect()

    monkeypatch.setattr(_coverage_loop, "CPU_SECONDS", 1.0)
    monkeypatch.setattr(_coverage_loop, "MAX_GROWTH", 64 << 20)
    target = Target("planted", lambda: [b"good", b"bad"], lambda rng, data, other: data, check)
    report = fuzz(target, 0.0, 0)
    assert [finding.data for finding in report.findings.values()] == [b"bad"]
    assert reason in next(iter(report.findings.values())).reason


def test_the_tracer_tells_new_ways_through_a_reader_from_known_ones() -> None:
    tracer, check = Tracer(), fuzz_files.TARGETS["csv"].check
    assert tracer.run(check, b"a,b,label\n1,2,x\n")
    assert not tracer.run(check, b"a,b,label\n3,4,y\n")
    assert tracer.run(check, b"a,b,label\n1,nan,x\n")
