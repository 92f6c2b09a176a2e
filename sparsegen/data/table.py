"""What the columns of a table are: features, label, group, or an index that is left out; in every such format."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sparsegen.data.checks import has_names, listed, model_order, short
from sparsegen.data.columns import feature_places, place_of
from sparsegen.data.readers import NEEDED, NONE, Wanted
from sparsegen.errors import DataError


class Columns(NamedTuple):
    """Places of columns in a table."""

    features: list[int]
    label: int | None
    group: int | None = None


def columns_of(header: Sequence[str], wanted: Wanted, source: str, *, index: int | None) -> Columns:
    """Return what each column is for training, or for the model that will see the rows; ``index`` is left out."""
    choose = _training_columns if wanted.n_features is None else _model_columns
    return choose(header, wanted, source, index)


def _training_columns(header: Sequence[str], wanted: Wanted, source: str, index: int | None) -> Columns:
    group = None if wanted.group is None else place_of(wanted.group, header, source)
    label: int | None
    if wanted.labels == NONE:
        label = None
    elif wanted.label is not None:
        label = place_of(wanted.label, header, source)
    else:
        others = {
            group,
            index,
            *(place_of(column, header, source) for column in (*wanted.keep, *wanted.drop)),
        }
        label = max((place for place in range(len(header)) if place not in others), default=None)
    if label is None and wanted.labels == NEEDED:
        raise DataError(f"no column of {source} is left to be the label; it has {listed(header)}")
    if label is not None and label == group:
        raise DataError(f"column {short(header[label])} of {source} cannot be both label and group; name another")
    features = feature_places(header, wanted.keep, wanted.drop, source, (label, group, index))
    return Columns(features, label, group)


def _model_columns(header: Sequence[str], wanted: Wanted, source: str, index: int | None) -> Columns:
    """Return the model's features in its order; the label is the named column, or the last if that is not a feature."""
    label = None if wanted.label is None else place_of(wanted.label, header, source)
    last, n_features = len(header) - 1, wanted.n_features or 0
    place = {name: i for i, name in enumerate(header)}
    if wanted.feature_names and set(wanted.feature_names) <= place.keys():
        features = [place[name] for name in wanted.feature_names]
        if label in features:
            raise DataError(f"column {short(wanted.label)} of {source} is a feature of the model; name another")
        return Columns(features, last if label is None and last not in features else label)
    if label is None and len(header) == n_features + 1 + (index is not None) and not has_names(wanted.feature_names):
        label = last
    rest = [i for i in range(len(header)) if i not in (label, index)]
    order = model_order([header[i] for i in rest], wanted.feature_names, n_features, source)
    return Columns([rest[i] for i in order], label)
