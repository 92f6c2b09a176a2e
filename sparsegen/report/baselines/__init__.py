"""What else the same flash would buy: baselines trained on the same rows and measured on the same device."""

from __future__ import annotations

from sparsegen import progress
from sparsegen.report.baselines.contest import Baseline, Contest, contest
from sparsegen.report.baselines.emlearn_code import has_emlearn
from sparsegen.report.baselines.forest import forest
from sparsegen.report.baselines.network import network
from sparsegen.report.baselines.svc import svc
from sparsegen.report.subject import Subject
from sparsegen.threads import one_thread

__all__ = ["Baseline", "Contest", "contest", "run"]


def run(subject: Subject, of: Contest) -> list[Baseline]:
    """Return the baselines: our export of an SVC, and emlearn's of a forest and a network where it is installed."""
    peers = [forest, network] if has_emlearn() else []
    with progress.task("training baselines", 1 + len(peers)) as advance, one_thread():
        found = [svc(of, subject.numbers)]
        advance(found[0].name)
        for peer in peers:
            found.append(peer(of))
            advance(found[-1].name)
    return found
