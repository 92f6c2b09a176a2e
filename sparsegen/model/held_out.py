"""The rows that were held out for the test, remembered in a model's card by short hashes of what is in them.

Any file that holds them is recognised, in whatever format and order, so that later commands can measure a model on rows
that it was not trained on. A row counts as what a device reads: its features as float32. A test row that is also a
training row, or shares the hash of one, is not remembered: what is recognised was never trained on.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen.arrays import Array

HASH_BYTES = 4
MAX_HASHES = 1 << 14
"""64 kB of hashes; of more rows, those with the smallest hashes are kept, which is a random sample."""

Hashes = NDArray[np.uint32]


def remember(test_rows: Array, train_rows: Array) -> str | None:
    """Return the text that a card keeps of test rows; ``None`` where every one is a training row as well."""
    return remembered(np.setdiff1d(row_hashes(test_rows), row_hashes(train_rows)))


def remembered(hashes: Hashes) -> str | None:
    """Return the text that a card keeps of ascending hashes, none of which is a training row's."""
    kept = hashes[:MAX_HASHES]
    return base64.b64encode(kept.astype(">u4").tobytes()).decode() if len(kept) else None


def held_out(card: Mapping[str, Any], rows: Array) -> NDArray[np.bool_] | None:
    """Return which of some raw rows were held out; ``None`` where the card remembers none."""
    kept = card.get("held_out")
    return None if kept is None else np.isin(row_hashes(rows), decoded(kept))


def decoded(text: str) -> Hashes:
    """Return the hashes in a card's text; raise a ValueError where it holds none."""
    try:
        raw = base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError(str(error)) from None
    if not raw or len(raw) % HASH_BYTES or len(raw) > HASH_BYTES * MAX_HASHES:
        raise ValueError(f"{len(raw)} bytes are no hashes")
    return np.frombuffer(raw, dtype=">u4").astype(np.uint32)


def row_hashes(rows: Array) -> Hashes:
    """Return the hash of each row."""
    with np.errstate(over="ignore"):  # a value beyond float32 is one that no device reads
        read = (np.asarray(rows).astype(np.float32) + np.float32(0)).astype("<f4", order="C")  # -0 is 0
    found = (hashlib.blake2b(row, digest_size=HASH_BYTES).digest() for row in read)
    return np.frombuffer(b"".join(found), dtype=">u4").astype(np.uint32)
