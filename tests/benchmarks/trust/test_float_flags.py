"""The attack by compiler flags: it finds nothing today, and it finds what broke the exponential before."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.trust import float_flags
from benchmarks.trust.float_flags import Attacked, attack, compilers, make_attacked, make_model, program, run
from sparsegen.lowering.formats import FLOAT32, Format

SPLIT = """    halvings = (uint32_t)number.value; /* -t, rounded */
    f = t + (float)halvings;
"""
ROUNDED_AWAY = """    halvings = (uint32_t)number.value;
    f = t + (12582912.0f - (t + 12582912.0f));
"""


@pytest.fixture(autouse=True)
def _needs_a_compiler():
    if not compilers():
        pytest.skip("no C compiler is installed")


def test_no_flag_gives_wrong_scores_in_a_short_round():
    outcomes = list(run(0.02, 0))
    assert len(outcomes) == len(float_flags.FLAGS)
    assert sum(outcome.tried for outcome in outcomes) > 0
    assert [outcome for outcome in outcomes if outcome.failures] == []


@pytest.mark.parametrize("flag", ["-fassociative-math", "-m32", "-mfpmath=387", "-mfma -ffast-math"])
@pytest.mark.parametrize("name", ["gcc", "clang"])
def test_what_broke_scores_before_does_not_any_more(name, flag, tmp_path):
    if name not in compilers():
        pytest.skip(f"{name} is not on the PATH")
    some = [("rbf", "scaled", FLOAT32), ("matern32", "plain", FLOAT32), ("cauchy", "projected", FLOAT32)]
    some += [("poly", "plain", FLOAT32), ("rbf", "scaled", Format("q15", "f32")), ("rbf", "plain", Format("q7", "f32"))]
    attacked = [make_attacked(make_model(kernel, stage, 1), numbers, 1) for kernel, stage, numbers in some]
    tried = attack(attacked, program(attacked, tmp_path), name, "-O3", float_flags.FLAGS[flag])
    if not tried.scores:
        pytest.skip(f"{name} does not know {flag} here")
    assert (tried.failures, tried.remark) == (0, "")


def test_an_exponential_that_a_flag_breaks_is_found(tmp_path):
    name = "gcc" if "gcc" in compilers() else "clang"
    if name not in compilers():
        pytest.skip("neither gcc nor clang is on the PATH")
    sound = make_attacked(make_model("rbf", "plain", 0), FLOAT32, 0)
    file = f"{sound.export.name}.c"
    source = sound.export.files[file].decode()
    assert SPLIT in source
    files = {**sound.export.files, file: source.replace(SPLIT, ROUNDED_AWAY).encode()}
    broken = Attacked(sound.what, replace(sound.export, files=files), sound.inputs, sound.expected, sound.allowed)
    path = program([broken], tmp_path)
    assert attack([broken], path, name, "-O2", ()).failures == 0
    found = attack([broken], path, name, "-O2", float_flags.FLAGS["-ffast-math"])
    assert found.failures > 100
    assert "self-test fails" in found.remark


def test_a_flag_that_no_compiler_knows_is_no_failure(tmp_path):
    attacked = [make_attacked(make_model("linear", "plain", 0), FLOAT32, 0)]
    name = next(iter(compilers()))
    tried = attack(attacked, program(attacked, tmp_path), name, "-O2", ("-fno-such-flag-at-all=1",))
    assert (tried.scores, tried.failures) == (0, 0)
    assert "no compiler that knows it" in float_flags.summed_up("-f", [tried]).remark
