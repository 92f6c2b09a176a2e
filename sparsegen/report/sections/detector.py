"""What a detector tells apart: false alarms and detections, its scores with the threshold, and the ROC curve."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparsegen.arrays import Array
from sparsegen.lowering.agreement import NO_CLASS
from sparsegen.model.detector_quality import DetectorQuality
from sparsegen.model.task import ANOMALY_CLASSES
from sparsegen.report.axis import place
from sparsegen.report.figures import plural
from sparsegen.report.frame import Frame, frame
from sparsegen.report.html import fill
from sparsegen.report.roc import Roc, roc
from sparsegen.report.section import Section
from sparsegen.report.sections.confidence import SIZE, Histogram, histogram
from sparsegen.report.subject import Subject

ANOMALY, NORMAL = map(ANOMALY_CLASSES.index, ("anomaly", "normal"))
CAPTION = "Scores by what rows are: at most 0, the dashed line, is called an anomaly, above it normal."


@dataclass(frozen=True)
class KindLine:
    """The rows of one kind in the table."""

    kind: str
    rows: str
    called_normal: str
    called_anomaly: str
    told: str
    interval: str


@dataclass(frozen=True)
class Curve:
    """The drawing of a ROC curve."""

    frame: Frame
    points: str
    x: str
    """Where the threshold of the C is."""
    y: str
    told: str
    area: str
    at: str


def section(subject: Subject) -> Section | None:
    """Return the section; ``None`` for a model of another task, or where no row is known to be normal or not."""
    if not subject.is_detector or (found := subject.detection) is None:
        return None
    tested, answers = subject.tested, subject.answers
    beyond = answers.given != (tested.scores[:, 0] > 0).astype(np.int64)
    html = fill(
        "detector.html.j2",
        which=tested.which,
        lines=_lines(subject, found),
        unknown=plural(answers.unknown, "row") if answers.unknown else None,
        beyond=plural(int(np.count_nonzero(beyond)), "row") if beyond.any() else None,
        histogram=_histogram(tested.scores[:, 0], answers.wanted),
        curve=_curve(tested.scores[:, 0], answers.wanted),
    )
    return Section("detector", "What is told from normal", html)


def _lines(subject: Subject, found: DetectorQuality) -> list[KindLine]:
    wanted, given = subject.answers.wanted, subject.answers.given
    told = {name: rest for name, *rest in found.shares(may_be_known=not subject.tested.is_held_out)}
    lines = []
    for kind, index, name in (("normal", NORMAL, "false alarms"), ("anomaly", ANOMALY, "detected")):
        if name not in told:
            continue
        share, interval, caution = told[name]
        counts = np.bincount(given[wanted == index], minlength=len(ANOMALY_CLASSES))
        rows = f"{int(counts.sum()):,}"
        words = f"{name}: {share}"
        lines.append(KindLine(kind, rows, f"{counts[NORMAL]:,}", f"{counts[ANOMALY]:,}", words, interval + caution))
    return lines


def _histogram(scores: Array, wanted: NDArray[np.int64]) -> Histogram:
    groups = [(f"c{k}", ANOMALY_CLASSES[k], scores[wanted == k]) for k in (ANOMALY, NORMAL)]
    return histogram(groups, "score", CAPTION)


def _curve(scores: Array, wanted: NDArray[np.int64]) -> Curve | None:
    """Return the curve by the scores alone; ``None`` where there is nothing to tell apart."""
    known = wanted != NO_CLASS
    found = roc(scores[known], wanted[known] == NORMAL)
    if found is None:
        return None
    drawn = frame(SIZE, (0, 1), (0, 1), ("false alarms, share of normal rows", "detected, share of known anomalies"))
    alarms, detections = found.at(0.0)
    quality = DetectorQuality(None, None, found.area)
    return Curve(
        drawn,
        _points(drawn, found),
        place(drawn.x(alarms)),
        place(drawn.y(detections)),
        f"ROC curve: detections against false alarms at every threshold, area {quality.area_in_words}",
        quality.area_in_words or "",
        f"threshold 0: {100 * alarms:.1f} % false alarms, {100 * detections:.1f} % detected",
    )


def _points(drawn: Frame, found: Roc) -> str:
    pairs = zip(found.alarms.tolist(), found.detections.tolist(), strict=True)
    return " ".join(f"{place(drawn.x(alarms))},{place(drawn.y(detections))}" for alarms, detections in pairs)
