"""Tables: comma, semicolon or tab between the cells, names in the first row."""

from __future__ import annotations

import contextlib
import csv
import io
import itertools
from array import array
from collections.abc import Iterator

import numpy as np

from sparsegen.data.cells import Cells
from sparsegen.data.checks import (
    MAX_FEATURES,
    Labels,
    check_names,
    check_text,
    count,
    is_number,
    labels_of_texts,
    short,
)
from sparsegen.data.readers import READERS, FileRows, Reader, Wanted
from sparsegen.data.table import Columns, columns_of
from sparsegen.errors import DataError

SEPARATORS = (",", ";", "\t")
MAX_LINE = 64 * MAX_FEATURES
"""Characters: a line of any length would become a list of as many cells before they are counted."""


def read(raw: bytes, source: str, wanted: Wanted) -> FileRows:
    """Return the wanted columns of a table."""
    separator = max(SEPARATORS, key=lambda candidate: _fit(raw, candidate))
    records = _records(raw, separator, source)
    header = [name.strip() for name in next(records, (0, []))[1]]
    _check_header(header, separator, source)
    columns = columns_of(header, wanted, source, index=None if header[0] else 0)
    if not columns.features:
        raise DataError(f"{source} has one column only; separate features and label by a comma, semicolon or tab")
    names = tuple(header[column] for column in columns.features)
    cells = Cells(names, source, commas_separate=separator == ",")
    labels, groups, unlabelled = _read_cells(records, header, columns, wanted, cells, source)
    cells.check(allow_gaps=wanted.missing != "error", is_training=wanted.n_features is None)
    X = cells.matrix()
    if not len(X):
        raise DataError(
            f"every label of {source} is empty; write the class of each row into its label column"
            if unlabelled
            else f"{source} has a header but no rows; add data below the header"
        )
    notes = []
    if not header[0]:
        notes.append(
            f"the first column of {source} has no name, so it was taken for the index that pandas writes, and left out"
        )
    if unlabelled:
        notes.append(f"{count(unlabelled, 'row')} of {source} without a label {_was(unlabelled)} dropped")
    return FileRows(
        X,
        None if columns.label is None else labels.array(source),
        names,
        None if columns.group is None else _group_array(groups, header[columns.group], source),
        cells.gaps(),
        tuple(notes),
    )


def _was(n: int) -> str:
    return "was" if n == 1 else "were"


def _group_array(groups: _TextColumn, name: str, source: str) -> Labels:
    found = groups.array(source)
    if found is None:
        raise DataError(f"every cell of column {short(name)} of {source} is empty; write the group of each row into it")
    return found


class _TextColumn:
    """Labels or groups as indices of their distinct texts, so that a million rows of two classes hold two strings."""

    def __init__(self, noun: str) -> None:
        self.noun = noun
        self.code: dict[str, int] = {}  # text -> its index, in order of appearance
        self.first_row: list[int] = []
        self.codes = array("q")

    def add(self, text: str, row: int) -> None:
        """Take the cell of one row."""
        code = self.code.setdefault(text, len(self.code))
        if code == len(self.first_row):
            self.first_row.append(row)
        self.codes.append(code)

    def array(self, source: str) -> Labels | None:
        """Return whole numbers or texts, or ``None`` where every cell is empty."""
        texts = list(self.code)
        if not any(text.strip() for text in texts):
            return None
        for text, row in zip(texts, self.first_row, strict=True):
            check_text(text, f"the {self.noun} in row {row} of {source}")
        return np.asarray(labels_of_texts(texts)[np.frombuffer(self.codes, dtype=np.int64)])


def _read_cells(
    records: Iterator[tuple[int, list[str]]],
    header: list[str],
    columns: Columns,
    wanted: Wanted,
    cells: Cells,
    source: str,
) -> tuple[_TextColumn, _TextColumn, int]:
    """Fill ``cells`` and return labels, groups and how many rows without a label were dropped."""
    labels, groups, dropped = _TextColumn("label"), _TextColumn("group"), 0
    drops = wanted.missing == "drop" and wanted.n_features is None
    for row, record in records:
        if len(record) != len(header):
            raise DataError(
                f"row {row} of {source} has {count(len(record), 'cell')} where the header has {len(header)}; "
                "give every row one cell per column"
            )
        if drops and columns.label is not None and not record[columns.label].strip():
            dropped += 1
            continue
        cells.add(row, [record[column] for column in columns.features])
        if columns.label is not None:
            labels.add(record[columns.label], row)
        if columns.group is not None:
            groups.add(record[columns.group], row)
    return labels, groups, dropped


def _records(raw: bytes, separator: str, source: str) -> Iterator[tuple[int, list[str]]]:
    """Yield (row number as in the file, cells); blank rows are counted but left out."""
    reader = csv.reader(_lines(raw, source), delimiter=separator, strict=True)
    row = 0
    try:
        for row, cells in enumerate(reader, 1):
            if len(cells) > 1 or (cells and cells[0].strip()):
                yield row, cells
    except csv.Error as error:
        what = (
            f"a cell longer than {csv.field_size_limit():,} characters"
            if "limit" in str(error)
            else "a quote that is not closed, or text after a closing quote"
        )
        raise DataError(f"row {row + 1} of {source} has {what}; correct its quotes and separators") from None


def _lines(raw: bytes, source: str) -> Iterator[str]:
    text = io.TextIOWrapper(io.BytesIO(raw), "utf-8", newline="")
    for number, line in enumerate(iter(lambda: text.readline(MAX_LINE + 1), ""), 1):
        if len(line) > MAX_LINE:
            raise DataError(
                f"line {number} of {source} has more than {MAX_LINE:,} characters, which {MAX_FEATURES:,} features do "
                "not take; end every row with a line break"
            )
        yield line


def _fit(raw: bytes, separator: str) -> tuple[bool, bool, int, int]:
    """Return how well a separator explains the first rows.

    No tab is left in a name, the second row is as wide, there are many columns, and many of its cells are numbers.
    """
    header: list[str] = []
    row: list[str] = []
    records = _records(raw, separator, "")
    with contextlib.suppress(DataError):
        header = next(records, (0, header))[1]
        row = next(records, (0, row))[1]
    n_numbers = sum(is_number(_with_point(cell, separator)) for cell in row)
    return "\t" not in "".join(header), 1 < len(header) == len(row), len(header), n_numbers


def _with_point(cell: str, separator: str) -> str:
    return cell if separator == "," else cell.replace(",", ".")


def _check_header(header: list[str], separator: str, source: str) -> None:
    if not header:
        raise DataError(f"{source} is empty; it must hold a header and rows of data")
    if _looks_like_numbers([_with_point(name, separator) for name in header]):
        raise DataError(f"{source} looks like it has no header: its first row holds numbers; name the columns in row 1")
    for position, name in enumerate(header[1:], 2):  # an index may come first
        if not name:
            raise DataError(f"column {position} of {source} has no name in the header; name it or remove it")
    check_names(header if header[0] else header[1:], source)


def _looks_like_numbers(header: list[str]) -> bool:
    """Return whether a header is a row of data: all numbers, or one label among numbers that do not rise.

    Rising numbers beside a label or an index are good names: 0, 1, 2, ... as pandas writes them, or wavelengths.
    """
    numbers = [float(name) for name in header if is_number(name)]
    rising = all(a < b for a, b in itertools.pairwise(numbers))
    return len(numbers) == len(header) or (len(numbers) == len(header) - 1 and not rising)


READERS.register("csv")(Reader(read, suffixes=(".csv", ".tsv", ".txt")))
