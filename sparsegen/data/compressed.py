"""Files that gzip compressed, unpacked within bounds: a few kilobytes may claim to hold terabytes."""

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


def unpacked(raw: bytes, source: str) -> bytes:
    """Return what a gzip file holds, or raise an error before it fills the memory."""
    found = bytearray()
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(raw)) as file:
            while piece := file.read(PIECE):
                found += piece
                if len(found) > MAX_BYTES:
                    raise DataError(f"{source} unpacks to more than {gib(MAX_BYTES)}; use a sample of its rows")
                if len(found) > max(ALWAYS_ALLOWED, MAX_EXPANSION * len(raw)):
                    raise DataError(
                        f"{source} unpacks to more than {MAX_EXPANSION} times its size, so it hardly holds data; "
                        "unpack it yourself if it does"
                    )
                if len(found) % CHECKED < len(piece):
                    check_memory(len(found), source)
    except (OSError, EOFError, zlib.error):
        raise DataError(f"{source} is cut short or no gzip file; compress the data again") from None
    except MemoryError:
        raise DataError(f"{source} unpacks to more than the memory holds; use a sample of its rows") from None
    if not found:
        raise DataError(f"{source} is empty; it must hold a header and rows of data")
    return bytes(found)
