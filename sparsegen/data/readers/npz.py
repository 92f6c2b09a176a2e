"""NumPy archives: arrays X and y, or X_train, y_train, X_test and y_test; never an object, never a pickle."""

from __future__ import annotations

import io
import math
import warnings
import zipfile
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsegen.arrays import Array
from sparsegen.data.checks import (
    MAX_BYTES,
    MAX_TEXT,
    Labels,
    check_matrix,
    checked_labels,
    default_names,
    gib,
    listed,
    read_only,
    short,
)
from sparsegen.data.columns import feature_places
from sparsegen.data.groups import checked_groups
from sparsegen.data.memory import check_memory
from sparsegen.data.readers import NEEDED, NONE, READERS, FileRows, Reader, Wanted
from sparsegen.errors import DataError, OptionError, nearest

PIECE = 1 << 17  # values of an array that are converted at a time
MAX_ITEM_BYTES = 4 * 4 * MAX_TEXT  # a text that is too long is named in the message if it is not absurdly long


def read(raw: bytes, source: str, wanted: Wanted) -> FileRows:
    """Return the wanted part of an archive."""
    if wanted.part not in ("train", "test"):
        raise OptionError(f"there is no part {wanted.part!r} of a data file; choose train or test")
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive, warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of headers that Python 2 wrote, which are read all the same
            return _read_archive(archive, source, wanted)
    except DataError:
        raise
    except Exception:  # zipfile, zlib and NumPy's header parser raise a dozen types on damaged bytes
        raise DataError(f"{source} is not a readable NPZ file; save it again with numpy.savez") from None


def _read_archive(archive: zipfile.ZipFile, source: str, wanted: Wanted) -> FileRows:
    members = [name.removesuffix(".npy") for name in archive.namelist()]
    suffix = f"_{wanted.part}" if f"X_{wanted.part}" in members else ""
    has_labels = f"y{suffix}" in members and wanted.labels != NONE
    is_labelled = wanted.n_features is None and wanted.labels == NEEDED
    needed = (f"X{suffix}", f"y{suffix}") if is_labelled else (f"X{suffix}",)
    for key in needed:
        if key not in members:
            raise DataError(
                f"{source} has no array {key!r}; save it with X and y, or X_{wanted.part} and y_{wanted.part} "
                f"(it has {listed(members)})"
            )
    X = _matrix(archive, f"X{suffix}", source)
    y = names = None
    if has_labels:
        y = checked_labels(_array(archive, f"y{suffix}", source), source)
        if len(y) != len(X):
            raise DataError(f"{source} has {len(X)} rows in X{suffix} but {len(y)} labels in y{suffix}")
    groups = _groups(archive, members, suffix, len(X), source, wanted)
    if "feature_names" in members:
        names = tuple(str(name) for name in _array(archive, "feature_names", source).ravel().tolist())
    if wanted.keep or wanted.drop:
        names = names or default_names(X.shape[1])
        if len(names) == X.shape[1]:
            chosen = feature_places(names, wanted.keep, wanted.drop, source)
            X, names = read_only(X[:, chosen]), tuple(names[place] for place in chosen)
    return FileRows(X, y, names, groups)


def _groups(
    archive: zipfile.ZipFile, members: list[str], suffix: str, n_rows: int, source: str, wanted: Wanted
) -> Labels | None:
    """Return the array that is named, or ``groups`` where there is one; a model asks for none."""
    if wanted.n_features is not None:
        return None
    asked = "groups" if wanted.group is None else str(wanted.group)
    key = next((key for key in (f"{asked}{suffix}", asked) if key in members), None)
    if key is not None:
        return checked_groups(_array(archive, key, source), n_rows, source)
    if wanted.group is None:
        return None
    raise DataError(f"{source} has no array {short(asked)}{nearest(asked, members)}; it has {listed(members)}")


class _Npy(NamedTuple):
    """The header of an array in an archive, and where its data begin."""

    info: zipfile.ZipInfo
    shape: tuple[int, ...]
    in_columns: bool
    dtype: np.dtype[Any]
    header_bytes: int


def _matrix(archive: zipfile.ZipFile, key: str, source: str) -> Array:
    """Return an array of numbers as doubles; it is converted piece by piece, so that it is in memory once."""
    npy = _checked_header(archive, key, source)
    check_matrix(npy.dtype, npy.shape, key, source)
    check_memory(8 * math.prod(npy.shape), f"array {key!r} of {source}")
    X = np.empty(npy.shape)
    places = X.T.flat if npy.in_columns else X.reshape(-1)
    done = 0
    with archive.open(npy.info) as member:
        member.read(npy.header_bytes)
        while piece := member.read(PIECE * npy.dtype.itemsize):
            values = np.frombuffer(piece, dtype=npy.dtype)
            places[done : done + len(values)] = values
            done += len(values)
    if done != X.size:
        raise _cut_short(key, source)
    return read_only(X)


def _array(archive: zipfile.ZipFile, key: str, source: str) -> NDArray[Any]:
    """Return labels or names."""
    npy = _checked_header(archive, key, source)
    if npy.dtype.itemsize > MAX_ITEM_BYTES:
        raise DataError(f"array {key!r} of {source} holds {npy.dtype}, longer texts than are allowed; shorten them")
    check_memory(npy.info.file_size, f"array {key!r} of {source}")
    with archive.open(npy.info) as member:
        array: NDArray[Any] = np.lib.format.read_array(member, allow_pickle=False)
    return array


def _checked_header(archive: zipfile.ZipFile, key: str, source: str) -> _Npy:
    """Return an array's header, once it promises neither objects nor more bytes than the file holds."""
    info = archive.getinfo(f"{key}.npy")
    with archive.open(info) as member:
        shape, in_columns, dtype = _npy_header(member)
        npy = _Npy(info, shape, in_columns, dtype, member.tell())
    if dtype.hasobject:
        raise DataError(
            f"array {key!r} of {source} holds Python objects, which are never loaded; save numbers or strings"
        )
    n_values = math.prod(shape)
    if n_values * max(dtype.itemsize, 8) > MAX_BYTES:
        raise DataError(f"array {key!r} of {source} claims more than {gib(MAX_BYTES)}; save a sample of its rows")
    if n_values * dtype.itemsize != info.file_size - npy.header_bytes:
        raise _cut_short(key, source)
    return npy


def _cut_short(key: str, source: str) -> DataError:
    return DataError(f"array {key!r} of {source} is cut short or damaged; save the file again")


def _npy_header(member: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    if np.lib.format.read_magic(member) == (1, 0):
        return np.lib.format.read_array_header_1_0(member)
    return np.lib.format.read_array_header_2_0(member)


READERS.register("npz")(Reader(read, suffixes=(".npz",), is_text=False))
