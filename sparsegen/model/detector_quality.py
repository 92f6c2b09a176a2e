"""How a detector of anomalies did on rows that are known: false alarms on normal rows, detections of anomalies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from sparsegen.data.checks import count
from sparsegen.promised import Accuracy, at_least, at_most_percent, percent


@dataclass(frozen=True)
class DetectorQuality:
    """Counts of a test, of each kind of rows by itself; a kind that no row is of has none."""

    alarms: Accuracy | None
    """How many of the normal rows are called anomalies."""
    detections: Accuracy | None
    """How many of the known anomalies are called so."""
    area: float | None = None
    """Under the curve of detections against false alarms, over all thresholds; ``None`` where a kind has no row."""

    def as_json(self) -> dict[str, Any]:
        """Return plain values for the model card; see `known_detection`."""
        return asdict(self)

    def document(self) -> dict[str, Any]:
        """Return plain values for other programs."""
        return {"false_alarms": _document(self.alarms), "detections": _document(self.detections), "roc_area": self.area}

    def lines(self, rows: str = "rows", *, may_be_known: bool = False) -> list[tuple[str, str]]:
        """Return what was found in words; ``rows`` says of which rows, which the model may know from training."""
        told = self.shares(rows, may_be_known=may_be_known)
        return [(name, f"{share} ({interval}){caution}") for name, share, interval, caution in told]

    def shares(self, rows: str = "rows", *, may_be_known: bool = False) -> list[tuple[str, str, str, str]]:
        """Return names, shares rounded to the worse side, intervals with their condition, and words of caution."""
        told = []
        if (found := self.alarms) is not None:
            share = f"{at_most_percent(found.share)} of {found.rows} normal {rows}{_in_groups(found)}"
            told.append(("false alarms", share, found.in_words(may_be_known=may_be_known), ""))
        if (found := self.detections) is not None:
            share = f"{percent(found.share)} of {found.rows} known anomalies{_in_groups(found)}"
            told.append(("detected", share, found.in_words(may_be_known=may_be_known), "; others may look different"))
        return told

    @property
    def area_in_words(self) -> str | None:
        """The area under the curve, rounded down."""
        return None if self.area is None else f"{at_least(self.area)}: how often a normal row scores above an anomaly"


def known_detection(card: Mapping[str, Any]) -> DetectorQuality | None:
    """Return the test that a checked card of a detector tells of."""
    found = card.get("anomalies")
    if found is None:
        return None
    parts = [None if found[name] is None else Accuracy(**found[name]) for name in ("alarms", "detections")]
    return DetectorQuality(parts[0], parts[1], found["area"])


def _in_groups(found: Accuracy) -> str:
    return "" if found.groups is None else f" in {count(found.groups, 'group')}"


def _document(found: Accuracy | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {"rows": found.rows, "count": found.correct, "share": found.share, "interval": list(found.interval)}
