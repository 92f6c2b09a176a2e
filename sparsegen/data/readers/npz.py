"""NumPy archives: arrays X and y, or X_train, y_train, X_test and y_test; never an object, never a pickle."""

from __future__ import annotations

import io
import math
import zipfile
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from sparsegen.data.checks import MAX_BYTES, checked_labels, gib, listed, numeric_matrix
from sparsegen.data.readers import READERS, FileRows, Reader, Wanted
from sparsegen.errors import DataError, OptionError


def read(raw: bytes, source: str, wanted: Wanted) -> FileRows:
    """Return the wanted part of an archive."""
    if wanted.part not in ("train", "test"):
        raise OptionError(f"there is no part {wanted.part!r} of a data file; choose train or test")
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            return _read_archive(archive, source, wanted)
    except DataError:
        raise
    except Exception:  # zipfile, zlib and NumPy's header parser raise a dozen types on damaged bytes
        raise DataError(f"{source} is not a readable NPZ file; save it again with numpy.savez") from None


def _read_archive(archive: zipfile.ZipFile, source: str, wanted: Wanted) -> FileRows:
    members = [name.removesuffix(".npy") for name in archive.namelist()]
    suffix = f"_{wanted.part}" if f"X_{wanted.part}" in members else ""
    needed = (f"X{suffix}", f"y{suffix}") if wanted.n_features is None else (f"X{suffix}",)
    for key in needed:
        if key not in members:
            raise DataError(
                f"{source} has no array {key!r}; save it with X and y, or X_{wanted.part} and y_{wanted.part} "
                f"(it has {listed(members)})"
            )
    X = numeric_matrix(_array(archive, f"X{suffix}", source), f"X{suffix}", source)
    y = names = None
    if f"y{suffix}" in members:
        y = checked_labels(_array(archive, f"y{suffix}", source), source)
        if len(y) != len(X):
            raise DataError(f"{source} has {len(X)} rows in X{suffix} but {len(y)} labels in y{suffix}")
    if "feature_names" in members:
        names = tuple(str(name) for name in _array(archive, "feature_names", source).ravel().tolist())
    return FileRows(X, y, names)


def _array(archive: zipfile.ZipFile, key: str, source: str) -> NDArray[Any]:
    """Return one array, once its header promises neither objects nor more bytes than the file holds."""
    info = archive.getinfo(f"{key}.npy")
    with archive.open(info) as member:
        shape, dtype = _npy_header(member)
        header_bytes = member.tell()
    if dtype.hasobject:
        raise DataError(
            f"array {key!r} of {source} holds Python objects, which are never loaded; save numbers or strings"
        )
    n_values = math.prod(shape)
    if n_values * max(dtype.itemsize, 8) > MAX_BYTES:
        raise DataError(f"array {key!r} of {source} claims more than {gib(MAX_BYTES)}; save a sample of its rows")
    if n_values * dtype.itemsize != info.file_size - header_bytes:
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


READERS.register("npz")(Reader(read, suffixes=(".npz",), is_text=False))
