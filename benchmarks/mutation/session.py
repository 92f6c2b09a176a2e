"""One pytest run in a fork: on mutated source, or to note which lines of the package each test reaches."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings

from benchmarks.mutation import ROOT

PROFILE = "mutation"
ARGUMENTS = ["-n0", "-q", "--no-header", "-p", "no:cacheprovider", f"--hypothesis-profile={PROFILE}"]
IMPORTED = "import"
"""The context of lines that run while tests are collected."""


class MutatedModule(importlib.machinery.SourceFileLoader):
    """Loads a module from other source than its file holds; nothing of it reaches the disk."""

    def __init__(self, name: str, path: str, source: bytes) -> None:
        super().__init__(name, path)
        self.changed = source

    def get_code(self, fullname: str) -> CodeType | None:
        """Return the mutated code."""
        return compile(self.changed, self.path, "exec", dont_inherit=True)


class MutatedImport(importlib.abc.MetaPathFinder):
    """Finds the one module that is mutated."""

    def __init__(self, path: str, source: bytes) -> None:
        self.path, self.source = path, source
        parts = Path(path).with_suffix("").parts
        self.module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return how to load the module, if it is the mutated one."""
        if fullname != self.module:
            return None
        file = str(ROOT / self.path)
        loader = MutatedModule(fullname, file, self.source)
        return importlib.util.spec_from_file_location(fullname, file, loader=loader)


class ChosenTests:
    """A pytest plugin: run these tests in this order (all there are, without a choice), and note the failures."""

    def __init__(self, tests: Sequence[str] | None) -> None:
        self.place = None if tests is None else {test: i for i, test in enumerate(tests)}
        self.failed: list[str] = []

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave out the other tests of the same files."""
        if self.place is not None:
            place = self.place
            items[:] = sorted((item for item in items if item.nodeid in place), key=lambda item: place[item.nodeid])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a failure."""
        if report.failed:
            self.failed.append(report.nodeid)


class ReachedLines:
    """A pytest plugin: the lines of some folders that each test reaches, those of shared fixtures with every user."""

    def __init__(self, folders: Iterable[Path]) -> None:
        self.prefixes = tuple(f"{folder}{os.sep}" for folder in folders)
        self.reached: dict[str, set[tuple[str, int]]] = defaultdict(set)
        self.seconds: dict[str, float] = {}
        self.fixtures: dict[str, list[str]] = {}
        self._enter(IMPORTED)

    def _enter(self, context: str) -> None:
        self.context, self.now = context, self.reached[context]

    def trace(self, frame: FrameType, event: str, argument: Any) -> Any:
        """See a call; lines are followed within the folders only."""
        return self._line if frame.f_code.co_filename.startswith(self.prefixes) else None

    def _line(self, frame: FrameType, event: str, argument: Any) -> Any:
        self.now.add((frame.f_code.co_filename, frame.f_lineno))
        return self._line

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Follow one test."""
        self.fixtures[item.nodeid] = list(getattr(item, "fixturenames", []))
        self._enter(item.nodeid)
        before = _processor_seconds()
        sys.settrace(self.trace)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            self._enter(IMPORTED)
            self.seconds[item.nodeid] = _processor_seconds() - before

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Iterator[None]:
        """Keep what a fixture of several tests reaches apart: it counts for all of them."""
        before = self.context
        if fixturedef.scope != "function":
            self._enter(f"fixture {fixturedef.argname}")
        try:
            return (yield)
        finally:
            self._enter(before)

    def document(self) -> dict[str, Any]:
        """Return seconds and lines per test, and the lines reached on import."""
        tests = {}
        for test, names in self.fixtures.items():
            places = self.reached[test].union(*(self.reached.get(f"fixture {name}", set()) for name in names))
            tests[test] = {"seconds": round(self.seconds[test], 3), "lines": _by_file(places)}
        return {"tests": tests, IMPORTED: _by_file(self.reached[IMPORTED])}


def _processor_seconds() -> float:
    """Return the seconds that this process and its children have used: what else runs here does not count."""
    return sum(os.times()[:4])


def _by_file(places: set[tuple[str, int]]) -> dict[str, list[int]]:
    lines: dict[str, list[int]] = defaultdict(list)
    for file, line in sorted(places):
        lines[Path(file).relative_to(ROOT).as_posix()].append(line)
    return dict(lines)


def run(job: dict[str, Any], scratch: Path) -> dict[str, Any]:
    """Do what a job asks: ``files`` to collect, ``tests`` to run, ``mutant`` (path, source) or ``trace`` (folders)."""
    settings.register_profile(
        PROFILE,
        derandomize=True,
        deadline=None,
        phases=(Phase.explicit, Phase.generate),  # a failure is enough: no need to shrink it
        suppress_health_check=list(HealthCheck),
    )
    if job.get("mutant"):
        path, source = job["mutant"]
        sys.meta_path.insert(0, MutatedImport(path, source.encode()))
    chosen = ChosenTests(job.get("tests"))
    plugins: list[object] = [chosen]
    lines = None
    if job.get("trace"):
        lines = ReachedLines(ROOT / folder for folder in job["trace"])
        plugins.append(lines)
        sys.settrace(lines.trace)
    stop = [] if lines else ["--exitfirst"]
    code = pytest.main([*ARGUMENTS, *stop, f"--basetemp={scratch / 'tests'}", *job["files"]], plugins=plugins)
    sys.settrace(None)
    return {"code": int(code), "failed": chosen.failed, "lines": lines.document() if lines else None}
