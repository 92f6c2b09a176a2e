"""Data files, whatever their format: read, checked, and matched to a model's features.

No file is trusted: whatever its bytes are, the caller gets arrays that can be used or one sentence
(``DataError``) that says what is wrong, in which row and column, and what to do. Nothing in a file is ever executed.
"""

from __future__ import annotations

import codecs
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sparsegen.arrays import Array
from sparsegen.data.checks import (
    MAX_BYTES,
    Labels,
    check_shape,
    checked_matrix,
    count,
    default_names,
    gib,
    has_names,
    labels_of_texts,
    model_order,
    printable,
    read_only,
)
from sparsegen.data.columns import Column, require_one_choice
from sparsegen.data.compressed import SUFFIX, unpacked
from sparsegen.data.dataset import Dataset, from_arrays, match_features, split
from sparsegen.data.gaps import check_missing, column_means, filled, has_gaps, without_gaps
from sparsegen.data.groups import group_codes
from sparsegen.data.holdout import TellsNormal, parted
from sparsegen.data.readers import NEEDED, NONE, OPTIONAL, FileRows, Wanted, known_suffixes, reader_of
from sparsegen.errors import DataError, GapWarning, OptionError

TEST_SIZE = 0.25
"""Share of the rows that are held out for the test where no other is asked for."""


def read(
    path: str | Path,
    label: Column | None = None,
    *,
    part: str = "train",
    group: Column | None = None,
    keep: Sequence[Column] = (),
    drop: Sequence[Column] = (),
    missing: str = "error",
) -> Dataset:
    """Return the labelled rows of a CSV, NPZ, LIBSVM, Parquet or Feather file.

    Args:
        path: The file; its suffix names the format, and a ``.txt`` is told by its first row.
        label: Label column of a CSV by name or by index from 0 (negative: from the end); by default the last.
        part: ``train`` or ``test``: which arrays of an NPZ that holds both.
        group: Column of a CSV that says which rows belong together, such as their recording; it is no feature. Of an
            NPZ the name of an array, by default ``groups`` if there is one.
        keep: Columns that are the features, in this order; by default all that are neither label nor group.
        drop: Columns to leave out, whatever they hold.
        missing: What becomes of rows with cells that hold no finite number: ``error``, ``drop``, or ``mean`` to fill
            them with the mean of the others in their column.
    """
    wanted = _training_rows(label, part, group, keep, drop, missing)
    rows, source = _read_rows(Path(path), wanted)
    if missing == "mean" and has_gaps(rows):
        means = column_means(rows.X, _names(rows), source)
        return replace(_dataset(filled(rows, means, source), source), fill=read_only(means))
    return _dataset(rows, source)


def read_train_and_test(
    path: str | Path,
    label: Column | None = None,
    *,
    test_path: str | Path | None = None,
    test_size: float = TEST_SIZE,
    seed: int = 0,
    group: Column | None = None,
    keep: Sequence[Column] = (),
    drop: Sequence[Column] = (),
    missing: str = "error",
    has_classes: bool = True,
    is_normal: TellsNormal | None = None,
    label_of_all: str | None = None,
) -> tuple[Dataset, Dataset]:
    """Return training and test rows: of two files, or of one whose rows are split, groups as a whole.

    Where ``missing`` is ``mean``, test rows are filled with the means of the training rows as well. A split keeps the
    shares of classes, unless labels are values and no classes. ``is_normal`` tells normal rows from anomalies by their
    labels: the two kinds are split one by one, and the means are those of normal rows. ``label_of_all`` is the label of
    every row of a file that holds none; a test file may then have labels.
    """
    if label_of_all is not None and label is not None and test_path is None:
        raise OptionError("a label column is named of rows that have no labels; leave one of the two out")
    of_training = _training_rows(label, "train", group, keep, drop, missing)
    if label_of_all is not None:
        of_training = of_training._replace(labels=NONE)
    rows, source = _read_rows(Path(path), of_training)
    rows = _labelled(rows, label_of_all)
    teaches = is_normal if is_normal is not None else _every
    if test_path is None:
        fill = None
        if missing == "mean" and has_gaps(rows) and rows.y is not None:
            codes = None if rows.groups is None else group_codes(rows.groups)[0]
            # as they are split below
            seen = parted(rows.y, codes, test_size, seed, source, has_classes=has_classes, is_normal=is_normal)[0]
            fill = column_means(rows.X[seen[teaches(rows.y[seen])]], _names(rows), source)
            rows = filled(rows, fill, source)
        whole = _dataset(rows, source)
        train_set, test_set = split(whole, test_size, seed, has_classes=has_classes, is_normal=is_normal)
        return train_set if fill is None else replace(train_set, fill=read_only(fill)), test_set
    # a test file may lack what is dropped, and have labels where there are none here
    kept = rows.names or () if keep or drop or label_of_all is not None else ()
    of_test = _training_rows(label, "test", group, kept, (), missing)
    if label_of_all is not None:
        of_test = of_test._replace(labels=OPTIONAL if label is None else NEEDED)
    held_out, test_source = _read_rows(Path(test_path), of_test)
    held_out = _labelled(held_out, label_of_all)
    if missing == "mean" and (has_gaps(rows) or has_gaps(held_out)):
        fill = column_means(rows.X if rows.y is None else rows.X[teaches(rows.y)], _names(rows), source)
        order = model_order(_names(held_out), _names(rows), rows.X.shape[1], test_source)
        names = tuple(_names(held_out)[place] for place in order)
        held_out = filled(held_out._replace(X=held_out.X[:, order], names=names), fill, test_source)
        train_set = replace(_dataset(filled(rows, fill, source), source), fill=read_only(fill))
    else:
        train_set = _dataset(rows, source)
    test_set = match_features(_dataset(held_out, test_source), train_set.feature_names, train_set.X.shape[1])
    train_set = replace(train_set, notes=(*train_set.notes, *(n for n in test_set.notes if n not in train_set.notes)))
    if rows.groups is None or held_out.groups is None:
        return train_set, test_set
    train_groups, test_groups = group_codes(rows.groups, held_out.groups)
    if shared := len(np.intersect1d(train_groups, test_groups)):
        told = (
            f"{count(shared, 'group')} of {test_source} {'is' if shared == 1 else 'are'} in {source} as well, so the "
            "test is easier than new groups will be; keep every group in one of the two files"
        )
        train_set = replace(train_set, notes=(*train_set.notes, told))
    return train_set, replace(test_set, groups=read_only(test_groups))


def read_features(
    path: str | Path,
    feature_names: Sequence[str] | None,
    label: Column | None = None,
    *,
    n_features: int | None = None,
    part: str = "test",
    fill: Sequence[float] | None = None,
    keeps_gaps: bool = False,
) -> tuple[Array, Labels | None]:
    """Return rows in a model's feature order, and their labels if the file has any.

    A file that has all of ``feature_names`` may have them in any order, among other columns. A CSV's label column is
    ``label``, which must exist if it is given, or else the last column where that is not a feature; it may be missing
    or empty. A model without names takes the columns as they come. ``fill`` holds a value for each feature of the
    model, which stands for cells without a finite number; a `GapWarning` then says how many there are. With
    ``keeps_gaps``, for models to which a NaN counts as something, such cells are NaN.
    """
    want, allows_gaps = tuple(feature_names or ()), keeps_gaps or fill is not None
    n = len(want) if n_features is None else n_features
    rows, source = _read_rows(Path(path), Wanted(label, part, n, want, missing="mean" if allows_gaps else "error"))
    names = _names(rows)
    if has_names(want) and set(want) <= set(names):
        order = [names.index(name) for name in want]
    else:
        order = model_order(names, want, n, source)
    X = rows.X if order == list(range(rows.X.shape[1])) else rows.X[:, order]
    rows = rows._replace(X=X, names=tuple(names[place] for place in order))
    if keeps_gaps:
        gaps = ~np.isfinite(rows.X)
        checked = checked_matrix(np.where(gaps, 0.0, rows.X), _names(rows), source)
        return read_only(np.where(gaps, np.nan, checked)), rows.y
    if fill is not None and has_gaps(rows):
        rows = filled(rows, np.asarray(fill, dtype=np.float64), source)
        warnings.warn(rows.notes[-1], GapWarning, stacklevel=2)
    return checked_matrix(rows.X, _names(rows), source), rows.y


def _labelled(rows: FileRows, label_of_all: str | None) -> FileRows:
    """Return the rows, all with this label where the file has none."""
    if rows.y is not None or label_of_all is None:
        return rows
    return rows._replace(y=np.repeat(labels_of_texts([label_of_all]), len(rows.X)))


def _every(y: Labels) -> NDArray[np.bool_]:
    return np.ones(len(y), dtype=np.bool_)


def _training_rows(
    label: Column | None,
    part: str,
    group: Column | None,
    keep: Sequence[Column],
    drop: Sequence[Column],
    missing: str,
) -> Wanted:
    require_one_choice(keep, drop)
    check_missing(missing)
    return Wanted(label, part, group=group, keep=tuple(keep), drop=tuple(drop), missing=missing)


def _names(rows: FileRows) -> tuple[str, ...]:
    return rows.names or default_names(rows.X.shape[1])


def _dataset(rows: FileRows, source: str) -> Dataset:
    if rows.y is None:
        raise DataError(f"every label of {source} is empty; write the class of each row into its label column")
    made = from_arrays(rows.X, rows.y, rows.names, source, groups=rows.groups)
    return replace(made, notes=rows.notes)


def _read_rows(path: Path, wanted: Wanted) -> tuple[FileRows, str]:
    """Return a file's rows, and its name made printable."""
    raw, source, suffix = _read_bytes(path), printable(path.name), path.suffix.lower()
    if suffix == SUFFIX:
        raw, suffix = unpacked(raw, source), Path(path.stem).suffix.lower()
    reader = reader_of(suffix, raw.removeprefix(codecs.BOM_UTF8))
    if reader is None:
        raise DataError(f"{source} has an unknown suffix; rename it to one of: {', '.join(known_suffixes())}")
    if reader.is_text:
        raw = raw.removeprefix(codecs.BOM_UTF8)
        _require_text(raw, source)
    rows = reader.read(raw, source, wanted)
    check_shape(rows.X, _names(rows), source)
    return without_gaps(rows, source) if wanted.missing == "drop" and has_gaps(rows) else rows, source


def _read_bytes(path: Path) -> bytes:
    shown = printable(str(path))
    try:
        if path.is_dir():
            raise DataError(f"{shown} is a folder, which only training reads; name a data file in it")
        if not path.exists():
            raise DataError(f"there is no file {shown}; check the path")
        if not path.is_file():
            raise DataError(f"{shown} is not a regular file; copy the data into one")
        if path.stat().st_size > MAX_BYTES:
            raise DataError(f"{shown} is larger than {gib(MAX_BYTES)}; use a sample of its rows")
        raw = path.read_bytes()
    except (OSError, MemoryError) as error:
        reason = getattr(error, "strerror", None) or "not enough memory"
        raise DataError(f"{shown} cannot be read ({reason}); check its permissions and that it is complete") from None
    if not raw:
        raise DataError(f"{shown} is empty; it must hold a header and rows of data")
    return raw


def _require_text(raw: bytes, source: str) -> None:
    def row(position: int) -> str:
        return f"row {raw.count(10, 0, position) + 1} of {source}"

    zero = raw.find(0)
    if zero >= 0:
        raise DataError(f"{row(zero)} holds a NUL byte, so it is not UTF-8 text; save the data as UTF-8")
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        raise DataError(f"{row(error.start)} is not UTF-8 text; save the data as UTF-8") from None
