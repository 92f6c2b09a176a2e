"""Held-out rows are recognised wherever they stand, and a training row never is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sparsegen.arrays import Array
from sparsegen.model import held_out as remembered
from sparsegen.model.held_out import HASH_BYTES, MAX_HASHES, decoded, held_out, remember


def rows(n: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, 3))


def marked(card: Mapping[str, Any], X: Array) -> NDArray[np.bool_]:
    found = held_out(card, X)
    assert found is not None
    return found


def test_rows_are_recognised_in_any_order_and_precision() -> None:
    test, train = rows(50), rows(100, seed=1)
    card = {"held_out": remember(test, train)}
    mixed = np.vstack([train, test[::-1].astype(np.float32).astype(np.float64)])
    np.testing.assert_array_equal(held_out(card, mixed), np.arange(150) >= 100)
    np.testing.assert_array_equal(held_out(card, -np.zeros((2, 3))), [False, False])
    assert held_out({}, test) is None and held_out({"held_out": None}, test) is None


def test_zeros_are_zeros_with_any_sign() -> None:
    card = {"held_out": remember(np.zeros((1, 3)), rows(5))}
    assert marked(card, np.array([[0.0, -0.0, 0.0], [1e300, -1e300, 0.0]])).tolist() == [True, False]


def test_a_test_row_that_was_trained_on_is_not_held_out() -> None:
    test, train = rows(50), np.vstack([rows(100, seed=1), rows(50)[:10]])
    assert marked({"held_out": remember(test, train)}, test).tolist() == [False] * 10 + [True] * 40
    assert remember(test, test) is None


def test_a_training_row_with_the_hash_of_a_test_row_is_not_held_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The adversary: hashes so short that most test rows share theirs with a training row."""
    short = remembered.row_hashes
    monkeypatch.setattr(remembered, "row_hashes", lambda rows: short(rows) % 64)
    test, train = rows(60), rows(60, seed=1)
    card = {"held_out": remember(test, train)}
    assert not marked(card, train).any()
    assert 0 < np.count_nonzero(marked(card, test)) < 60


def test_of_more_rows_than_a_card_holds_a_sample_is_kept() -> None:
    test, train = rows(MAX_HASHES + 4000), rows(10, seed=1)
    text = remember(test, train)
    assert text is not None and len(decoded(text)) == MAX_HASHES
    kept = marked({"held_out": text}, test)
    assert np.count_nonzero(kept) == MAX_HASHES
    assert 0.7 < np.mean(kept[:4000]) < 0.9, "not the first rows: a sample"


@pytest.mark.parametrize("text", ["", "AAAA", "AAAAA", "\u00e4", "====", "A" * (4 * HASH_BYTES * MAX_HASHES)])
def test_other_texts_hold_no_hashes(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        decoded(text)
