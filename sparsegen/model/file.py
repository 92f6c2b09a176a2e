"""The model file: safetensors (arrays) with one JSON document in its metadata.

This module turns arrays and a document into bytes and back; what they mean is for :class:`SparseModel` to say. Nothing
in a file is ever executed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sparsegen.arrays import Array
from sparsegen.data.checks import printable
from sparsegen.errors import ModelError

SCHEMA = 1
METADATA_KEY = "sparsegen"
ARRAYS = ("vectors", "coef", "intercept", "offset", "scale", "projection")
MAX_FILE_BYTES = 1 << 31


def encode(arrays: Mapping[str, Array], document: Mapping[str, Any]) -> bytes:
    """Return the bytes of a model file; the same arrays and document give the same bytes."""
    from safetensors.numpy import save

    text = json.dumps({"schema": SCHEMA, **document}, ensure_ascii=True, allow_nan=False)
    return bytes(save(dict(arrays), metadata={METADATA_KEY: text}))


def decode(content: bytes) -> tuple[dict[str, Array], dict[str, Any]]:
    """Return the arrays and the document in a file's bytes, once both have the form that ``encode`` gives them."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        arrays = load(content)
        header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    except (SafetensorError, ValueError, KeyError, RecursionError) as error:
        raise ModelError(f"it is not a safetensors file ({printable(str(error))[:80]})") from None
    document = _document(header)
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
        if path.stat().st_size > MAX_FILE_BYTES:
            raise ModelError(f"{path.name} is larger than any model sparsegen writes")
        return path.read_bytes()
    except OSError as error:
        raise ModelError(f"cannot read model {path}: {error.strerror or error}") from None


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
    if document["schema"] != SCHEMA:
        raise ModelError(
            f"it has schema {document['schema']!s:.20}, this sparsegen reads schema {SCHEMA}; use a matching version"
        )
    return document
