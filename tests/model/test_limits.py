"""Models at the limits: what is just allowed, what is just not, and what defaults mean."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from golden_models import SMALL, rows

from sparsegen.errors import ModelError, SparsegenError
from sparsegen.model import Calibration, SparseModel
from sparsegen.model.predictions import predict

BINARY = SMALL["binary_rbf"]


def nested(depth: int) -> dict[str, object]:
    return {"x": nested(depth - 1)} if depth > 1 else {"x": 1}


@pytest.mark.parametrize("labels", [(-(2**63), 2**63 - 1), ("a", "b" * 200), ("é", "e")])
def test_labels_at_the_limits_are_kept(labels: tuple[int | str, ...]) -> None:
    model = replace(BINARY, classes=labels)
    assert SparseModel.from_bytes(model.to_bytes()).classes == labels
    assert set(model.predict(rows(model)).tolist()) <= set(labels)


@pytest.mark.parametrize("labels", [(-(2**63) - 1, 0), (0, 2**63), ("a", "b" * 201), ("a", "\t")])
def test_labels_beyond_the_limits_are_refused(labels: tuple[int | str, ...]) -> None:
    with pytest.raises(ModelError, match="label"):
        replace(BINARY, classes=labels)


def test_a_card_is_as_deep_as_allowed_and_no_deeper() -> None:
    assert replace(BINARY, card=nested(20)).card == nested(20)
    with pytest.raises(ModelError, match="nested more than 20 deep"):
        replace(BINARY, card=nested(21))


def test_a_calibration_without_offset_has_none() -> None:
    calibrated = replace(BINARY, calibration=Calibration("platt", 2.0))
    X = rows(BINARY)
    expected = 1.0 / (1.0 + np.exp(-2.0 * BINARY.scores(X)[:, 0]))
    np.testing.assert_allclose(calibrated.probabilities(X)[:, 1], expected, rtol=1e-12)


@pytest.mark.parametrize(
    "card",
    [
        {"accuracy": 0, "test_rows": 0},
        {"accuracy": 1.0, "test_rows": 2**63 - 1},
        {"ranges": {"low": [-3.4028234663852886e38] * 3, "high": [3.4028234663852886e38] * 3}},
        {"ranges": {"low": [1.5] * 3, "high": [1.5] * 3}},
        {"feature_names": ["a", "b", ""], "method": ""},
    ],
)
def test_cards_at_the_limits_are_kept(card: dict[str, object]) -> None:
    assert SparseModel.from_bytes(replace(BINARY, card=card).to_bytes()).card == card


@pytest.mark.parametrize(
    "card",
    [
        {"accuracy": 1.0000001},
        {"accuracy": -1e-9},
        {"accuracy": True},
        {"test_rows": -1},
        {"test_rows": 2**63},
        {"test_rows": 80.0},
        {"ranges": {"low": [0.0] * 3, "high": [3.5e38] * 3}},
        {"ranges": {"low": [0.0, 1.0, 0.0], "high": [1.0, 0.9, 1.0]}},
        {"feature_names": ["a", "b"]},
    ],
)
def test_cards_beyond_the_limits_are_refused(card: dict[str, object]) -> None:
    with pytest.raises(ModelError, match="in its card"):
        replace(BINARY, card=card)


def test_predictions_are_not_written_over_what_is_something_else(tmp_path: Path) -> None:
    found, path = predict(BINARY, rows(BINARY)), tmp_path / "a.csv"
    found.save(path)
    found.save(path)
    assert path.read_text() == found.csv()
    path.write_text("mine")
    with pytest.raises(SparsegenError):
        found.save(path)
    assert path.read_text() == "mine"
    found.save(path, force=True)
    assert path.read_text() == found.csv()
