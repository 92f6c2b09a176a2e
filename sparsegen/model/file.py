"""The model file: safetensors (arrays) with one JSON document in its metadata.

This module turns arrays and a document into bytes and back; what they mean is for :class:`SparseModel` to say. Nothing
in a file is ever executed.

The document begins with its schema number and a checksum: the SHA-256 of the whole file, in which the checksum's own
digits are zeros. Both have a fixed place, so no bit of a file can change unnoticed. Files of schema 1 have no checksum
and are still read.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sparsegen.arrays import Array
from sparsegen.data.checks import printable
from sparsegen.errors import ModelError, OptionError
from sparsegen.files import require_regular

SCHEMA = 2
UNSEALED_SCHEMA = 1
METADATA_KEY = "sparsegen"
CHECKSUM_KEY = "sha256"
ARRAYS = ("vectors", "coef", "intercept", "offset", "scale", "projection", "fill")
MAX_FILE_BYTES = 1 << 31
MAX_HEADER_BYTES = 1 << 23  # room for the names and ranges of more than 100,000 features

_LENGTH_BYTES = 8
_NO_CHECKSUM = b"0" * 64
_BEGINNING = rb'{"__metadata__":{"sparsegen":"{\"schema\": 2, \"sha256\": \"'
"""What stands between the length of the header and the checksum."""
_CHECKSUM = slice(_LENGTH_BYTES + len(_BEGINNING), _LENGTH_BYTES + len(_BEGINNING) + len(_NO_CHECKSUM))
_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)


def encode(arrays: Mapping[str, Array], document: Mapping[str, Any]) -> bytes:
    """Return the bytes of a model file; the same arrays and document give the same bytes."""
    from safetensors.numpy import save

    start = {"schema": SCHEMA, CHECKSUM_KEY: _NO_CHECKSUM.decode()}
    text = json.dumps({**start, **document}, ensure_ascii=True, allow_nan=False)
    content = bytes(save(dict(arrays), metadata={METADATA_KEY: text}))
    if len(_header(content)) > MAX_HEADER_BYTES:
        raise ModelError(f"the model's card takes more than {MAX_HEADER_BYTES >> 20} MiB; use fewer features")
    return seal(content)


def seal(content: bytes) -> bytes:
    """Return a model file with the checksum that its other bytes ask for."""
    return b"".join((content[: _CHECKSUM.start], _checksum(content), content[_CHECKSUM.stop :]))


def decode(content: bytes) -> tuple[dict[str, Array], dict[str, Any]]:
    """Return the arrays and the document in a file's bytes, once both have the form that ``encode`` gives them."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    _check_header_size(content)
    sealed = content.startswith(_BEGINNING, _LENGTH_BYTES)
    if sealed and content[_CHECKSUM] != _checksum(content):
        raise ModelError("it is damaged (its checksum does not match its content); copy it again, or train again")
    try:
        arrays = load(content)
        header = json.loads(_header(content))
    except (SafetensorError, ValueError, KeyError, RecursionError) as error:
        raise ModelError(f"it is not a safetensors file ({printable(str(error))[:80]})") from None
    document = _document(header)
    if (document["schema"] == SCHEMA) != sealed or (CHECKSUM_KEY in document) != sealed:
        raise ModelError("it is damaged (its checksum is missing or not in its place); copy it again, or train again")
    unknown = set(arrays) - set(ARRAYS)
    if unknown:
        raise ModelError(f"it holds an unknown array {sorted(unknown)[0]!r:.40}")
    for name, array in arrays.items():
        if array.dtype != np.float64:
            raise ModelError(f"its array {name} holds {array.dtype} values, but must hold float64")
    return arrays, document


def read_bytes(path: Path) -> bytes:
    """Return what a model file holds, or raise a ModelError where it cannot be read or is far too large."""
    try:
        if not path.is_dir():
            require_regular(path)  # a FIFO would never end, nor would some devices
        if path.stat().st_size > MAX_FILE_BYTES:
            raise ModelError(f"{path.name} is larger than any model sparsegen writes")
        return path.read_bytes()
    except OptionError as error:
        raise ModelError(f"cannot read model: {error}") from None
    except (OSError, ValueError) as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError(f"cannot read model {path}: {getattr(error, 'strerror', None) or error}") from None


def _header(content: bytes) -> bytes:
    return content[_LENGTH_BYTES : _LENGTH_BYTES + int.from_bytes(content[:_LENGTH_BYTES], "little")]


def _checksum(content: bytes) -> bytes:
    digest = hashlib.sha256(memoryview(content)[: _CHECKSUM.start])
    digest.update(_NO_CHECKSUM)
    digest.update(memoryview(content)[_CHECKSUM.stop :])
    return digest.hexdigest().encode()


def _check_header_size(content: bytes) -> None:
    """Raise an error where the header is longer, or lists more arrays, than any file of ours; parse nothing yet."""
    header = _header(content)
    if len(header) > MAX_HEADER_BYTES:
        raise ModelError(f"its header takes more than {MAX_HEADER_BYTES >> 20} MiB")
    objects = _STRING.sub(b"", header).count(b"{") - 2  # but for the header itself and its metadata
    if objects > len(ARRAYS):
        raise ModelError(f"it holds {objects:,} arrays or more, not the {len(ARRAYS)} of a model at most")


def _document(header: Any) -> dict[str, Any]:
    metadata = header.get("__metadata__") if isinstance(header, dict) else None
    text = metadata.get(METADATA_KEY) if isinstance(metadata, dict) else None
    if not isinstance(text, str):
        raise ModelError("it has no sparsegen description")
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        raise ModelError("its description is not JSON") from None
    if not isinstance(document, dict) or type(document.get("schema")) is not int:
        raise ModelError("its description has no schema number")
    if document["schema"] not in (SCHEMA, UNSEALED_SCHEMA):
        raise ModelError(
            f"it has schema {document['schema']!s:.20}, this sparsegen reads schemas {UNSEALED_SCHEMA} and {SCHEMA}; "
            "use a matching version"
        )
    return document
