"""How far values are off: what the model gives beside what is true, and the residuals. For models without classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparsegen.devices import thin
from sparsegen.promised import at_least, bound
from sparsegen.report.axis import place
from sparsegen.report.figures import plural
from sparsegen.report.frame import Frame, frame
from sparsegen.report.html import fill
from sparsegen.report.section import Section
from sparsegen.report.sections.confidence import Histogram, histogram
from sparsegen.report.subject import Subject
from sparsegen.report.tested import Tested

SIZE = (460.0, 330.0)
MOST_DOTS = 1500


@dataclass(frozen=True)
class Scatter:
    """Rows as dots: true value below, the model's at the left."""

    frame: Frame
    dots: list[tuple[str, str]]
    told: str


def section(subject: Subject) -> Section | None:
    """Return the section; ``None`` for a model that has classes."""
    if subject.has_classes:
        return None
    tested, found = subject.tested, subject.errors
    off = tested.scores[:, 0] - np.asarray(tested.y, dtype=np.float64)
    explained = None
    if found.r2 is not None:
        explained = f"{at_least(100 * found.r2)} %" if found.r2 > 0 else "nothing"
    html = fill(
        "values.html.j2",
        which=tested.which,
        root_mean_square=bound(found.rmse),
        mean_absolute=bound(found.mae),
        interval=found.in_words(may_be_known=not tested.is_held_out).removeprefix("mean error: "),
        mean_alone=None if found.mean_mae is None else at_least(found.mean_mae),
        explained=explained,
        scatter=_scatter(tested),
        histogram=_residuals(off),
    )
    return Section("values", "How far values are off", html)


def _scatter(tested: Tested) -> Scatter:
    truth, given = np.asarray(tested.y, dtype=np.float64), tested.scores[:, 0]
    low, high = float(min(truth.min(), given.min())), float(max(truth.max(), given.max()))
    ends = (low, high if high > low else low + 1.0)
    drawn = frame(SIZE, ends, ends, ("true value", "value that the model gives"))
    kept = thin(np.arange(len(truth)), MOST_DOTS)
    dots = [(place(drawn.x(float(truth[k]))), place(drawn.y(float(given[k])))) for k in kept]
    return Scatter(drawn, dots, f"True and given values of {plural(len(kept), 'row')}")


def _residuals(off: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> Histogram:
    return histogram([("c0", "all", off)], "residual", "Given minus true: around 0 where nothing is left to learn.")
