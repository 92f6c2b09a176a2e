"""LIBSVM text: ``label index:value index:value``, one row per line."""

from __future__ import annotations

import io
import re
from typing import NoReturn

import numpy as np

from sparsegen.data.checks import MAX_BYTES, MAX_FEATURES, checked_labels, is_finite, read_only, short
from sparsegen.data.columns import feature_places
from sparsegen.data.memory import check_memory
from sparsegen.data.readers import NONE, READERS, FileRows, Reader, Wanted
from sparsegen.errors import DataError

MAX_EXPANSION = 1000  # bytes of dense rows per byte of text; the sparsest well-known data sets need half of it
ALWAYS_ALLOWED = 64 << 20  # bytes of dense rows, however short the text is

_ROW = re.compile(rb"\s*[^\s,;:]+(\s+qid:\d+)?(\s+\d+:[^\s,;:]+)+\s*(#.*)?")


def read(raw: bytes, source: str, wanted: Wanted) -> FileRows:
    """Return dense rows; features are named after their indices in the file: from x0, or from x1 where no 0 occurs."""
    from sklearn.datasets import load_svmlight_file

    if wanted.group is not None:
        raise DataError(
            f"{source} is LIBSVM text, which has no column {short(wanted.group)} of groups; save the rows as CSV or NPZ"
        )
    try:
        sparse, values = load_svmlight_file(io.BytesIO(raw), dtype=np.float64, zero_based=True)
    except (ValueError, OverflowError, MemoryError):
        _blame_line(raw, source)
    if not np.isfinite(sparse.data).all() or not np.isfinite(values).all():
        _blame_line(raw, source)
    if len(values) == 0:
        raise DataError(f"{source} has no rows; write each as: label index:value index:value")
    counted = _counted(wanted.feature_names)
    first = _first_index(counted)
    base = first if first is not None else int(sparse.nnz == 0 or sparse.indices.min() > 0)
    if base == 1 and sparse.nnz and sparse.indices.min() == 0:
        raise DataError(f"{source} counts features from 0, but the model's were counted from 1; number them alike")
    width = max(sparse.shape[1] - base, wanted.n_features or 0, max(counted, default=base - 1) - base + 1)
    n_bytes = width * len(values) * 8
    if width > MAX_FEATURES or n_bytes > MAX_BYTES:
        raise DataError(
            f"{source} has {len(values):,} rows and feature indices up to {sparse.shape[1] - 1:,}, too many for "
            "a small model; renumber the features from 1 without gaps"
        )
    if n_bytes > max(ALWAYS_ALLOWED, MAX_EXPANSION * len(raw)):
        raise DataError(
            f"{source} is almost all zeros: its {len(raw):,} bytes stand for {len(values):,} rows of {width:,} "
            "features; renumber the features from 1 without gaps"
        )
    check_memory(n_bytes, source)
    X = np.zeros((len(values), width))
    coo = sparse.tocoo()
    X[coo.row, coo.col - base] = coo.data
    names = tuple(f"x{i + base}" for i in range(width))
    chosen = feature_places(names, wanted.keep, wanted.drop, source)
    if len(chosen) < width or wanted.keep:
        X, names = X[:, chosen], tuple(names[place] for place in chosen)
    return FileRows(read_only(X), None if wanted.labels == NONE else checked_labels(values, source), names)


def looks_like_libsvm(raw: bytes) -> bool:
    """Return whether the first line that is not a comment is a row of this format."""
    lines = (line for line in io.BytesIO(raw) if line.strip() and not line.lstrip().startswith(b"#"))
    return _ROW.fullmatch(next(lines, b"").strip()) is not None


def _counted(names: tuple[str, ...]) -> list[int]:
    """Return the indices of a model's features, empty where its names are not those of such a file."""
    found = [re.fullmatch(r"x(\d{1,6})", name, re.ASCII) for name in names]
    return [int(match[1]) for match in found if match is not None] if all(found) else []


def _first_index(counted: list[int]) -> int | None:
    """Return the index that a model's file began with, if its features tell: one was dropped where neither does."""
    return 0 if 0 in counted else 1 if 1 in counted else None


def _blame_line(raw: bytes, source: str) -> NoReturn:
    """Raise the error of the first line that is not ``label index:value ...`` with rising indices."""
    for number, line in enumerate(raw.decode().split("\n"), 1):
        label, *pairs = line.partition("#")[0].split() or ["0"]
        where = f"line {number} of {source}"
        if not is_finite(label):
            raise DataError(f"{where} begins with {short(label)}, not a finite number; LIBSVM labels are numbers")
        if pairs and pairs[0].startswith("qid:"):
            pairs = pairs[1:]
        last = -1
        for pair in pairs:
            index, _, value = pair.partition(":")
            if not re.fullmatch(r"\d{1,18}", index, re.ASCII) or not is_finite(value):
                raise DataError(f"{where} has {short(pair)}, not index:value with a finite number; correct it")
            if int(index) <= last:
                raise DataError(f"{where} has index {index} after {last}; indices must rise within a line")
            if int(index) > MAX_FEATURES:
                raise DataError(f"{where} has feature index {index}, above {MAX_FEATURES:,}; renumber the features")
            last = int(index)
    raise DataError(f"{source} cannot be read as LIBSVM text; write each row as: label index:value index:value")


READERS.register("libsvm")(
    Reader(read, suffixes=(".libsvm", ".svm", ".svmlight", ".txt"), recognises=looks_like_libsvm)
)
