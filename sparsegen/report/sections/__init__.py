"""The sections of the page, in its order: each a function that returns ``None`` where it has nothing to say."""

from __future__ import annotations

from collections.abc import Callable

from sparsegen.report.section import Section
from sparsegen.report.sections.baselines import baselines
from sparsegen.report.sections.classes import classes
from sparsegen.report.sections.code import code
from sparsegen.report.sections.confidence import confidence
from sparsegen.report.sections.costs import costs
from sparsegen.report.sections.features import features
from sparsegen.report.sections.front import front
from sparsegen.report.sections.notes import notes
from sparsegen.report.sections.parts import parts
from sparsegen.report.sections.playground import playground
from sparsegen.report.sections.vectors import vectors
from sparsegen.report.subject import Subject

SECTIONS: tuple[Callable[[Subject], Section | None], ...] = (
    front,
    costs,
    parts,
    playground,
    classes,
    confidence,
    vectors,
    features,
    baselines,
    code,
    notes,
)
