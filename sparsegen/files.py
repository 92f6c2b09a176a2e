"""Writing files so that nothing half written is ever left behind."""

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
    """Write files into ``folder`` and its subfolders, made if missing: all are complete on disk before one is named."""
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
        raise OptionError(f"cannot write to {folder}: {error.strerror or error}; choose another -o") from error
    finally:
        for temporary, _ in pending:
            Path(temporary).unlink(missing_ok=True)


def inside(folder: Path, name: str) -> Path:
    """Return ``folder / name`` for a relative name with forward slashes; one that lies outside is refused.

    What lies in a subfolder that is a link to somewhere else lies outside too.
    """
    parts = PurePosixPath(name).parts
    path = folder / name
    plain = parts and parts[0] != "/" and ".." not in parts and "\0" not in name
    if not plain or not path.parent.resolve().is_relative_to(folder.resolve()):
        raise OptionError(f"the file {name!r} lies outside its folder, {folder}; choose a name that stays inside it")
    return path


@contextmanager
def folder_or_temporary(folder: Path | None) -> Iterator[Path]:
    """Give the folder, or a temporary one that is gone afterwards."""
    if folder is not None:
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="sparsegen-") as temporary:
        yield Path(temporary)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
