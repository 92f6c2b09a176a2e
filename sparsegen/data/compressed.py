"""What compressed files may unpack to, and files of gzip: a few kilobytes may claim to hold terabytes."""

from __future__ import annotations

import gzip
import io
import zlib

from sparsegen.data.checks import MAX_BYTES, gib
from sparsegen.data.memory import check_memory
from sparsegen.errors import DataError

SUFFIX = ".gz"
PIECE = 1 << 20
MAX_EXPANSION = 250  # bytes per byte of the file: rows of numbers have a tenth of it, and gzip reaches a thousand
ALWAYS_ALLOWED = 64 << 20
CHECKED = 64 << 20  # bytes after which the free memory is asked for again


def check_expansion(n_bytes: int, n_packed: int, source: str, remedy: str) -> None:
    """Raise an error where a file of ``n_packed`` bytes that unpacks to ``n_bytes`` is too large, or hardly data."""
    if n_bytes > MAX_BYTES:
        raise DataError(f"{source} unpacks to more than {gib(MAX_BYTES)}; use a sample of its rows")
    if n_bytes > max(ALWAYS_ALLOWED, MAX_EXPANSION * n_packed):
        raise DataError(
            f"{source} unpacks to more than {MAX_EXPANSION} times its size, so it hardly holds data; "
            f"{remedy} if it does"
        )


def unpacked(raw: bytes, source: str) -> bytes:
    """Return what a gzip file holds, or raise an error before it fills the memory."""
    found = bytearray()
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(raw)) as file:
            while piece := file.read(PIECE):
                found += piece
                check_expansion(len(found), len(raw), source, "unpack it yourself")
                if len(found) % CHECKED < len(piece):
                    check_memory(len(found), source)
    except (OSError, EOFError, zlib.error):
        raise DataError(f"{source} is cut short or no gzip file; compress the data again") from None
    except MemoryError:
        raise DataError(f"{source} unpacks to more than the memory holds; use a sample of its rows") from None
    if not found:
        raise DataError(f"{source} is empty; it must hold a header and rows of data")
    return bytes(found)
