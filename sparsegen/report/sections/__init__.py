"""The sections of the page, in its order. Each is a function of a module: it returns ``None`` where it has nothing to say."""

from __future__ import annotations

from collections.abc import Callable

from sparsegen.report.section import Section
from sparsegen.report.subject import Subject

SECTIONS: tuple[Callable[[Subject], Section | None], ...] = ()
