from __future__ import annotations

import shutil
from dataclasses import replace

import pytest
from integer_models import INTEGER_FORMATS

from benchmarks.trust import Outcome, fuzz_predictors
from benchmarks.trust._predictor_models import Plan, Predictor, make_predictor, plans
from sparsegen.kernels import KERNELS

INTEGER = Plan("rbf", "q7", "raw-int16", n_classes=3, is_projected=True, early_exit=True, n_features=8)
DSP = Plan("cauchy", "q15", "grid", loops="dsp", n_features=17)


def fuzzed(*predictors: Predictor) -> Outcome:
    clang = shutil.which("clang")
    if clang is None:
        pytest.skip("clang is not on the PATH")
    outcome = fuzz_predictors.fuzz(clang, predictors, "predictors", seconds=1.0, seed=0)
    if outcome.remark.startswith("needs"):
        pytest.skip(outcome.remark)
    return outcome


def test_a_short_run_finds_nothing() -> None:
    outcome = fuzzed(*(make_predictor(plan, f"m{i}", i) for i, plan in enumerate([INTEGER, DSP, Plan("matern32")])))
    assert outcome.failures == 0, outcome.remark
    assert outcome.tried > 1000


@pytest.mark.parametrize(
    ("good", "times", "bad", "reason"),
    [
        (b"index < M0_CLASSES)", 1, b"index <= M0_CLASSES)", "index 3 out of bounds"),
        (b"scores[k] > scores[best]", 2, b"scores[k] < scores[best]", "predict is not what the scores decide"),
        (b"r->coef[k] * value", 1, b"r->coef[k] * (value / 2)", "the self-test fails"),
    ],
)
def test_a_planted_defect_is_reported(good: bytes, times: int, bad: bytes, reason: str) -> None:
    predictor = make_predictor(replace(INTEGER, early_exit=False), "m0", 0)
    source = predictor.files["m0.c"]
    assert source.count(good) == times
    files = {**predictor.files, "m0.c": source.replace(good, bad)}
    outcome = fuzzed(replace(predictor, files=files))
    assert outcome.failures == 1
    assert reason in outcome.remark


def test_a_bound_that_is_too_small_is_reported() -> None:
    predictor = make_predictor(INTEGER, "m0", 0)
    lines = [
        b"static const double error[] = {1e-6, 1e-6, 1e-6};" if line.startswith(b"static const double error") else line
        for line in predictor.files["m0_case.c"].split(b"\n")
    ]
    outcome = fuzzed(replace(predictor, files={**predictor.files, "m0_case.c": b"\n".join(lines)}))
    assert outcome.failures == 1
    assert "further from the real-valued model's than its bound" in outcome.remark


def test_plans_cover_every_kernel_format_and_input() -> None:
    integer, real = plans(integer=True, seed=0), plans(integer=False, seed=0)
    assert {plan.kernel for plan in real} == set(KERNELS)
    assert {(plan.dtype, plan.reads) for plan in integer} == {
        (dtype, reads) for dtype in INTEGER_FORMATS for reads in ("f32", "grid", "raw-int16", "raw-uint8")
    }
    for plan in (integer, real):
        assert {p.is_projected for p in plan} == {True, False}
    assert {p.loops for p in integer} == {"portable", "dsp", "avr", "simd"}
