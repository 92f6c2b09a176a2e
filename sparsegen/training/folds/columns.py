"""ColumnTransformer: groups of columns, each with affine transformers of its own, side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer

from sparsegen.arrays import Array
from sparsegen.errors import OptionError
from sparsegen.model import Transform
from sparsegen.model.transform import source_of
from sparsegen.training.folds import FOLDS, Affine, transform_of

Block = tuple[slice, NDArray[np.int64], Transform, float]
"""Where the results stand, of which columns, by which map, and the factor of the results."""


def _side_by_side(columns: ColumnTransformer) -> Transform | None:
    d = int(columns.n_features_in_)
    blocks = list(_blocks(columns, np.arange(d)))
    if not blocks:
        raise OptionError("ColumnTransformer drops every column; keep some")
    p = max(place.stop for place, _, _, _ in blocks)
    offset, scale, projection = np.zeros(d), np.ones(d), np.zeros((p, d))
    times_used = np.zeros(d, dtype=np.int64)
    for _, taken, _, _ in blocks:
        np.add.at(times_used, taken, 1)
    fill = _fill_of(blocks, d)
    if times_used.max() > 1:
        return replace(_overlapping(blocks, p, d), fill=fill)
    for place, taken, transform, weight in blocks:
        offset[taken], scale[taken] = transform.offset, transform.scale
        inner = np.eye(len(taken)) if transform.projection is None else transform.projection
        projection[place, taken] = weight * inner
    return Transform(offset, scale, None if np.array_equal(projection, np.eye(d)) else projection, fill)


def _fill_of(blocks: list[Block], d: int) -> Array | None:
    """Return what a NaN counts as in every column; raise unless each column that is read has one such number."""
    if all(transform.fill is None for _, _, transform, _ in blocks):
        return None
    fill = np.full(d, np.nan)
    for _, taken, transform, _ in blocks:
        if transform.fill is None:
            raise OptionError(
                "ColumnTransformer fills missing values in some of its columns only; put a SimpleImputer in front of "
                "the others too, or one in front of the ColumnTransformer"
            )
        known = fill[taken]
        if np.any(~np.isnan(known) & (known != transform.fill)):
            raise OptionError("ColumnTransformer fills a column with two different numbers; fill it with one")
        fill[taken] = transform.fill
    return np.where(np.isnan(fill), 0.0, fill)  # a column that is not read


def _blocks(columns: ColumnTransformer, places: NDArray[np.int64]) -> Iterator[Block]:
    weights = columns.transformer_weights or {}
    for name, step, chosen in columns.transformers_:
        place = columns.output_indices_[name]
        if place.start == place.stop or (isinstance(step, str) and step == "drop"):
            continue
        taken = np.atleast_1d(places[_as_index(columns, chosen)])
        yield place, taken, transform_of(step) or Transform.identity(len(taken)), float(weights.get(name, 1.0))


def _as_index(columns: ColumnTransformer, chosen: Any) -> Any:
    """Return what a NumPy array understands for columns chosen by name, number, mask or slice."""
    names = list(getattr(columns, "feature_names_in_", ()))
    if isinstance(chosen, slice):
        if isinstance(chosen.start, str) or isinstance(chosen.stop, str):  # by name, both ends belong to it
            first = 0 if chosen.start is None else names.index(chosen.start)
            return slice(first, None if chosen.stop is None else names.index(chosen.stop) + 1, chosen.step)
        return chosen
    if isinstance(chosen, str):
        return names.index(chosen)
    listed = np.asarray(chosen)
    return [names.index(str(name)) for name in listed] if listed.dtype.kind in "OUT" else listed


def _overlapping(blocks: list[Block], p: int, d: int) -> Transform:
    """Return the map of blocks that share columns, whose scales must go into the projection."""
    projection, start = np.zeros((p, d)), np.zeros(p)
    for place, taken, transform, weight in blocks:
        inner = np.eye(len(taken)) if transform.projection is None else transform.projection
        np.add.at(projection[place].T, taken, (weight * inner * transform.scale).T)
        start[place] = weight * (inner * transform.scale) @ transform.offset
    return Transform(source_of(start, projection), np.ones(d), projection)


FOLDS.register("columns")(Affine((ColumnTransformer,), _side_by_side))
