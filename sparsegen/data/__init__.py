"""Labelled data: read from files, one format per reader, checked, split, and matched to a model's features."""

from sparsegen.data.data_file import TEST_SIZE, read, read_features, read_train_and_test
from sparsegen.data.dataset import (
    Dataset,
    constant_features,
    from_arrays,
    match_features,
    may_be_measurements,
    require_classes,
    require_rows,
    require_spread,
    split,
    targets,
    with_features,
)
from sparsegen.data.leaks import leaks

__all__ = [
    "TEST_SIZE",
    "Dataset",
    "constant_features",
    "from_arrays",
    "leaks",
    "match_features",
    "may_be_measurements",
    "read",
    "read_features",
    "read_train_and_test",
    "require_classes",
    "require_rows",
    "require_spread",
    "split",
    "targets",
    "with_features",
]
