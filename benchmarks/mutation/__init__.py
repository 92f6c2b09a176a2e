"""Mutation testing: change one thing in the code and see whether a test fails. What no test notices, no test holds.

``python -m benchmarks.mutation`` mutates ``lowering/``, ``solvers/``, ``model/`` and ``targets/`` and runs, for each
mutant, the tests of that area that reach the changed line. Survivors that no test can kill are listed with the reason
in ``survivors.md``.

* ``mutants``: what is changed, and how;
* ``server``: a process that imports everything but sparsegen once, and forks for each mutant;
* ``session``: what a fork does: a pytest run on changed source, or one that notes which test reaches which line;
* ``campaign``: which tests a mutant needs, and what is known from the last run;
* ``reasons``: reads ``survivors.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Area:
    """A folder of the package and the tests that must kill its mutants."""

    name: str
    tests: tuple[str, ...]
    """Folders and files under tests/."""

    @property
    def folder(self) -> Path:
        """Where its modules are."""
        return ROOT / "sparsegen" / self.name


AREAS = {
    area.name: area
    for area in (
        Area("lowering", ("lowering", "targets/c", "targets/test_onnx.py")),
        Area("solvers", ("solvers", "methods/test_rvm.py")),
        Area("model", ("model", "cli/test_inspect.py")),
        Area("targets", ("targets", "test_templates.py")),
    )
}
