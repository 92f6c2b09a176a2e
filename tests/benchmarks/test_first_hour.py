"""The hour of one person, and what a row of the table says when something is not as it should be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import first_hour
from benchmarks._roles.visit import FAILED, LACKING, OK, REFUSED, SKIPPED, Skip, Visit
from sparsegen.errors import DataError


@pytest.fixture
def somebody(tmp_path: Path) -> Visit:
    return Visit("somebody", tmp_path, 0)


def test_a_newcomers_hour(capsys: pytest.CaptureFixture[str]) -> None:
    assert first_hour.exit_code(["--roles", "newcomer", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["role"] for row in rows} == {"newcomer"} and len(rows) > 15
    assert {row["ended"] for row in rows} <= {OK, LACKING, SKIPPED}
    told = {row["asked"]: row["told"] for row in rows}
    assert told["a column with a typo"] == "column 'lable' is not in wide.csv (did you mean 'label'?)"


def test_a_wish_that_is_not_granted_is_a_row_and_exit_code_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def hour(visit: Visit) -> None:
        visit.types("the version", "-V", r"sparsegen \d")
        visit.types("what it never says", "-V", "sparsegen is perfect")
        visit.types("another exit code", "-V", "sparsegen", code=2)
        visit.types("a sentence", "train nothing.csv", "there is no file nothing.csv", code=2)
        with visit.wish("what is not here"):
            raise Skip("it is | not here")
        visit.lacks("what there is not", "nothing")
        raise KeyError("a surprise")

    monkeypatch.setattr(first_hour, "ROLES", {"somebody": hour})
    assert first_hour.exit_code([]) == 1
    table = capsys.readouterr().out
    ends = [line.rsplit(" | ", 1)[1].removesuffix(" |") for line in table.splitlines()[2:9]]
    assert ends == [OK, FAILED, FAILED, OK, SKIPPED, LACKING, FAILED]
    assert "| somebody | what is not here | it is \\| not here | skipped |" in table
    assert "KeyError: 'a surprise'" in table
    assert "7 wishes: 2 ok, 1 not built, 1 skipped, 3 FAILED;" in table


def test_what_is_not_refused_fails(somebody: Visit) -> None:
    def refuse() -> None:
        raise DataError("no feathers here")

    def hour(visit: Visit) -> None:
        visit.refused("feathers", refuse, "no feathers")
        visit.refused("other feathers", refuse, "no wings")
        visit.refused("anything", lambda: None, "")
        visit.refused("a command", "train x.csv", "there is no file")
        visit.refused("a command that works", "-V", "sparsegen")

    assert [row.ended for row in somebody.of(hour)] == [REFUSED, FAILED, FAILED, REFUSED, FAILED]


def test_where_one_works_is_left_again(somebody: Visit) -> None:
    before = Path.cwd()
    seen = somebody.of(lambda visit: visit.sees("where", Path.cwd()))
    assert Path(seen[0].told) == somebody.folder.resolve()
    assert Path.cwd() == before
