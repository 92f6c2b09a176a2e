"""Which tests must kill a mutant, and whether they do. What is known from an earlier run is not run again."""

from __future__ import annotations

import hashlib
import json
import queue
import random
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

from benchmarks.mutation import AREAS, ROOT, Area
from benchmarks.mutation.mutants import Mutant, mutants
from benchmarks.mutation.server import Server

PASSED, FAILED, NO_TESTS = 0, 1, 5  # pytest's exit codes; any other is a mutant that no test survives to see
FIRST_SECONDS = 2.0  # of tests in the first runs of a mutant: most die there
TRACE_SECONDS = 900.0
PATIENCE = 5.0  # times the seconds its tests take, and a few more: a mutant that takes longer never ends
START_SECONDS = 10.0


class BrokenTestsError(Exception):
    """The tests cannot be run on the code as it is."""


@dataclass(frozen=True)
class Test:
    """A test, how long it takes, and the lines it reaches by file."""

    id: str
    seconds: float
    lines: dict[str, frozenset[int]]

    @property
    def file(self) -> str:
        """Where it is."""
        return self.id.partition("::")[0]

    def reaches(self, mutant: Mutant) -> bool:
        """Whether the test runs the statement that is changed."""
        first, last = mutant.lines
        return any(first <= line <= last for line in self.lines.get(mutant.path, ()))


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant."""

    area: str
    mutant: Mutant
    killed_by: str | None
    """The first test that failed, or ``time``, ``crash`` or ``import``; ``None`` for a survivor."""
    n_tests: int
    """How many tests reach it."""


class Campaign:
    """Servers, the cache and the settings of a run."""

    def __init__(self, cache: Path, jobs: int, slowest: float, say: Callable[[str], None]) -> None:
        self.cache, self.jobs, self.slowest, self.say = cache, jobs, slowest, say
        self._package = _digest(*(path.read_bytes() for path in _python_files(ROOT / "sparsegen")))
        self._helpers = [path for path in _python_files(ROOT / "tests") if not path.name.startswith("test_")]
        self._digests: dict[str, str] = {}
        self._idle: queue.Queue[Server] = queue.Queue()
        self._lock = threading.Lock()
        self._known: dict[str, dict[str, Any]] = {}
        self._open = ExitStack()

    def __enter__(self) -> Campaign:
        self.cache.mkdir(parents=True, exist_ok=True)
        results = self.cache / "results.jsonl"
        if results.exists():
            for line in results.read_text().splitlines():
                self._known |= json.loads(line)
        self._log = self._open.enter_context(results.open("a"))
        for _ in range(self.jobs):
            self._idle.put(self._open.enter_context(Server()))
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def tests(self, area: Area) -> list[Test]:
        """Return the area's tests with the lines that they reach, the fastest first."""
        files = [file for name in area.tests for file in _test_files(ROOT / "tests" / name)]
        documents = self._in_parallel(self._lines, files)
        found = [
            Test(test, known["seconds"], {file: frozenset(lines) for file, lines in known["lines"].items()})
            for document in documents
            for test, known in document["tests"].items()
        ]
        return sorted(found, key=lambda test: test.seconds)

    def judge(self, area: Area, chosen: Sequence[Mutant]) -> Iterator[Verdict]:
        """Yield what became of each mutant."""
        tests = self.tests(area)
        yield from self._in_parallel(lambda mutant: self._verdict(area, mutant, tests), chosen)

    def _in_parallel(self, work: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        with ThreadPoolExecutor(self.jobs) as pool:
            yield from pool.map(work, items)

    def _ask(self, job: dict[str, Any]) -> dict[str, Any]:
        server = self._idle.get()
        try:
            return server.ask(job)
        finally:
            self._idle.put(server)

    def _lines(self, file: str) -> dict[str, Any]:
        """Return what a test file reaches in all areas: some test several of them."""
        digest = _digest(self._package.encode(), self._digest_of(file).encode())
        path = self.cache / f"lines-{digest}.json"
        if not path.exists():
            self.say(f"lines that {file} reaches")
            folders = [area.folder.relative_to(ROOT).as_posix() for area in AREAS.values()]
            answer = self._ask({"files": [file], "trace": folders, "seconds": TRACE_SECONDS})
            if answer["ended"] or answer["code"] not in (PASSED, FAILED, NO_TESTS):
                raise BrokenTestsError(f"{file} cannot be run without any mutant:\n{answer['log']}")
            for test in answer["failed"]:
                self.say(f"left out, as it fails without any mutant: {test}")
                answer["lines"]["tests"].pop(test, None)
            path.write_text(json.dumps(answer["lines"]))
        document: dict[str, Any] = json.loads(path.read_text())
        return document

    def _verdict(self, area: Area, mutant: Mutant, tests: list[Test]) -> Verdict:
        reaching = [test for test in _needed(tests, mutant) if test.seconds <= self.slowest]
        source = (ROOT / mutant.path).read_bytes()
        changed = mutant.apply(source)
        key = _digest(area.name.encode(), source, changed)
        known = self._known.get(key)
        if known is None or not self._still_holds(known, reaching):
            killed_by = self._killer(mutant, changed, reaching)
            by_test = next((test for test in reaching if test.id == killed_by), None)
            known = {"killed_by": killed_by, "tests": self._state([by_test] if by_test else reaching)}
            with self._lock:
                self._known[key] = known
                print(json.dumps({key: known}), file=self._log, flush=True)
        verdict = Verdict(area.name, mutant, known["killed_by"], len(reaching))
        if verdict.killed_by is None:
            self.say(f"survived: {mutant.path}:{mutant.lines[0]} {mutant.mutated}")
        return verdict

    def _still_holds(self, known: dict[str, Any], reaching: list[Test]) -> bool:
        killer = [test for test in reaching if test.id == known["killed_by"]]
        return bool(known["tests"] == self._state(killer or reaching))

    def _state(self, tests: Iterable[Test]) -> str:
        """Return a digest of what these tests are: which of a file's tests run depends on ``slowest``."""
        files = {test.id: self._digest_of(test.file) for test in tests}
        return _digest(*(f"{test} {digest}".encode() for test, digest in sorted(files.items())))

    def _digest_of(self, file: str) -> str:
        """Return a digest of a test file and of the modules beside the tests that it names, and that these name."""
        if file not in self._digests:
            used, found = [ROOT / file], {ROOT / file}
            for path in used:
                words = set(re.findall(r"\w+", path.read_text(encoding="utf-8")))
                new = [helper for helper in self._helpers if helper.stem in {*words, "conftest"}]
                used += [helper for helper in new if helper not in found]
                found |= set(new)
            self._digests[file] = _digest(*(path.read_bytes() for path in sorted(found)))
        return self._digests[file]

    def _killer(self, mutant: Mutant, changed: bytes, reaching: list[Test]) -> str | None:
        for stage in _stages(mutant, reaching):
            job = {
                "files": sorted({test.file for test in stage}),
                "tests": [test.id for test in stage],
                "mutant": [mutant.path, changed.decode()],
                "seconds": START_SECONDS + PATIENCE * sum(test.seconds for test in stage),
            }
            answer = self._ask(job)
            if answer["ended"]:
                return str(answer["ended"])
            if answer["code"] not in (PASSED, NO_TESTS):
                return str(answer["failed"][0]) if answer["failed"] else "import"
        return None


def sample(area: Area, size: int | None, seed: int) -> list[Mutant]:
    """Return that many mutants of an area (all without a size); a change of one file moves few of the others."""
    found = [
        mutant
        for path in _python_files(area.folder)
        for mutant in mutants(path.relative_to(ROOT).as_posix(), path.read_bytes())
    ]
    found.sort(key=lambda mutant: random.Random(f"{seed} {mutant.key}").random())  # noqa: S311 - no secret
    return found if size is None else found[:size]


def _needed(tests: list[Test], mutant: Mutant) -> list[Test]:
    """Return the tests that reach a mutant; what runs on import counts for all tests beside one that uses the file."""
    if not mutant.on_import:
        return [test for test in tests if test.reaches(mutant)]
    files = {test.file for test in tests if mutant.path in test.lines}
    return [test for test in tests if test.file in files]


def _stages(mutant: Mutant, tests: list[Test]) -> Iterator[list[Test]]:
    """Yield the fastest tests of the file that mirrors the mutated one, the fastest of all, then the rest."""
    mirrored = f"test_{Path(mutant.path).stem}"
    own = [test for test in tests if Path(test.file).stem.startswith(mirrored)]
    first = own[: _within(FIRST_SECONDS, own)]
    others = [test for test in tests if test not in first]
    n_fast = _within(FIRST_SECONDS, others)
    yield from (stage for stage in (first, others[:n_fast], others[n_fast:]) if stage)


def _within(seconds: float, tests: list[Test]) -> int:
    """Return how many of the first tests take no longer together."""
    return sum(total <= seconds for total in accumulate(test.seconds for test in tests))


def _test_files(path: Path) -> list[str]:
    files = [path] if path.is_file() else [file for file in _python_files(path) if file.name.startswith("test_")]
    return [file.relative_to(ROOT).as_posix() for file in files]


def _python_files(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.py"))


def _digest(*parts: bytes) -> str:
    whole = hashlib.sha256()
    for part in parts:
        whole.update(len(part).to_bytes(8, "little") + part)
    return whole.hexdigest()[:32]
