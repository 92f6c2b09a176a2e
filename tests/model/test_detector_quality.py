"""What cards tell of detectors: read back as it was written, and refused where somebody wrote something else."""

from __future__ import annotations

from typing import Any

import pytest
from golden_models import ALARMS, SMALL

from sparsegen.errors import ModelError
from sparsegen.model.card import checked_card
from sparsegen.model.detector_quality import DetectorQuality, known_detection
from sparsegen.promised import Accuracy


def checked(about: Any) -> dict[str, Any]:
    return checked_card({"anomalies": about}, 3, 3, 2)


def test_read_back() -> None:
    found = DetectorQuality(Accuracy(3, 80, 20.0, 20, 1), None, None)
    card = checked({"normal": "ok", "nu": 0.05, **found.as_json()})
    assert known_detection(card) == found
    assert known_detection({}) is None
    assert known_detection(SMALL["detector"].card) == DetectorQuality(
        Accuracy(3, 80, 20.0, 20, 1), Accuracy(9, 12), 0.96875
    )


@pytest.mark.parametrize(
    "about",
    [
        "normal",
        {},
        {**ALARMS, "more": 1},
        {**ALARMS, "normal": 3},
        {**ALARMS, "nu": "much"},
        {**ALARMS, "nu": 1.5},
        {**ALARMS, "area": -0.1},
        {**ALARMS, "area": True},
        {**ALARMS, "alarms": [3, 80]},
        *(
            {**ALARMS, "alarms": {**ALARMS["alarms"], **wrong}}  # type: ignore[dict-item]
            for wrong in (
                {"rows": 0},
                {"rows": 80.0},
                {"rows": 2**63},
                {"correct": 81},
                {"correct": -1},
                {"copies": 81},
                {"copies": None},
                {"groups": 0},
                {"groups": 81},
                {"groups": "*/"},
                {"independent": 0.5},
                {"independent": 81},
                {"independent": 10**400},
                {"share": 0.1},
            )
        ),
    ],
)
def test_cards_of_strangers(about: Any) -> None:
    with pytest.raises(ModelError, match="card"):
        checked(about)
