from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from benchmarks.trust import no_loss
from benchmarks.trust.no_loss import Case
from sparsegen.files.writing import STAGING, UNFINISHED

OLD, NEW = ({"m.h": age, "src/m.c": age, "main.c": age} for age in (b"int old;", b"int new;"))


def test_nothing_is_lost() -> None:
    """The attack itself, which the gate runs too, takes every command that writes."""
    outcomes = list(no_loss.run(0.0, 0, ("predict", "export c")))
    assert len(outcomes) == 6
    for outcome in outcomes:
        assert outcome.failures == 0, outcome
        assert outcome.tried or outcome.remark


def case_with(folder: Path, files: dict[str, bytes]) -> Case:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return Case("planted", folder, (["old"], ["new"]), "m.h", [OLD, NEW])


class Careless:
    """Stands for a victim that writes one file after the other, and is killed after the first."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def start(self, arguments: Sequence[str]) -> None:
        (self.folder / "m.h").write_bytes((NEW if arguments == ["new"] else OLD)["m.h"])

    def kill(self, seconds: float, *, while_writing: bool) -> None:
        pass

    def run(self, arguments: Sequence[str]) -> int:
        case_with(self.folder, NEW if arguments == ["new"] else OLD)
        return 0


def test_half_a_package_is_reported(tmp_path: Path) -> None:
    careless: Any = Careless(tmp_path)
    for outcome in no_loss._killed(careless, [case_with(tmp_path, OLD)], random.Random(0), 0.0):
        assert (outcome.tried, outcome.failures) == (1, 1)
        assert outcome.remark == "planted: neither old nor new nor closed: m.h, main.c, src/m.c"


@pytest.mark.parametrize(
    ("files", "flaw"),
    [
        (OLD, None),
        (NEW, None),
        ({**OLD, "main.c": b""}, "neither old nor new"),
        ({"src/m.c": b"int old;"}, "neither old nor new"),
        ({**NEW, "m.h": UNFINISHED}, "a closed package compiles"),
        ({"m.h": UNFINISHED, "src/m.c": b"int ol"}, "src/m.c is not whole"),
    ],
)
def test_states_are_told_apart(tmp_path: Path, files: dict[str, bytes], flaw: str | None) -> None:
    found = case_with(tmp_path, files).flaw()
    assert found is None if flaw is None else flaw in str(found)


def test_what_is_left_behind_is_reported(tmp_path: Path) -> None:
    case = case_with(tmp_path, NEW)
    assert case.flaw_after(1, 0) is None
    assert "ended with 2" in str(case.flaw_after(1, 2))
    (tmp_path / f"{STAGING}abc").mkdir()
    assert case.flaw_after(1, 0) == f"planted: {STAGING}abc was left behind"
