"""Every snippet of the documents runs, and prints what the document says."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import pytest
from command_line import Run
from snippets import Reader, alike, compare, snippets

ROOT = Path(__file__).resolve().parents[1]
UNO = ROOT / "firmware_demo" / "arduino_uno"
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
RUN = [path for path in DOCUMENTS if any(s.language in ("console", "python", "c") for s in snippets(path.read_text()))]


@pytest.fixture(scope="session")
def gestures(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The text of a table such as a reader may have: windows of recordings, with the recording's number."""
    sys.path.insert(0, str(UNO))
    import motions
    from features import NAMES, windows

    path = tmp_path_factory.mktemp("gestures") / "gestures.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["recording", *NAMES, "exercise"])
        for number, (samples, label) in enumerate(zip(*motions.generate(12, seed=0), strict=True)):
            writer.writerows([number, *row, label] for row in windows(samples).tolist())
    return path.read_text()


@pytest.mark.parametrize("document", RUN, ids=lambda path: path.stem)
def test_snippets_run_and_print_what_is_said(
    document: Path, run: Run, gestures: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gestures.csv").write_text(gestures)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    Reader(tmp_path, run).follow(document.read_text(encoding="utf-8"))


def test_a_snippet_that_fails_or_prints_something_else_is_noticed(run: Run, tmp_path: Path) -> None:
    reader = Reader(tmp_path, run)
    reader.follow("```python\nprint(41 + 1)\n```\n\n```text\n42\n```\n")
    with pytest.raises(AssertionError, match="expected: 99"):
        reader.follow("```python\nprint(41 + 1)\n```\n\n```text\n99\n```\n")
    with pytest.raises(AssertionError, match="no snippet may run 'rm'"):
        reader.follow("```console\n$ rm gestures.csv\n```\n")
    with pytest.raises(AssertionError, match=r"there is no file missing\.csv"):
        reader.follow("```console\n$ sparsegen train missing.csv\n```\n")


def test_numbers_may_differ_a_little_and_words_may_not() -> None:
    assert alike("test accuracy 97.5 % of 165 rows", "test accuracy 98.1 % of 165 rows")
    assert not alike("test accuracy 97.5 % of 165 rows", "test accuracy 80.0 % of 165 rows")
    assert not alike("test accuracy", "accuracy")
    compare(["a", "...", "c"], "a\nb\nb\nc\n", "here")
    for wrong in (["a", "c"], ["a", "b"], ["c", "..."], ["...", "d"]):
        with pytest.raises(AssertionError):
            compare(wrong, "a\nb\nb\nc\n", "here")
