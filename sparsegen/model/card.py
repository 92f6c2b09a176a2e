"""What a model's card may say: plain JSON, and the right form for whatever sparsegen itself reads of it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from sparsegen.errors import ModelError

MAX_CARD_DEPTH = 20
LARGEST = 3.4028234663852886e38
"""The largest float32: no device reads a feature beyond it."""


def checked_card(card: Mapping[str, Any], n_features: int, n_projected: int) -> dict[str, Any]:
    """Return a copy of a card that holds plain JSON values only and suits a model's raw and projected features."""
    plain = _plain_json(card)
    for name, check in CHECKS.items():
        if plain.get(name) is not None:
            check(plain[name], n_projected if name == "projected_ranges" else n_features)
    return plain


def is_finite_number(value: object) -> bool:
    """Return whether a value of JSON is a number that a double can hold."""
    try:
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:  # a whole number beyond the largest double
        return False


def _plain_json(card: Mapping[str, Any]) -> dict[str, Any]:
    try:
        text = json.dumps(dict(card), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise ModelError(f"the card must hold plain JSON values ({str(error)[:80]})") from None
    plain: dict[str, Any] = json.loads(text)
    if _nested_beyond(plain, MAX_CARD_DEPTH):
        raise ModelError(f"the card is nested more than {MAX_CARD_DEPTH} deep")
    return plain


def _nested_beyond(value: Any, depth: int) -> bool:
    if not isinstance(value, dict | list):
        return False
    inner = value.values() if isinstance(value, dict) else value
    return depth == 0 or any(_nested_beyond(item, depth - 1) for item in inner)


def _check_method(value: Any, _: int) -> None:
    if not isinstance(value, str):
        raise ModelError("the method in its card is not a text")


def _check_accuracy(value: Any, _: int) -> None:
    if not is_finite_number(value) or not 0 <= value <= 1:
        raise ModelError("the accuracy in its card is not a number from 0 to 1")


def _check_test_rows(value: Any, _: int) -> None:
    if type(value) is not int or not 0 <= value < 2**63:
        raise ModelError("the number of test rows in its card is not a whole number")


def _check_feature_names(value: Any, n_features: int) -> None:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value) or len(value) != n_features:
        raise ModelError(f"the feature names in its card are not a list of {n_features} texts")


def _check_ranges(value: Any, n_features: int) -> None:
    sides = [value.get(side) for side in ("low", "high")] if isinstance(value, dict) else [None]
    for side in sides:
        if not isinstance(side, list) or len(side) != n_features or not all(map(is_finite_number, side)):
            raise ModelError(f"the ranges in its card are not {n_features} finite numbers each, low and high")
    for j, (least, most) in enumerate(zip(*sides, strict=True)):
        if not -LARGEST <= least <= most <= LARGEST:
            raise ModelError(f"the range of feature {j} in its card is not one that a float32 can lie in")


CHECKS = {
    "method": _check_method,
    "accuracy": _check_accuracy,
    "test_rows": _check_test_rows,
    "feature_names": _check_feature_names,
    "ranges": _check_ranges,
    "projected_ranges": _check_ranges,
}
"""By the field of the card; ``null`` and a missing field say nothing and are allowed."""
