"""Writing files so that no half-written file is ever left behind."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from sparsegen.errors import OptionError


def write_atomic(path: Path, content: bytes) -> None:
    """Write ``content`` to a temporary file beside ``path``, then move it into place."""
    write_all(path.parent, {path.name: content})


def write_all(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files into ``folder``, which is made if missing; no file gets its name before all are complete on disk."""
    pending: list[tuple[str, Path]] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            path = inside(folder, name)
            if path.is_dir():
                raise OptionError(f"cannot write {path}: it is a folder; choose another name")
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
            pending.append((temporary, path))
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).chmod(0o666 & ~_umask())
        while pending:
            temporary, final = pending[0]
            Path(temporary).replace(final)
            pending.pop(0)
    except OSError as error:
        raise OptionError(
            f"cannot write to {folder}: {error.strerror or error}; choose another place", change={"output": ""}
        ) from error
    finally:
        for temporary, _ in pending:
            Path(temporary).unlink(missing_ok=True)


def require_writable(path: Path) -> None:
    """Raise an error where a file could not be written to ``path``, before long work rather than after it."""
    try:
        if path.is_dir():
            raise OptionError(f"cannot write {path}: it is a folder; name a file in it")
        folder = next((parent for parent in path.absolute().parents if parent.exists()), Path())
    except OSError as error:
        raise OptionError(
            f"cannot write {path}: {error.strerror}; choose another place", change={"output": ""}
        ) from None
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise OptionError(
            f"cannot write {path}: {folder} is not a folder that can be written to; choose another place",
            change={"output": ""},
        )


def inside(folder: Path, name: str) -> Path:
    """Return ``folder / name`` for a relative name with forward slashes, or raise where that is outside the folder.

    A subfolder that is a link to somewhere else is outside too.
    """
    parts = PurePosixPath(name).parts
    path = folder / name
    plain = parts and parts[0] != "/" and ".." not in parts and "\0" not in name
    if not plain or not path.parent.resolve().is_relative_to(folder.resolve()):
        raise OptionError(f"the file {name!r} lies outside its folder, {folder}; choose a name that stays inside it")
    return path


@contextmanager
def folder_or_temporary(folder: Path | None) -> Iterator[Path]:
    """Give the folder, or a temporary one that is removed afterwards."""
    if folder is not None:
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="sparsegen-") as temporary:
        yield Path(temporary)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
