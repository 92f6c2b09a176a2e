"""Labelled data: read from files, one format per module, checked, split, and matched to a model's features."""

from sparsegen.data.dataset import (
    Dataset,
    constant_features,
    from_arrays,
    match_features,
    read,
    read_features,
    require_classes,
    require_rows,
    split,
)

__all__ = [
    "Dataset",
    "constant_features",
    "from_arrays",
    "match_features",
    "read",
    "read_features",
    "require_classes",
    "require_rows",
    "split",
]
