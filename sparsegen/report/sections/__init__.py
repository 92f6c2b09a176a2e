"""The sections of the page, in its order. The ``section`` of a module returns ``None`` where it has nothing to say."""

from __future__ import annotations

from collections.abc import Callable

from sparsegen.report.section import Section
from sparsegen.report.sections import (
    baselines,
    classes,
    code,
    confidence,
    costs,
    detector,
    features,
    front,
    notes,
    parts,
    playground,
    values,
    vectors,
)
from sparsegen.report.subject import Subject

SECTIONS: tuple[Callable[[Subject], Section | None], ...] = (
    front.section,
    costs.section,
    parts.section,
    playground.section,
    classes.section,
    confidence.section,
    detector.section,
    values.section,
    vectors.section,
    features.section,
    baselines.section,
    code.section,
    notes.section,
)
