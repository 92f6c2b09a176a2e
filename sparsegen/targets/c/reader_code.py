"""How the C of an integer program reads features: numbers that all features share are constants, others are tables."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparsegen.lowering.grid_reader import GridReader
from sparsegen.lowering.read_floats import FloatReader
from sparsegen.lowering.read_integers import WholeReader
from sparsegen.targets.c.code import Table
from sparsegen.targets.render import c_int


@dataclass(frozen=True)
class Parameter:
    """A number of every feature."""

    table: Table

    @property
    def is_common(self) -> bool:
        """Whether all features share it."""
        return bool(np.all(self.table.values == self.table.values[0]))

    @property
    def value(self) -> str:
        """What all features share, as C writes it."""
        value = int(self.table.values[0])
        text = f"{value}u" if self.table.dtype.kind == "u" else c_int(value)
        return f"({text})" if value < 0 else text


@dataclass(frozen=True)
class PlaceCode:
    """The fixed-point number of a float."""

    type: str
    index: str
    """Type of an index, before it is kept on the grid."""
    digits: int
    largest: int
    shift: int
    """Of a product's upper half."""


def reader_parameters(reader: GridReader) -> dict[str, Parameter]:
    """Return the numbers of every feature by name, in the order of their tables."""
    tables = []
    if isinstance(reader, FloatReader):
        signed, unsigned = (np.dtype(f"{kind}{reader.word // 8}") for kind in "iu")
        tables = [
            Table("exponent", "largest exponent of each feature", np.dtype(np.uint8), reader.exponent),
            Table("start", "fixed-point number after which each grid begins", signed, reader.start),
            Table("multiplier", "factor of what comes after it", unsigned, reader.multiplier),
        ]
        if reader.fill_place is not None:
            tables.append(Table("fill", "fixed-point number that a NaN counts as", signed, reader.fill_place))
    elif isinstance(reader, WholeReader) and not reader.is_identity:
        tables = [
            Table("multiplier", "factor of each raw feature", np.dtype(np.int16), reader.multiplier),
            Table("bias", "added to each product", np.dtype(np.int32), reader.bias),
            Table("shift", "right shift of each sum", np.dtype(np.uint8), reader.shift),
        ]
    return {table.name: Parameter(table) for table in tables}


def reader_tables(reader: GridReader) -> list[Table]:
    """Return the tables of the numbers that differ between features."""
    return [number.table for number in reader_parameters(reader).values() if not number.is_common]


def reader_values(reader: GridReader) -> dict[str, object]:
    """Return what the templates print of a reader."""
    return {
        "reads_indices": reader.kind.is_grid,
        "reads_floats": reader.kind.is_float,
        "fills": isinstance(reader, FloatReader) and reader.fill is not None,
        "levels_in": reader.levels,
        "buffers_input": not reader.is_identity,
        "reading": reader_parameters(reader),
        "reads_wide_places": isinstance(reader, FloatReader) and reader.is_wide,
        "place": _place(reader) if isinstance(reader, FloatReader) else None,
    }


def _place(reader: FloatReader) -> PlaceCode:
    return PlaceCode(f"int{reader.word}_t", f"uint{reader.word}_t", reader.digits, 2**reader.digits - 1, reader.shift)
