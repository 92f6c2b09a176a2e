"""What is mutated, and that mutants are what they say."""

from __future__ import annotations

import ast

import pytest

from benchmarks.mutation import AREAS, ROOT, reasons
from benchmarks.mutation.campaign import sample
from benchmarks.mutation.mutants import Mutant, mutants


def changes(source: str) -> set[str]:
    return {mutant.mutated for mutant in mutants("a.py", source.encode())}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a = b + c\n", {"a = b - c"}),
        ("a = (b) * (c)\n", {"a = (b) / (c)"}),
        ("a += b\n", {"a -= b", "pass"}),
        ("a = b < c\n", {"a = b <= c", "a = b >= c"}),
        ("a = b == c\n", {"a = b != c"}),
        ("a = b is c\n", {"a = b is not c"}),
        ("a = b not in c\n", {"a = b in c"}),
        ("a = b and c\n", {"a = b or c"}),
        ("a = not b\n", {"a = b"}),
        ("a = -b\n", {"a = b"}),
        ("a = 3\n", {"a = 4", "a = 2"}),
        ("a = 0.5\n", {"a = 1.0"}),
        ("a = 0.0\n", {"a = 1.0"}),
        ("a = True\n", {"a = False"}),
        ("a = max(b, c)\n", {"a = min(b, c)"}),
        ("a = np.maximum(b, c)\n", {"a = np.minimum(b, c)"}),
        ("a = np.abs(b)\n", {"a = (b)"}),
        ("a = np.clip(b, c, d)\n", {"a = (b)"}),
        ("a = b[:m]\n", {"a = b[:m + 1]"}),
        ("a = [b, c]\n", {"a = [c]"}),
        ("f(a)\n", {"pass"}),
        ("a.b = c\n", {"pass"}),
        ("def f():\n    return a\n", {"return None"}),
        ("if a:\n    b = c\n", {"if not (a):"}),
        ("while a:\n    break\n", {"while not (a):", "continue"}),
        ("a = 'größe' + b - c\n", {"a = 'größe' + b + c"}),
    ],
)
def test_each_change(source: str, expected: set[str]) -> None:
    assert changes(source) == expected


@pytest.mark.parametrize(
    "source",
    [
        '"""Text."""\n',
        "import a\n",
        "a: int | None = b\n",
        "A = int | str\n",
        "a = 'b' + c\n",
        "@dataclass(frozen=True)\nclass A:\n    pass\n",
        "def f(a: tuple[int, 3]) -> b[2]:\n    pass\n",
        "a = zip(b, c, strict=True)\n",
        "if TYPE_CHECKING:\n    a = 1\n",
        "a = f'{b + 1}'\n",
    ],
)
def test_what_changes_no_behaviour_is_left_alone(source: str) -> None:
    assert changes(source) == set()


def test_a_mutant_knows_its_place() -> None:
    source = b"""class A:
    B = 1

    def f(self, a=(2 +
                   b)):
        if (a
            > b):
            c()
"""
    found = {(mutant.where, mutant.mutated): mutant for mutant in mutants("a.py", source)}
    assert found["A", "B = 2"].on_import
    assert found["A.f", "def f(self, a=(2 -"].on_import
    assert found["A.f", "def f(self, a=(2 -"].lines == (4, 5)
    assert not found["A.f", "pass"].on_import
    assert found["A.f", ">= b):"].lines == (6, 7)


@pytest.mark.parametrize("area", AREAS.values(), ids=AREAS)
def test_every_mutant_of_the_package_is_python_and_differs(area) -> None:
    drawn = sample(area, 40, seed=1)
    assert len(drawn) == 40
    for mutant in drawn:
        source = (ROOT / mutant.path).read_bytes()
        changed = mutant.apply(source)
        assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(source))
    assert [mutant.key for mutant in sample(area, 40, seed=1)] == [mutant.key for mutant in drawn]
    assert {mutant.key for mutant in sample(area, 40, seed=2)} != {mutant.key for mutant in drawn}


def test_a_reason_is_found_by_what_it_explains() -> None:
    mutant = mutants("a/b.py", b"def f():\n    return a | b < c\n")[0]
    text = f"# Survivors\n\n{reasons.heading(mutant)}\n\n{reasons.write(mutant, 'none needed')}\n"
    assert reasons.read(text) == {mutant.key: "none needed"}
    moved = [other for other in mutants("a/b.py", b"\n\n\ndef f():\n    return a | b < c\n") if other.key == mutant.key]
    assert len(moved) == 1
    with pytest.raises(ValueError, match="line 1 of the survivors"):
        reasons.read("- no reason\n")


def test_every_reason_is_of_a_mutant_that_there_is() -> None:
    """A reason whose code has changed explains nothing any more."""
    there: set[tuple[str, str, str, str]] = set()
    for area in AREAS.values():
        found: list[Mutant] = sample(area, None, seed=0)
        there |= {mutant.key for mutant in found}
    assert set(reasons.read(reasons.SURVIVORS.read_text(encoding="utf-8"))) <= there
