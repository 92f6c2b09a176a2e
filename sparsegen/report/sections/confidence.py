"""How sure the model is, and whether it is right when it is sure: reliability of probabilities, and leads of scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparsegen.arrays import Array
from sparsegen.lowering.agreement import NO_CLASS
from sparsegen.model.decision import DECISIONS
from sparsegen.model.probability_quality import measure_probabilities
from sparsegen.promised import Accuracy, bound
from sparsegen.report.axis import place
from sparsegen.report.figures import plural
from sparsegen.report.frame import Frame, frame
from sparsegen.report.html import fill
from sparsegen.report.section import Section
from sparsegen.report.subject import Subject

SIZE = (460.0, 330.0)
TENTHS = 10
BARS = 24


@dataclass(frozen=True)
class Dot:
    """The rows of one tenth of the confidence."""

    x: str
    y: str
    low: str
    high: str
    radius: str
    told: str


@dataclass(frozen=True)
class Reliability:
    """The reliability diagram."""

    frame: Frame
    dots: list[Dot]
    losses: str


@dataclass(frozen=True)
class Bar:
    """A rectangle of a histogram."""

    x: str
    y: str
    width: str
    height: str
    kind: str


@dataclass(frozen=True)
class Histogram:
    """Scores, or leads, of the rows."""

    frame: Frame
    bars: list[Bar]
    zero: str | None
    """Where the decision changes, if that is inside."""
    keys: list[tuple[str, str]]
    """Class of the style sheet and meaning of each colour."""
    told: str
    caption: str


def section(subject: Subject) -> Section | None:
    """Return the section; ``None`` for a model of another task."""
    if not subject.has_classes or subject.is_detector:
        return None
    html = fill(
        "confidence.html.j2",
        which=subject.tested.which,
        unit="rows" if subject.answers.accuracy.independent is None else "groups of rows",
        reliability=_reliability(subject),
        histogram=_histogram(subject),
    )
    return Section("confidence", "How sure it is", html)


def _reliability(subject: Subject) -> Reliability | None:
    model, tested, answers = subject.model, subject.tested, subject.answers
    known = answers.wanted != NO_CLASS
    if model.calibration is None or not known.any():
        return None
    probabilities = model.calibration(tested.scores)[known]
    wanted = answers.wanted[known]
    confidences, right = probabilities.max(axis=1), probabilities.argmax(axis=1) == wanted
    drawn = frame(SIZE, (0, 1), (0, 1), ("probability that the model gives", "share of rows that are right"))
    tenths = np.minimum((confidences * TENTHS).astype(int), TENTHS - 1)
    dots = []
    for tenth in range(TENTHS):
        inside = tenths == tenth
        if inside.any():
            found = answers.accuracy.on(int(np.count_nonzero(right[inside])), int(np.count_nonzero(inside)))
            dots.append(_dot(drawn, float(confidences[inside].mean()), found, len(right)))
    shares = np.bincount(wanted, minlength=len(model.classes)) / len(wanted)
    quality = measure_probabilities(probabilities, wanted, shares)
    losses = (
        f"Log loss {bound(quality.log_loss)}, Brier score {bound(quality.brier)}, calibration error "
        f"{bound(quality.calibration_error)}; the classes' shares of these rows alone would give "
        f"{bound(quality.prior_log_loss)} and {bound(quality.prior_brier)}."
    )
    return Reliability(drawn, dots, losses)


def _dot(drawn: Frame, confidence: float, found: Accuracy, all_rows: int) -> Dot:
    low, high = found.interval
    told = f"{plural(found.rows, 'row')} of confidence {confidence:.2f} on average, of which {found.correct} are right"
    return Dot(
        place(drawn.x(confidence)),
        place(drawn.y(found.share)),
        place(drawn.y(low)),
        place(drawn.y(high)),
        place(3.0 + 7.0 * (found.rows / all_rows) ** 0.5),
        told,
    )


def _histogram(subject: Subject) -> Histogram:
    tested, answers, labels = subject.tested, subject.answers, subject.classes
    if subject.model.n_outputs == 1:
        score = tested.scores[:, 0]
        groups = [(f"c{k}", labels[k], score[answers.wanted == k]) for k in (0, 1)]
        caption = f"Scores by true class: {labels[1]} where a score is above 0, otherwise {labels[0]}."
        return histogram(groups, "score", caption)
    leads = DECISIONS[subject.model.decision].leads(tested.scores)
    groups = [("good", "right label", leads[answers.right]), ("bad", "wrong label", leads[~answers.right])]
    caption = "The lead of the label that a row was given, over the next one: short leads are where mistakes happen."
    if subject.model.decision != "largest":
        caption = "How far a row's closest vote is from being another one: short leads are where mistakes happen."
    return histogram(groups, "lead", caption)


def histogram(groups: list[tuple[str, str, Array]], name: str, caption: str) -> Histogram:
    """Return the groups' counts in the same bins, one upon the other."""
    everything = np.concatenate([values for _, _, values in groups])
    low, high = min(0.0, float(everything.min())), max(0.0, float(everything.max()))
    edges = np.linspace(low, high if high > low else low + 1.0, BARS + 1)
    counts = [np.histogram(values, edges)[0] for _, _, values in groups]
    top = int(np.sum(counts, axis=0).max())
    drawn = frame(SIZE, (float(edges[0]), float(edges[-1])), (0, max(1.0, 1.05 * top)), (name, "rows"))
    bars, below = [], np.zeros(BARS)
    for (kind, _, _), count in reversed(list(zip(groups, counts, strict=True))):
        bars += [_bar(drawn, kind, edges[k : k + 2], below[k], count[k]) for k in range(BARS) if count[k]]
        below = below + count
    keys = [(kind, f"{meaning}, {plural(len(values), 'row')}") for kind, meaning, values in groups]
    told = f"Histogram of the {name} of {plural(len(everything), 'row')}: " + "; ".join(text for _, text in keys)
    zero = place(drawn.x(0.0)) if low < 0 < high else None
    return Histogram(drawn, bars, zero, keys, told, caption)


def _bar(drawn: Frame, kind: str, ends: NDArray[np.float64], below: float, count: int) -> Bar:
    left, right = (drawn.x(float(end)) for end in ends)
    top, bottom = drawn.y(float(below + count)), drawn.y(float(below))
    return Bar(place(left + 0.5), place(top), place(max(0.5, right - left - 1)), place(bottom - top), kind)
