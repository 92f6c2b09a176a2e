"""What a model's card may say: plain JSON, and the right form for whatever sparsegen itself reads of it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from sparsegen.errors import ModelError
from sparsegen.model.confusion import COUNTS, MAX_MATRIX
from sparsegen.model.detector_quality import DetectorQuality
from sparsegen.model.held_out import decoded
from sparsegen.model.probability_quality import ProbabilityQuality
from sparsegen.model.value_quality import ValueQuality
from sparsegen.promised import Accuracy

MAX_CARD_DEPTH = 20
LARGEST = 3.4028234663852886e38
"""The largest float32: no device reads a feature beyond it."""


def checked_card(card: Mapping[str, Any], n_features: int, n_projected: int, n_classes: int) -> dict[str, Any]:
    """Return a copy of a card that holds plain JSON values only and suits a model's features and classes."""
    plain = _plain_json(card)
    counts = {"projected_ranges": n_projected, "confusion": n_classes, "class_counts": n_classes}
    for name, check in CHECKS.items():
        if plain.get(name) is not None:
            check(plain[name], counts.get(name, n_features))
    return plain


def known_accuracy(card: Mapping[str, Any]) -> Accuracy | None:
    """Return the accuracy on test rows that a checked card tells of; ``None`` where it says too little."""
    share, rows = card.get("accuracy"), card.get("test_rows")
    if share is None or not rows:
        return None
    correct, independent = math.floor(share * rows + 1e-6), card.get("test_independent")
    worth, copies = None if independent is None else min(independent, rows), card.get("test_copies") or 0
    return Accuracy(correct, rows, worth, card.get("test_groups"), min(copies, rows))


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
    if not _is_count(value):
        raise ModelError("the number of test rows in its card is not a whole number")


def _check_test_copies(value: Any, _: int) -> None:
    if not _is_count(value):
        raise ModelError("the number of test rows in its card that are copies is not a whole number")


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value < 2**63


def _check_test_groups(value: Any, _: int) -> None:
    if not _is_count(value) or value == 0:
        raise ModelError("the number of test groups in its card is not a whole number from 1")


def _check_test_independent(value: Any, _: int) -> None:
    if not is_finite_number(value) or value < 1:
        raise ModelError("the number of independent test rows in its card is not a number from 1")


def _check_counts(lists: Any, n_lists: int, n_classes: int) -> None:
    good = isinstance(lists, list) and len(lists) == n_lists and all(isinstance(row, list) for row in lists)
    if not good or not all(len(row) == n_classes and all(map(_is_count, row)) for row in lists):
        raise ModelError(f"the counts of test rows in its card are not whole numbers for each of {n_classes} classes")
    if not any(map(sum, lists)):
        raise ModelError("the counts of test rows in its card are all 0")


def _check_confusion(value: Any, n_classes: int) -> None:
    if n_classes > MAX_MATRIX:
        raise ModelError(f"its card has a confusion matrix of more than {MAX_MATRIX} classes")
    _check_counts(value, n_classes, n_classes)


def _check_class_counts(value: Any, n_classes: int) -> None:
    _check_counts([value.get(name) for name in COUNTS] if isinstance(value, dict) else None, len(COUNTS), n_classes)
    rows, given, correct = (value[name] for name in COUNTS)
    if any(right > min(n, m) for right, n, m in zip(correct, rows, given, strict=True)):
        raise ModelError("the counts of test rows in its card have more right rows than rows")
    if sum(rows) != sum(given) or not sum(rows):
        raise ModelError("the counts of test rows in its card do not add up")


def _check_held_out(value: Any, _: int) -> None:
    try:
        decoded(value if isinstance(value, str) else "")
    except ValueError:
        raise ModelError("what its card remembers of the held-out rows is not a list of hashes") from None


def _check_final_rows(value: Any, _: int) -> None:
    if not _is_count(value) or value == 0:
        raise ModelError("the number of rows of the final training in its card is not a whole number from 1")


def _check_probabilities(value: Any, _: int) -> None:
    wanted = [field.name for field in fields(ProbabilityQuality)]
    if not isinstance(value, dict) or sorted(value) != sorted(wanted):
        raise ModelError("what its card tells of probabilities has the wrong form")
    if not _is_count(value["rows"]) or not all(is_finite_number(value[name]) and value[name] >= 0 for name in wanted):
        raise ModelError("what its card tells of probabilities is not numbers from 0 on")


def _check_values(value: Any, _: int) -> None:
    wanted = {field.name for field in fields(ValueQuality)}
    if not isinstance(value, dict) or set(value) != wanted:
        raise ModelError("what its card tells of the errors of values has the wrong form")
    counts, may_be_unknown = {"rows", "groups", "copies"}, {"r2", "mean_mae", "groups"}
    known = {name: number for name, number in value.items() if number is not None or name not in may_be_unknown}
    errors = [number for name, number in known.items() if name not in counts]
    if not all(map(is_finite_number, errors)) or not all(known[name] >= 0 for name in known if name != "r2"):
        raise ModelError("what its card tells of the errors of values is not numbers from 0 on")
    if not all(_is_count(known[name]) for name in counts & set(known)) or known["rows"] == 0:
        raise ModelError("what its card tells of the rows of its test is not whole numbers")


def _check_anomalies(value: Any, _: int) -> None:
    wanted = {"normal", "nu", *(field.name for field in fields(DetectorQuality))}
    if not isinstance(value, dict) or set(value) != wanted:
        raise ModelError("what its card tells of anomalies has the wrong form")
    if not isinstance(value["normal"], str):
        raise ModelError("the label of normal rows in its card is not a text")
    for name in ("nu", "area"):
        known = value[name]
        if known is not None and not (is_finite_number(known) and 0 <= known <= 1):
            raise ModelError(f"the {name} in its card is not a number from 0 to 1")
    for name in ("alarms", "detections"):
        if value[name] is not None:
            _check_share(value[name])


def _check_share(value: Any) -> None:
    if not isinstance(value, dict) or set(value) != {field.name for field in fields(Accuracy)}:
        raise ModelError("the counts of false alarms or detections in its card have the wrong form")
    rows, independent, groups = value["rows"], value["independent"], value["groups"]
    if not all(map(_is_count, (value["correct"], rows, value["copies"]))) or rows == 0:
        raise ModelError("the counts of false alarms or detections in its card are not whole numbers of rows")
    if value["correct"] > rows or value["copies"] > rows:
        raise ModelError("the counts of false alarms or detections in its card are more than their rows")
    if groups is not None and not (_is_count(groups) and 1 <= groups <= rows):
        raise ModelError("the number of groups of its test in its card is not a whole number up to that of rows")
    if independent is not None and not (is_finite_number(independent) and 1 <= independent <= rows):
        raise ModelError("the number of independent test rows in its card does not lie between 1 and that of rows")


def _check_target(value: Any, _: int) -> None:
    if not isinstance(value, dict) or not all(is_finite_number(value.get(name)) for name in ("mean", "deviation")):
        raise ModelError("what its card tells of the target is not two finite numbers, mean and deviation")
    if value["deviation"] <= 0:
        raise ModelError("the deviation of the target in its card is not positive")


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


def _check_fill(value: Any, n_features: int) -> None:
    if not isinstance(value, list) or len(value) != n_features or not all(map(is_finite_number, value)):
        raise ModelError(f"what fills missing values in its card are not {n_features} finite numbers")


CHECKS = {
    "method": _check_method,
    "accuracy": _check_accuracy,
    "test_rows": _check_test_rows,
    "test_copies": _check_test_copies,
    "test_groups": _check_test_groups,
    "test_independent": _check_test_independent,
    "confusion": _check_confusion,
    "class_counts": _check_class_counts,
    "held_out": _check_held_out,
    "final_rows": _check_final_rows,
    "probabilities": _check_probabilities,
    "values": _check_values,
    "target": _check_target,
    "anomalies": _check_anomalies,
    "feature_names": _check_feature_names,
    "fill": _check_fill,
    "ranges": _check_ranges,
    "projected_ranges": _check_ranges,
}
"""By the field of the card; ``null`` and a missing field say nothing and are allowed."""
