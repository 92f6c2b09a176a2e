"""A model as one page that needs nothing else: no network, no folder beside it."""

from sparsegen.report.page import report
from sparsegen.report.section import Section
from sparsegen.report.subject import Subject
from sparsegen.report.vega import require_vega

__all__ = ["Section", "Subject", "report", "require_vega"]
