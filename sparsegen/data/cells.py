"""The cells of a table as numbers: with a decimal point or comma, and counted where they hold none."""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Sequence

import numpy as np

from sparsegen.arrays import Array
from sparsegen.data.checks import count, is_finite, is_number, listed, read_only, short
from sparsegen.errors import DataError

GAPS = frozenset(("", "na", "n/a", "#n/a", "nan", "null", "none", "?", "-", ".", "inf", "infinity"))
"""What stands in a cell without a value, in lower case and without a sign."""

_DECIMAL_COMMA = re.compile(r"\s*[+-]?(\d+,\d*|,\d+)([eE][+-]?\d+)?\s*", re.ASCII)


class Cells:
    """Rows of feature cells, turned into numbers; a gap becomes NaN, and all that are no numbers are counted."""

    def __init__(self, names: Sequence[str], source: str, *, commas_separate: bool) -> None:
        self._names, self._source = names, source
        self._commas_separate = commas_separate
        self._has_commas = self._has_points = False  # decimal ones
        self._values = array("d")
        self._bad_cells, self._bad_rows, self._bad_columns = 0, 0, set[int]()
        self._first_gap: tuple[int, int, str] | None = None  # row, column, cell
        self._first_text: tuple[int, int, str] | None = None

    def add(self, row: int, cells: list[str]) -> None:
        """Take the cells of one row; ``row`` is its number in the file."""
        numbers = self._numbers(cells)
        if numbers is None and self._begins_commas(cells):
            self._has_commas = True
            numbers = self._numbers(cells)
        if numbers is None:
            numbers = [self._number(row, column, cell) for column, cell in enumerate(cells)]
            self._bad_rows += any(map(math.isnan, numbers))
        self._values.extend(numbers)

    def matrix(self) -> Array:
        """Return the rows so far; nothing can be added after that."""
        return read_only(np.frombuffer(self._values, dtype=np.float64).reshape(-1, len(self._names)))

    def gaps(self) -> str | None:
        """Return in words which cells hold no number, or ``None`` where all do."""
        if self._first_gap is None:
            return None
        return f"{self._counted()}, the first in {self._place(self._first_gap)}"

    def check(self, *, allow_gaps: bool, is_training: bool) -> None:
        """Raise an error about the first cell that cannot be used, and how many there are."""
        if self._first_text is not None:
            raise self._text_flaw(self._first_text, is_training)
        if self._first_gap is not None and not allow_gaps:
            cell = self._first_gap[2]
            is_value = is_number(cell) or cell.strip().lower().lstrip("+-") in ("nan", "inf", "infinity")
            what = f"is {short(cell)}, not a {'finite ' if is_value else ''}number" if cell.strip() else "is empty"
            them, rows = ("it", "row") if self._bad_cells == 1 else ("them", "rows")
            raise DataError(
                f"{self._place(self._first_gap)} of {self._source} {what}{self._others()}; "
                f"{f'replace {them}' if cell.strip() else f'fill {them} in'} or drop the {rows}",
                change={"missing": "drop"} if is_training else None,
            )

    def _numbers(self, cells: list[str]) -> list[float] | None:
        """Return the cells as numbers, or ``None`` where one is not finite or not a plain decimal (``1_0``)."""
        if self._has_commas:
            if any("." in cell for cell in cells):
                return None
            cells = [cell.replace(",", ".") for cell in cells]
        try:
            numbers = [float(cell) for cell in cells]
        except ValueError:
            return None
        text = "".join(cells)
        if not text.isascii() or "_" in text or not all(map(math.isfinite, numbers)):
            return None
        self._has_points = self._has_points or (not self._has_commas and "." in text)
        return numbers

    def _begins_commas(self, cells: list[str]) -> bool:
        """Return whether this row is the first to show that the file has decimal commas, and no row had a point."""
        if self._has_commas or self._has_points or self._commas_separate:
            return False
        return any(map(_DECIMAL_COMMA.fullmatch, cells)) and not any("." in cell and is_number(cell) for cell in cells)

    def _number(self, row: int, column: int, cell: str) -> float:
        """Return the cell as a number, or NaN once it is counted."""
        is_mixed = self._has_commas and "." in cell
        text = cell.replace(",", ".") if self._has_commas else cell
        if is_finite(text) and not is_mixed:
            self._has_points = self._has_points or (not self._has_commas and "." in text)
            return float(text)
        self._bad_cells += 1
        self._bad_columns.add(column)
        if cell.strip().lower().lstrip("+-") in GAPS or cell.strip() in GAPS or (is_number(text) and not is_mixed):
            self._first_gap = self._first_gap or (row, column, cell)
        else:
            self._first_text = self._first_text or (row, column, cell)
        return math.nan

    def _text_flaw(self, first: tuple[int, int, str], is_training: bool) -> DataError:
        cell = first[2]
        told = f"{self._place(first)} of {self._source} is {short(cell)}"
        if self._has_commas and is_number(cell):
            return DataError(
                f"{told}, with a decimal point, but rows above have a decimal comma; write all numbers alike"
            )
        if _DECIMAL_COMMA.fullmatch(cell):
            if self._commas_separate:
                why = "a decimal comma is not supported where commas separate the cells; write it with a point"
            else:
                why = "a decimal comma, but rows above have a decimal point; write all numbers alike"
            return DataError(f"{told}: {why}")
        return DataError(
            f"{told}, not a number{self._others()}; encode it as one, drop the column, or name it as the label column "
            "if it holds the classes",
            change={"label": "", "drop": ""} if is_training else {"label": ""},
        )

    def _place(self, first: tuple[int, int, str]) -> str:
        return f"row {first[0]}, column {short(self._names[first[1]])}"

    def _others(self) -> str:
        return "" if self._bad_cells == 1 else f" ({self._counted()})"

    def _counted(self) -> str:
        columns = [self._names[column] for column in sorted(self._bad_columns)]
        cells, rows = count(self._bad_cells, "cell"), count(self._bad_rows, "row")
        return f"{cells} without a number in {rows}, column{'s' * (len(columns) > 1)} {listed(columns)}"
