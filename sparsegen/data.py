"""Labelled data from CSV, NPZ and LIBSVM text: read, checked, split, and matched to a model's features.

Every file is a stranger's: whatever its bytes are, the caller gets arrays that can be used or one sentence
(``DataError``) that says what is wrong, in which row and column, and what to do. Nothing in a file is ever executed.
"""

from __future__ import annotations

import codecs
import contextlib
import csv
import hashlib
import io
import itertools
import json
import math
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sparsegen.errors import DataError, OptionError, nearest

Array = NDArray[np.float64]
Labels = NDArray[Any]  # int64, or fixed-width str

MAX_BYTES = 4 << 30  # of a file and of X in memory: refused before it is allocated, not after the machine swaps
MAX_FEATURES = 1_000_000
MAX_TEXT = 200  # characters of a label or a feature name

_TABLES = (".csv", ".tsv", ".txt")
_LIBSVM = (".libsvm", ".svm", ".svmlight")
_SEPARATORS = (",", ";", "\t")
_NUMBER = re.compile(r"[ \t]*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?[ \t]*", re.ASCII)
_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+,\d+\s*", re.ASCII)
_LIBSVM_ROW = re.compile(rb"\s*[^\s,;:]+(\s+qid:\d+)?(\s+\d+:[^\s,;:]+)+\s*(#.*)?")


@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows with labels that passed every check; the arrays are read-only. Make one with `read` or `from_arrays`."""

    X: Array
    """(n, d), finite"""
    y: Labels
    """(n,) int64 or str"""
    feature_names: tuple[str, ...]
    source: str
    """Name of the file, never its folder: model cards print it."""
    sha256: str
    """Hash of X, y and the feature names, wherever and in whatever format they were stored."""


class _Rows(NamedTuple):
    X: Array
    y: Labels | None
    names: tuple[str, ...] | None  # None where the format has no names


class _Columns(NamedTuple):
    features: list[int]
    label: int | None


def read(path: str | Path, label: str | int | None = None, *, part: str = "train") -> Dataset:
    """Return the labelled rows of a CSV, NPZ or LIBSVM file.

    Args:
        path: The file; its suffix says the format, and a ``.txt`` is looked into.
        label: Label column of a CSV by name or by index from 0 (negative: from the end); by default the last.
        part: ``train`` or ``test``: which arrays of an NPZ that holds both.
    """
    raw, source, kind = _open(Path(path))
    if kind == "npz":
        rows = _read_npz(raw, source, part, labelled=True)
    elif kind == "libsvm":
        rows = _read_libsvm(raw, source)
    else:
        rows = _read_csv(raw, source, lambda header: _labelled_columns(header, label, source))
    if rows.y is None:
        raise DataError(f"every label of {source} is empty; write the class of each row into its label column")
    return from_arrays(rows.X, rows.y, rows.names, source)


def read_features(
    path: str | Path,
    feature_names: Sequence[str] | None,
    label: str | int | None = None,
    *,
    n_features: int | None = None,
    part: str = "test",
) -> tuple[Array, Labels | None]:
    """Return rows in a model's feature order, and their labels if the file has any.

    A CSV that has all of ``feature_names`` may have them in any order, among other columns; its label column
    (``label``, or else the last column where that is no feature) may be missing or empty. A model without names takes
    the columns as they come.
    """
    raw, source, kind = _open(Path(path))
    want = tuple(feature_names or ())
    n = len(want) if n_features is None else n_features
    if kind == "csv":
        rows = _read_csv(raw, source, lambda header: _model_columns(header, want, n, label, source))
        return _checked_matrix(rows.X, rows.names or (), source), rows.y
    if kind == "npz":
        rows = _read_npz(raw, source, part, labelled=False)
    else:
        rows = _read_libsvm(raw, source, _first_index(want), n)
    names = rows.names or _default_names(rows.X.shape[1])
    X = _checked_matrix(rows.X, names, source)
    return _frozen(X[:, _model_order(names, want, n, source)]), rows.y


def from_arrays(
    X: ArrayLike, y: ArrayLike, feature_names: Sequence[str] | None = None, source: str = "arrays"
) -> Dataset:
    """Return a dataset of arrays that are checked as strictly as a file's; features without names become x0, x1, ..."""
    matrix = _numeric_matrix(np.asarray(X), "X", source)
    names = _default_names(matrix.shape[1]) if feature_names is None else tuple(map(str, feature_names))
    matrix, labels = _checked_matrix(matrix, names, source), _plain_labels(np.asarray(y), source)
    if labels.shape != (len(matrix),):
        raise DataError(f"{source} has {len(matrix)} rows but {labels.size} labels; give one label per row")
    return Dataset(matrix, _frozen(labels), names, _printable(source), _digest(matrix, labels, names))


def require_classes(dataset: Dataset) -> None:
    """Raise an error unless the labels are at least two classes that a classifier can be trained on."""
    classes = np.unique(dataset.y)
    if len(classes) < 2:
        raise DataError(f"{dataset.source} has one class only ({classes[0].item()!r}); training needs at least two")
    if len(classes) == len(dataset.y) > 10:
        raise DataError(
            f"every row of {dataset.source} has a label of its own; choose a label column that holds a few classes"
        )


def require_rows(dataset: Dataset, n_vectors: int) -> None:
    """Raise an error where there are fewer rows than vectors asked for."""
    if len(dataset.X) < n_vectors:
        raise DataError(
            f"{dataset.source} has {len(dataset.X)} rows for training, fewer than the {n_vectors} vectors asked for; "
            f"ask for at most {len(dataset.X)} vectors or bring more rows"
        )


def constant_features(dataset: Dataset) -> tuple[str, ...]:
    """Return the names of features that have the same value in every row."""
    constant = dataset.X.min(axis=0) == dataset.X.max(axis=0)
    return tuple(name for name, same in zip(dataset.feature_names, constant.tolist(), strict=True) if same)


def split(dataset: Dataset, test_size: float, seed: int) -> tuple[Dataset, Dataset]:
    """Return (train, test), the same for the same seed, with the classes' shares kept where they can be."""
    from sklearn.model_selection import train_test_split

    if not 0 < test_size < 1:
        raise OptionError(f"the share of test rows must lie between 0 and 1, but it is {test_size}")
    if not 0 <= seed < 2**32:
        raise OptionError(f"the seed must lie between 0 and {2**32 - 1}, but it is {seed}")
    n = len(dataset.X)
    n_test = math.ceil(n * test_size)
    if n_test >= n:
        raise DataError(f"{dataset.source} has {n} row(s), too few to keep {test_size:g} of them for testing")
    _, counts = np.unique(dataset.y, return_counts=True)
    stratify = counts.min() >= 2 and len(counts) <= min(n_test, n - n_test)
    train, test = train_test_split(
        np.arange(n), test_size=n_test, random_state=seed, stratify=dataset.y if stratify else None
    )
    return _take(dataset, train), _take(dataset, test)


def match_features(dataset: Dataset, feature_names: Sequence[str] | None, n_features: int) -> Dataset:
    """Return the dataset with its columns in a model's order; by position where either side has no names."""
    order = _model_order(dataset.feature_names, tuple(feature_names or ()), n_features, dataset.source)
    if order == list(range(dataset.X.shape[1])):
        return dataset
    names = tuple(dataset.feature_names[i] for i in order)
    return from_arrays(dataset.X[:, order], dataset.y, names, dataset.source)


def _open(path: Path) -> tuple[bytes, str, str]:
    """Return a file's bytes (text: without BOM), its printable name, and csv, npz or libsvm."""
    raw, source, suffix = _read_bytes(path), _printable(path.name), path.suffix.lower()
    if suffix == ".npz":
        return raw, source, "npz"
    if suffix not in _TABLES + _LIBSVM:
        known = ", ".join((*_TABLES, ".npz", *_LIBSVM))
        raise DataError(f"{source} has a suffix that says no known format; rename it to one of: {known}")
    raw = raw.removeprefix(codecs.BOM_UTF8)
    _require_text(raw, source)
    if suffix in _LIBSVM or (suffix == ".txt" and _looks_like_libsvm(raw)):
        return raw, source, "libsvm"
    return raw, source, "csv"


def _read_bytes(path: Path) -> bytes:
    shown = _printable(str(path))
    try:
        if path.is_dir():
            raise DataError(f"{shown} is a folder; name a data file in it")
        if not path.exists():
            raise DataError(f"there is no file {shown}; check the path")
        if not path.is_file():
            raise DataError(f"{shown} is not a regular file; copy the data into one")
        if path.stat().st_size > MAX_BYTES:
            raise DataError(f"{shown} is larger than {_gib(MAX_BYTES)}; use a sample of its rows")
        raw = path.read_bytes()
    except (OSError, MemoryError) as error:
        reason = getattr(error, "strerror", None) or "not enough memory"
        raise DataError(f"{shown} cannot be read ({reason}); check its permissions and that it is complete") from None
    if not raw:
        raise DataError(f"{shown} is empty; it must hold a header and rows of data")
    return raw


def _require_text(raw: bytes, source: str) -> None:
    zero = raw.find(0)
    if zero >= 0:
        raise DataError(f"{_at(raw, zero, source)} holds a NUL byte, so it is no UTF-8 text; save the data as UTF-8")
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        raise DataError(f"{_at(raw, error.start, source)} is not UTF-8 text; save the data as UTF-8") from None


# ---- CSV: the csv module checks the structure and reads the labels, pandas reads the numbers -------------------------


def _read_csv(raw: bytes, source: str, choose: Callable[[list[str]], _Columns]) -> _Rows:
    separator = max(_SEPARATORS, key=lambda candidate: _fit(raw, candidate))
    records = _records(raw, separator, source)
    _, cells = next(records, (0, []))
    header = [name.strip() for name in cells]
    _check_header(header, source)
    columns = choose(header)
    if not columns.features:
        raise DataError(f"{source} has one column only; separate features and label by a comma, semicolon or tab")

    seen: dict[str, int] = {}  # label -> its number, in order of appearance
    first_rows: list[int] = []
    codes: list[int] = []
    first: list[str] = []
    n = 0
    for row, cells in records:
        if len(cells) != len(header):
            raise DataError(
                f"row {row} of {source} has {_count(len(cells), 'cell')} where the header has {len(header)}; "
                "give every row one cell per column"
            )
        first = first or cells
        n += 1
        if columns.label is not None:
            code = seen.setdefault(cells[columns.label], len(seen))
            codes.append(code)
            if code == len(first_rows):
                first_rows.append(row)
    if n == 0:
        raise DataError(f"{source} has a header but no rows; add data below the header")

    X = _csv_numbers(raw, separator, columns.features)
    # pandas reads a column of nothing but True and False as 1 and 0, hence the look at the first row
    all_numbers = all(_NUMBER.fullmatch(first[c]) for c in columns.features)
    if X is None or len(X) != n or not all_numbers or not np.isfinite(X).all():
        _blame_cell(raw, separator, source, header, columns.features)
    y = None
    if columns.label is not None and any(text.strip() for text in seen):
        for text, row in zip(seen, first_rows, strict=True):
            _check_text(text, f"the label in row {row} of {source}")
        y = _labels_of_texts(list(seen))[codes]
    return _Rows(X, y, tuple(header[c] for c in columns.features))


def _records(raw: bytes, separator: str, source: str) -> Iterator[tuple[int, list[str]]]:
    """Yield (row number as in the file, cells); blank rows are counted but left out."""
    reader = csv.reader(io.TextIOWrapper(io.BytesIO(raw), "utf-8", newline=""), delimiter=separator, strict=True)
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


def _fit(raw: bytes, separator: str) -> tuple[bool, bool, int]:
    """Return how well a separator explains the header: no tab left in a name, a first row as wide, many columns."""
    header: list[str] = []
    row: list[str] = []
    records = _records(raw, separator, "")
    with contextlib.suppress(DataError):
        header = next(records, (0, header))[1]
        row = next(records, (0, row))[1]
    return "\t" not in "".join(header), 1 < len(header) == len(row), len(header)


def _csv_numbers(raw: bytes, separator: str, columns: list[int]) -> Array | None:
    """Return the columns as numbers, or ``None`` where pandas cannot read one of the cells."""
    import pandas as pd

    exact: dict[str, Any] = {}
    if tuple(int(part) for part in pd.__version__.split(".")[:2]) < (3, 1):
        exact["float_precision"] = "round_trip"  # later versions always read exactly, and warn about the option
    try:
        frame = pd.read_csv(
            io.BytesIO(raw),
            sep=separator,
            usecols=columns,
            index_col=False,
            dtype=np.float64,
            na_filter=False,
            low_memory=False,
            **exact,
        )
    except (ValueError, OverflowError, TypeError):
        return None
    place = {column: i for i, column in enumerate(sorted(columns))}  # usecols keeps the order of the file
    return np.ascontiguousarray(frame.to_numpy(dtype=np.float64)[:, [place[c] for c in columns]])


def _blame_cell(raw: bytes, separator: str, source: str, header: list[str], columns: list[int]) -> NoReturn:
    """Raise the error of the first cell that is not a finite number."""
    records = _records(raw, separator, source)
    next(records)
    for row, cells in records:
        for column in columns:
            cell = cells[column]
            if not _NUMBER.fullmatch(cell) or not math.isfinite(float(cell)):
                raise DataError(_cell_flaw(cell, f"row {row}, column {_short(header[column])} of {source}"))
    raise DataError(f"{source} has cells that cannot be read as numbers; write them as plain decimals such as 1.5")


def _cell_flaw(cell: str, where: str) -> str:
    if not cell.strip():
        return f"{where} is empty; fill it in or drop the row"
    if _DECIMAL_COMMA.fullmatch(cell):
        return f"{where} is {_short(cell)}: a decimal comma is not supported; write it with a point"
    if _NUMBER.fullmatch(cell) or cell.strip().lower().lstrip("+-") in ("nan", "inf", "infinity"):
        return f"{where} is {_short(cell)}, not a finite number; replace it or drop the row"
    return f"{where} is {_short(cell)}, not a number; encode it as one or drop the column"


def _check_header(header: list[str], source: str) -> None:
    if not header:
        raise DataError(f"{source} is empty; it must hold a header and rows of data")
    if _looks_like_numbers(header):
        raise DataError(f"{source} looks like it has no header: its first row holds numbers; name the columns in row 1")
    for position, name in enumerate(header, 1):
        if not name:
            raise DataError(
                f"column {position} of {source} has no name in the header; name it or remove it "
                "(a pandas index is left out with index=False)"
            )
    _check_names(header, source)


def _looks_like_numbers(header: list[str]) -> bool:
    """Say whether a header is a row of data: all numbers, or one label among numbers that are not in rising order.

    Rising numbers beside a label are good names: 0, 1, 2, ... as pandas writes them, or wavelengths.
    """
    numbers = [float(name) for name in header if _NUMBER.fullmatch(name)]
    rising = all(a < b for a, b in itertools.pairwise(numbers))
    return len(numbers) == len(header) or (len(numbers) == len(header) - 1 and not rising)


def _labelled_columns(header: list[str], label: str | int | None, source: str) -> _Columns:
    chosen = len(header) - 1 if label is None else _column(header, label)
    if chosen is None:
        hint = nearest(str(label), header)
        raise DataError(f"column {_short(label)} is not in {source}{hint}; it has {_list(header)}")
    return _Columns([i for i in range(len(header)) if i != chosen], chosen)


def _column(header: list[str], label: str | int) -> int | None:
    """Return the column that a name means, or else an index, or ``None``."""
    if isinstance(label, str):
        if label.strip() in header:
            return header.index(label.strip())
        if not re.fullmatch(r"[+-]?\d{1,9}", label.strip(), re.ASCII):
            return None
    index = int(label)
    return index % len(header) if -len(header) <= index < len(header) else None


def _model_columns(header: list[str], want: tuple[str, ...], n: int, label: str | int | None, source: str) -> _Columns:
    if want and set(want) <= set(header):
        place = {name: i for i, name in enumerate(header)}
        features = [place[name] for name in want]
        chosen = len(header) - 1 if label is None else _column(header, label)
        return _Columns(features, None if chosen in features else chosen)
    if len(header) == n + 1 and not _has_names(want):
        return _labelled_columns(header, label, source)
    return _Columns(_model_order(header, want, n, source), None)


# ---- NPZ -------------------------------------------------------------------------------------------------------------


def _read_npz(raw: bytes, source: str, part: str, *, labelled: bool) -> _Rows:
    if part not in ("train", "test"):
        raise OptionError(f"there is no part {part!r} of a data file; choose train or test")
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            members = [name.removesuffix(".npy") for name in archive.namelist()]
            suffix = f"_{part}" if f"X_{part}" in members else ""
            for key in (f"X{suffix}", f"y{suffix}"):
                if key not in members and (labelled or key.startswith("X")):
                    raise DataError(
                        f"{source} has no array {key!r}; save it with X and y, or X_{part} and y_{part} "
                        f"(it has {_list(members)})"
                    )
            X = _numeric_matrix(_npz_array(archive, f"X{suffix}", source), f"X{suffix}", source)
            y = names = None
            if f"y{suffix}" in members:
                y = _plain_labels(_npz_array(archive, f"y{suffix}", source), source)
            if "feature_names" in members:
                names = tuple(str(name) for name in _npz_array(archive, "feature_names", source).ravel().tolist())
    except DataError:
        raise
    except Exception:  # zipfile, zlib and NumPy's header parser raise a dozen types on damaged bytes
        raise DataError(f"{source} is not a readable NPZ file; save it again with numpy.savez") from None
    if y is not None and len(y) != len(X):
        raise DataError(f"{source} has {len(X)} rows in X{suffix} but {len(y)} labels in y{suffix}")
    return _Rows(X, y, names)


def _npz_array(archive: zipfile.ZipFile, key: str, source: str) -> NDArray[Any]:
    """Return one array after its header promised neither objects nor more than the file holds."""
    info = archive.getinfo(f"{key}.npy")
    with archive.open(info) as member:
        shape, dtype = _npy_header(member)
        header_bytes = member.tell()
    if dtype.hasobject:
        raise DataError(
            f"array {key!r} of {source} holds Python objects, which are never loaded; save numbers or strings"
        )
    count = math.prod(shape)
    if count * max(dtype.itemsize, 8) > MAX_BYTES:
        raise DataError(f"array {key!r} of {source} claims more than {_gib(MAX_BYTES)}; save a sample of its rows")
    if count * dtype.itemsize != info.file_size - header_bytes:
        raise DataError(f"array {key!r} of {source} is cut short or damaged; save the file again")
    with archive.open(info) as member:
        array: NDArray[Any] = np.lib.format.read_array(member, allow_pickle=False)
    return array


def _npy_header(member: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    if np.lib.format.read_magic(member) == (1, 0):
        shape, _, dtype = np.lib.format.read_array_header_1_0(member)
    else:
        shape, _, dtype = np.lib.format.read_array_header_2_0(member)
    return shape, dtype


# ---- LIBSVM text -----------------------------------------------------------------------------------------------------


def _read_libsvm(raw: bytes, source: str, first_index: int | None = None, n_features: int = 0) -> _Rows:
    """Return dense rows; features are named after their indices in the file: from x0, or from x1 where no 0 occurs."""
    from sklearn.datasets import load_svmlight_file

    try:
        sparse, values = load_svmlight_file(io.BytesIO(raw), dtype=np.float64, zero_based=True)
    except (ValueError, OverflowError, MemoryError):
        _blame_line(raw, source)
    if not np.isfinite(sparse.data).all() or not np.isfinite(values).all():
        _blame_line(raw, source)
    if len(values) == 0:
        raise DataError(f"{source} has no rows; write each as: label index:value index:value")
    base = first_index if first_index is not None else int(sparse.nnz == 0 or sparse.indices.min() > 0)
    if base == 1 and sparse.nnz and sparse.indices.min() == 0:
        raise DataError(f"{source} counts features from 0, but the model's were counted from 1; number them alike")
    width = max(sparse.shape[1] - base, n_features)
    if width > MAX_FEATURES or width * len(values) * 8 > MAX_BYTES:
        raise DataError(
            f"{source} has {len(values):,} rows and feature indices up to {sparse.shape[1] - 1:,}, too many for "
            "a small model; renumber the features from 1 without gaps"
        )
    X = np.zeros((len(values), width))
    coo = sparse.tocoo()
    X[coo.row, coo.col - base] = coo.data
    return _Rows(X, _plain_labels(values, source), tuple(f"x{i + base}" for i in range(width)))


def _blame_line(raw: bytes, source: str) -> NoReturn:
    """Raise the error of the first line that is not ``label index:value ...`` with rising indices."""
    for number, line in enumerate(raw.decode().split("\n"), 1):
        label, *pairs = line.partition("#")[0].split() or ["0"]
        where = f"line {number} of {source}"
        if not _is_finite(label):
            raise DataError(f"{where} begins with {_short(label)}, not a finite number; LIBSVM labels are numbers")
        last = -1
        for pair in pairs[pairs[:1] != [] and pairs[0].startswith("qid:") :]:
            index, _, value = pair.partition(":")
            if not re.fullmatch(r"\d{1,18}", index, re.ASCII) or not _is_finite(value):
                raise DataError(f"{where} has {_short(pair)}, not index:value with a finite number; correct it")
            if int(index) <= last:
                raise DataError(f"{where} has index {index} after {last}; indices must rise within a line")
            if int(index) > MAX_FEATURES:
                raise DataError(f"{where} has feature index {index}, above {MAX_FEATURES:,}; renumber the features")
            last = int(index)
    raise DataError(f"{source} cannot be read as LIBSVM text; write each row as: label index:value index:value")


def _looks_like_libsvm(raw: bytes) -> bool:
    lines = (line for line in io.BytesIO(raw) if line.strip() and not line.lstrip().startswith(b"#"))
    return _LIBSVM_ROW.fullmatch(next(lines, b"").strip()) is not None


def _first_index(names: tuple[str, ...]) -> int | None:
    """Return where a LIBSVM model's indices began, if its names tell."""
    return {"x0": 0, "x1": 1}.get(names[0]) if names and not _has_names(names) else None


# ---- What every format shares ----------------------------------------------------------------------------------------


def _model_order(have: Sequence[str], want: tuple[str, ...], n_features: int, source: str) -> list[int]:
    """Return which column of a file feeds each feature of a model."""
    place = {name: i for i, name in enumerate(have)}
    if want and len(have) == n_features and place.keys() == set(want):
        return [place[name] for name in want]
    if _has_names(want) and _has_names(have):
        for name in want:
            if name not in place:
                raise DataError(f"feature {_short(name)} of the model is not in {source}{nearest(name, have)}")
        extra = _list([name for name in have if name not in set(want)])
        raise DataError(f"{source} has columns that the model does not know: {extra}; remove them")
    if len(have) != n_features:
        raise DataError(
            f"{source} has {_count(len(have), 'feature')} where the model has {n_features}; "
            "use the columns that it was trained on"
        )
    return list(range(n_features))


def _default_names(n: int) -> tuple[str, ...]:
    return tuple(f"x{i}" for i in range(n))


def _has_names(names: Sequence[str]) -> bool:
    """Say whether names were given by somebody, not counted out here from x0 or x1."""
    return any(name != f"x{i + (names[0] == 'x1')}" for i, name in enumerate(names))


def _numeric_matrix(array: NDArray[Any], key: str, source: str) -> Array:
    if array.dtype.kind not in "biuf":
        raise DataError(f"{key} of {source} holds {array.dtype}, not real numbers; convert it with astype(float)")
    if array.ndim != 2:
        raise DataError(
            f"{key} of {source} has {_count(array.ndim, 'dimension')}, not rows and columns; save "
            f"{key}.reshape(len({key}), -1)"
        )
    if array.shape[1] > MAX_FEATURES or array.size * 8 > MAX_BYTES:
        raise DataError(f"{key} of {source} has shape {array.shape}, too large for a small model; use fewer features")
    return np.asarray(array, dtype=np.float64)


def _checked_matrix(X: Array, names: Sequence[str], source: str) -> Array:
    """Return X, read-only, after checking that it is not empty, finite and named."""
    if 0 in X.shape:
        raise DataError(f"{source} has {_count(X.shape[0], 'row')} of {_count(X.shape[1], 'feature')}; add data")
    if len(names) != X.shape[1]:
        raise DataError(f"{source} has {_count(len(names), 'feature name')} for {_count(X.shape[1], 'feature')}")
    _check_names(names, source)
    finite = np.isfinite(X)
    if not finite.all():
        row, column = np.argwhere(~finite)[0].tolist()
        value = X[row, column]
        raise DataError(
            f"X[{row}, {column}] of {source} (row {row + 1}, feature {_short(names[column])}) is {value}; "
            "replace it or drop the row"
        )
    return _frozen(X)


def _check_names(names: Sequence[str], source: str) -> None:
    for name in names:
        _check_text(name, f"the column name {_short(name)} of {source}")
    if len(set(names)) < len(names):
        seen: set[str] = set()
        twice = next(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise DataError(f"{source} has two columns called {_short(twice)}; rename one of them")


def _check_text(text: str, what: str) -> None:
    if not text.strip():
        raise DataError(f"{what} is empty; fill it in")
    if len(text) > MAX_TEXT:
        raise DataError(f"{what} is longer than {MAX_TEXT} characters; shorten it")
    if not text.isprintable():
        raise DataError(f"{what} holds a control or invisible character; remove it")


def _plain_labels(y: NDArray[Any], source: str) -> Labels:
    """Return labels as int64 where all are whole numbers, as str otherwise."""
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim != 1:
        raise DataError(f"the labels of {source} have {_count(y.ndim, 'dimension')}; save one label per row")
    if y.dtype.kind in "bi":
        return y.astype(np.int64)
    classes, codes = _unique(y, source)
    for text in classes:
        _check_text(text, f"label {_short(text)} of {source}")
    if y.dtype.kind in "uf":
        return _labels_of_texts(classes)[codes]
    return np.array(classes, dtype=np.str_)[codes]


def _unique(y: NDArray[Any], source: str) -> tuple[list[str], NDArray[np.intp]]:
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise DataError(f"label {int(np.flatnonzero(~np.isfinite(y))[0]) + 1} of {source} is not a finite number")
    text = y.dtype.kind in "US" or (y.dtype.kind == "O" and all(isinstance(label, str) for label in y))
    if not text and y.dtype.kind not in "uf":
        raise DataError(f"the labels of {source} hold {y.dtype}; save them as whole numbers or as strings")
    classes, codes = np.unique(y, return_inverse=True)
    try:
        return [c.decode() if isinstance(c, bytes) else str(c) for c in classes.tolist()], codes
    except UnicodeDecodeError:
        raise DataError(f"a label of {source} is not UTF-8 text; save the labels as strings") from None


def _labels_of_texts(texts: list[str]) -> Labels:
    numbers = [_whole(text) for text in texts]
    if any(number is None for number in numbers):
        return np.array(texts, dtype=np.str_)
    return np.array(numbers, dtype=np.int64)


def _whole(text: str) -> int | None:
    """Return the integer that ``1``, ``1.0`` or ``1e0`` means, or ``None``."""
    if not _NUMBER.fullmatch(text):
        return None
    if re.fullmatch(r"[+-]?\d+", text.strip(), re.ASCII):
        return int(text) if -(2**63) <= int(text) < 2**63 else None
    value = float(text)
    return int(value) if value.is_integer() and abs(value) <= 2**53 else None


def _take(dataset: Dataset, rows: NDArray[np.intp]) -> Dataset:
    return from_arrays(dataset.X[rows], dataset.y[rows], dataset.feature_names, dataset.source)


def _digest(X: Array, y: Labels, names: Sequence[str]) -> str:
    described = json.dumps([list(X.shape), list(names), [] if y.dtype.kind == "i" else y.tolist()])
    digest = hashlib.sha256(described.encode())
    digest.update(np.ascontiguousarray(X, dtype="<f8").data)
    if y.dtype.kind == "i":
        digest.update(np.ascontiguousarray(y, dtype="<i8").data)
    return digest.hexdigest()


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array contiguous and read-only, without freezing the caller's own."""
    if array.flags.writeable or not array.flags.c_contiguous:
        array = np.array(array, order="C")
        array.flags.writeable = False
    return array


def _is_finite(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None and math.isfinite(float(text))


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else "?" for c in text)


def _short(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 40 else f"{shown[:37]}...{shown[-1]}"


def _list(names: Iterable[str]) -> str:
    shown = [_short(name) for name in names]
    return ", ".join(shown[:8]) + (", ..." if len(shown) > 8 else "")


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def _at(raw: bytes, position: int, source: str) -> str:
    return f"row {raw.count(10, 0, position) + 1} of {source}"


def _gib(n: int) -> str:
    return f"{n >> 30} GiB"
