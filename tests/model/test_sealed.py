"""The checksum of a model file, ranges of projected features, and scores in blocks."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace

import numpy as np
import pytest
from golden_models import SMALL, wave

from sparsegen.errors import ModelError
from sparsegen.kernels import BoundKernel
from sparsegen.model import sparse_model
from sparsegen.model.file import decode, encode

PLAIN, PROJECTED = SMALL["binary_rbf"], SMALL["rbf_projected"]
CONTENT = encode({"vectors": wave(3, 2)}, {"classes": [0, 1]})


def test_the_checksum_is_that_of_the_file_with_zeros_in_its_place():
    """So that any tool can check it."""
    stored = re.findall(rb"[0-9a-f]{64}", CONTENT)
    assert len(stored) == 1
    assert hashlib.sha256(CONTENT.replace(stored[0], b"0" * 64)).hexdigest() == stored[0].decode()


def test_a_change_of_any_byte_is_noticed():
    for at in range(len(CONTENT)):
        damaged = bytearray(CONTENT)
        damaged[at] ^= 1
        with pytest.raises(ModelError):
            decode(bytes(damaged))
    assert decode(CONTENT)[1]["classes"] == [0, 1]


def test_projected_ranges_have_as_many_values_as_the_projection():
    """3 of 20 features are left."""
    raw, seen = ({"low": [0.0] * n, "high": [1.0] * n} for n in (20, 3))
    card = {"ranges": raw, "projected_ranges": seen}
    assert replace(PROJECTED, card=card).card == card
    for wrong in ({"ranges": seen}, {"projected_ranges": raw}):
        with pytest.raises(ModelError, match="range"):
            replace(PROJECTED, card=wrong)


@pytest.mark.parametrize("at_once", [1, 7, 100])
def test_rows_are_scored_in_blocks_that_fit(at_once, monkeypatch):
    """A block's Gram matrix has 8 bytes for each vector, or its rows for each feature; one row always fits."""
    for of in (PLAIN, SMALL["rbf_buffered"]):
        X = wave(30, of.n_features)
        whole, gram = of.scores(X), BoundKernel.gram
        blocks: list[int] = []

        def counted(self, rows, vectors, gram=gram, blocks=blocks):
            blocks.append(len(rows))
            return gram(self, rows, vectors)

        with monkeypatch.context() as patched:
            patched.setattr(BoundKernel, "gram", counted)
            patched.setattr(sparse_model, "BLOCK_BYTES", at_once * 8 * max(of.n_vectors, of.n_features))
            np.testing.assert_allclose(of.scores(X), whole, rtol=1e-12)
            assert blocks == [min(at_once, 30 - first) for first in range(0, 30, at_once)]
            patched.setattr(sparse_model, "BLOCK_BYTES", 1)
            np.testing.assert_allclose(of.scores(X), whole, rtol=1e-12)
