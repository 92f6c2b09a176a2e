from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.papers import __main__ as program
from benchmarks.papers import _results
from benchmarks.papers._lab import Lab
from benchmarks.papers._results import Claim, Section
from sparsegen.errors import DataError, OptionError

CASES = [{"number": 3}, {"number": 4}]


def square(folder: Path | None, number: int) -> dict[str, Any]:
    return {"square": number * number}


def refuse(folder: Path | None, number: int) -> dict[str, Any]:
    raise AssertionError("computed although it was in the store")


def stored_lines(folder: Path) -> list[str]:
    return (folder / "test_lab.jsonl").read_text().splitlines()


@pytest.mark.parametrize("jobs", [1, 2])
def test_outcomes_come_in_the_order_of_the_cases(jobs: int, tmp_path: Path) -> None:
    lab = Lab(None, tmp_path, jobs=jobs)
    assert lab.map(square, CASES, "squares") == [{"square": 9}, {"square": 16}]
    assert len(stored_lines(tmp_path)) == 2


def test_a_finished_case_is_not_computed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lab = Lab(None, tmp_path)
    lab.map(square, CASES, "squares")
    monkeypatch.setattr(refuse, "__name__", "square")
    assert lab.map(refuse, CASES, "squares") == [{"square": 9}, {"square": 16}]


def test_a_killed_run_loses_only_its_half_line(tmp_path: Path) -> None:
    lab = Lab(None, tmp_path)
    lab.map(square, CASES, "squares")
    store = tmp_path / "test_lab.jsonl"
    store.write_text(store.read_text() + '{"case": "squ')
    half = store.read_text()
    assert len(Lab(None, tmp_path, computes=False).map(square, CASES, "squares")) == 2
    assert store.read_text() == half, "another run may be writing it"
    assert lab.map(square, [*CASES, {"number": 5}], "squares")[2] == {"square": 25}
    assert len(stored_lines(tmp_path)) == 3


def test_an_error_keeps_what_was_finished(tmp_path: Path) -> None:
    with pytest.raises(TypeError):
        Lab(None, tmp_path).map(square, [{"number": 3}, {"number": None}], "squares")
    assert len(stored_lines(tmp_path)) == 1


def test_a_foreign_file_in_the_store_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "test_lab.jsonl").write_text("hello\n")
    with pytest.raises(DataError, match=r"line 1 of .* is not a finished case; delete the file to start over"):
        Lab(None, tmp_path).map(square, CASES, "squares")


def test_unfinished_tables_are_left_out_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def table(number: int) -> Callable[[Lab, Path], Section]:
        return lambda lab, folder: Section("squares", "", str(lab.map(square, [{"number": number}], "")))

    tables = {"of-three": table(3), "of-four": table(4)}
    monkeypatch.setattr(program, "TABLES", tables)
    options = ["--store", str(tmp_path), "--output", str(tmp_path)]
    program.main(["of-three", *options])
    text = program.main(["--finished", *options])
    assert "Tables that are not finished and left out: of-four." in text
    assert "{'square': 9}" in text and "{'square': 16}" not in text
    assert (tmp_path / "RESULTS.md").read_text() == text
    assert len(stored_lines(tmp_path)) == 1
    assert "not finished" not in program.main(options)


def test_an_unknown_table_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="there is no table 'w50-table1'"):
        program.main(["w50-table1", "--store", str(tmp_path), "--output", str(tmp_path)])


def test_figures_are_rounded_as_the_paper_prints() -> None:
    check = _results.error_check("banana", [11.02, 11.06], 11.0)
    assert check.as_good and check.within
    assert not _results.error_check("banana", [11.06], 11.0).as_good
    assert not _results.error_check("banana", [12.06], 11.0).within
    assert not _results.error_check("usps", [4.9], 4.3, allowance=0.5).within
    assert _results.vector_check("banana", [12.0], 10.0).within
    assert not _results.vector_check("banana", [12.1], 10.0).within


def test_a_miss_is_at_the_top_with_its_reason() -> None:
    checks = [
        _results.error_check("banana", [15.0], 11.0),
        _results.error_check("image", [9.0], 3.0),
        _results.error_check("titanic", [22.0], 22.5),
    ]
    claims = [
        Claim("[W05] 7.2", "sparse is better", "by 3", "by 2", True),
        Claim("[W05] 7.3", "the moon is cheese", "it is rock", "it is soft", False, "Seen from afar"),
    ]
    section = Section(
        "[W05] Table 1: seven sets", "notes", "body", checks, claims, reasons={("banana", "error"): "other splits"}
    )
    text = _results.document([section], "head")
    assert "1 of 3 cells are near enough" in text and "1 are at or below" in text
    assert "| [W05] Table 1: banana | error | 15.0 | 11.0 | other splits |" in text
    assert "| [W05] Table 1: image | error | 9.0 | 3.0 | unexplained |" in text
    assert text.index("Cells that miss") < text.index("body") and "titanic" not in text
    assert "1 of 2 conclusions of the papers hold here: [W05] 1 of 2." in text
    assert text.splitlines()[4] == "| paper | conclusion | here | by how much |", "it opens with one table"
    assert "| [W05] 7.2 | sparse is better | holds | by 3 |" in text
    assert "| [W05] 7.3 | the moon is cheese | **does not hold** | it is rock |" in text
    assert text.index("sparse is better") < text.index("## Cells that miss")
    assert '- "sparse is better" holds: by 3. Rule: by 2.\n' in text
    assert '- "the moon is cheese" **does not hold**: it is rock. Rule: it is soft. Seen from afar.' in text


def test_all_splits_tell_whether_a_miss_is_chance() -> None:
    check = _results.error_check("banana", [13.0], 11.0)
    assert _results.splits_reason(check, [11.0, 13.0]) == (
        "chance of the splits: over all 2 of the file the same setting gives 12.0"
    )
    assert _results.splits_reason(check, [12.0, 12.2]).startswith(
        "in part chance of the splits, the rest unexplained: "
    )
    assert _results.splits_reason(check, [13.0, 13.0]).startswith("unexplained, and not chance of the splits: ")


def test_mean_and_spread() -> None:
    assert _results.mean_std([1.0, 2.0, 3.0]) == "2.00 ± 1.00"
    assert _results.mean_std([1.0]) == "1.00"
