"""Writing files so that nothing half written is ever left behind."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from sparsegen.errors import OptionError


def write_atomic(path: Path, content: bytes) -> None:
    """Write ``content`` to a temporary file beside ``path``, then move it into place."""
    write_all(path.parent, {path.name: content})


def write_all(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files into ``folder``, made if missing: all are complete on disk before the first takes its name."""
    pending: list[tuple[str, Path]] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            if (folder / name).is_dir():
                raise OptionError(f"cannot write {folder / name}: it is a folder; choose another name")
            handle, temporary = tempfile.mkstemp(prefix=f".{name}.", dir=folder)
            pending.append((temporary, folder / name))
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


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
