"""The reader that an input kind needs."""

from __future__ import annotations

from sparsegen.arrays import Array
from sparsegen.lowering.formats import InputKind
from sparsegen.lowering.grid_reader import GridReader, IndexReader
from sparsegen.lowering.read_floats import make_float_reader
from sparsegen.lowering.read_integers import make_whole_reader


def make_reader(kind: InputKind, low: Array, step: Array, levels: int, fill: Array | None = None) -> GridReader:
    """Return how raw features of a kind become indices: ``low`` is index 0, neighbours are ``step`` apart.

    Only floats can be NaN, which counts as ``fill`` if there is one.
    """
    if kind.is_grid:
        return IndexReader(kind, levels)
    if kind.is_float:
        return make_float_reader(kind, low, step, levels, fill)
    return make_whole_reader(kind, low, step, levels)
