"""A small part of the attack over compilers, and that it notices what it must."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from benchmarks.trust import Outcome, compilers
from sparsegen.lowering.formats import INPUT_KINDS, INTEGERS

EMPTY = Outcome("test", 0, compilers.UNIT, 0)


def groups() -> list[compilers.Group]:
    """Return those of the attack's first round."""
    return compilers.make_groups(0, 0)  # as the attack calls it, which shares them


def test_builds_that_are_here_give_the_same() -> None:
    """The attack itself, which the gate runs too, takes every build."""
    chosen = [build for build in compilers.builds() if build.what in ("gcc, C99", "clang, C++17")]
    chosen += [build for build in compilers.builds() if build.byte_order == ">"][:1]
    outcomes = list(compilers.run(0.0, 0, chosen))
    assert [outcome for outcome in outcomes if outcome.failures] == []
    assert all(outcome.tried or outcome.remark.startswith(compilers.NOT_RUN) for outcome in outcomes)
    assert len(outcomes) == len(chosen) == 3


def test_the_models_are_of_every_kind() -> None:
    exports = [export for group in groups() for export in group.exports]
    formats = {(e.lowered.format.dtype, e.lowered.format.input) for e in exports if e.lowered is not None}
    assert len(formats) == 1 + len(INTEGERS) * len(INPUT_KINDS)
    assert {e.lowered.format.early_exit for e in exports if e.lowered is not None} == {True, False}
    assert {e.n_outputs > 1 for e in exports} == {True, False}


def first_build() -> compilers.Build:
    for build in compilers.builds()[:2]:
        if compilers.works(build, "-O0"):
            return build
    pytest.skip("no compiler is on the PATH")


@pytest.mark.parametrize(("number", "table"), [(0, "coef"), (2, "rows")], ids=["f32", "integers"])
def test_a_wrong_number_in_a_table_is_reported(number: int, table: str) -> None:
    build, group = first_build(), groups()[number]
    sound = group.exports[0]
    source = f"{sound.name}.c"
    before, start, numbers = sound.files[source].partition(f"_{table}[".encode())
    size, brace, numbers = numbers.partition(b"{")
    broken = before + start + size + brace + re.sub(rb"[1-8]", b"9", numbers, count=1)
    damaged = replace(sound, files={**sound.files, source: broken})
    assert compilers.added(EMPTY, build, "-O0", group.of([sound])).failures == 0
    assert compilers.added(EMPTY, build, "-O0", group.of([damaged])).failures > 0


def test_code_that_does_not_compile_is_a_failure_and_a_missing_compiler_is_not() -> None:
    build, group = first_build(), groups()[0]
    broken = replace(group.exports[0], files=dict.fromkeys(group.exports[0].files, b"#error no\n"))
    failed = compilers.added(EMPTY, build, "-O0", group.of([broken]))
    assert failed.failures == 1 and "does not compile" in failed.remark
    absent = compilers.Build("absent", ("no-such-compiler",))
    left_out = compilers.added(EMPTY, absent, "-O0", group)
    assert left_out.failures == 0 and left_out.remark.startswith(compilers.NOT_RUN)
