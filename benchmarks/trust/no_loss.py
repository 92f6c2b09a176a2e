"""No loss: commands are killed, starved of disk space, locked out and run at once; every file stays old or new.

A set of files may also be *closed*: its gate (see sparsegen/files/writing.py) refuses to compile, and every other file
is whole. Whatever is left, the same command run again must mend it and leave nothing else behind.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.trust import Outcome
from benchmarks.trust._killer import Victim, running
from sparsegen.devices._toolchain import zig
from sparsegen.files.writing import STAGING, UNFINISHED
from sparsegen.firmware.boards import BOARDS
from sparsegen.firmware.program import GATE

TITLE = "no loss"
WRITING_SECONDS = 0.03
"""How long after a command has begun to write it is killed at most; writing takes about as long."""
MADE_BY_MAKE = "build"

Files = dict[str, bytes]


@dataclass
class Case:
    """A command that writes one of two contents to the same place."""

    name: str
    folder: Path
    arguments: tuple[list[str], list[str]]
    gate: str | None = None
    wanted: list[Files] = field(default_factory=list)
    """What each of the two commands writes where nothing disturbs it."""
    seconds: float = 0.0

    def held(self) -> Files:
        """Return the files that are there, but for those that make built and those being written."""
        found = {}
        for path in sorted(self.folder.rglob("*")):
            name = path.relative_to(self.folder)
            if path.is_file() and name.parts[0] != MADE_BY_MAKE and not name.parts[0].startswith(STAGING):
                found[name.as_posix()] = path.read_bytes()
        return found

    def prepare(self, victim: Victim) -> None:
        """Learn what the commands write and how long they take; leave the first content."""
        for arguments, here in ((self.arguments[0], True), (self.arguments[1], False), (self.arguments[0], False)):
            started = time.monotonic()
            if victim.run(arguments, here=here) != 0:
                raise RuntimeError(f"{' '.join(arguments)} failed")
            self.seconds = time.monotonic() - started
            self.wanted.append(self.held())
        if self.wanted.pop() != self.wanted[0] or self.wanted[0] == self.wanted[1]:
            raise RuntimeError(f"{self.name}: the two contents must differ, and each must be the same every time")

    def flaw(self) -> str | None:
        """Return what is wrong with the files, if anything is."""
        held = self.held()
        if held in self.wanted:
            return None
        if self.gate is None or held.get(self.gate) != UNFINISHED:
            return f"{self.name}: neither old nor new nor closed: {', '.join(sorted(held)) or 'nothing'}"
        for name, content in held.items():
            if name != self.gate and content not in [files.get(name) for files in self.wanted]:
                return f"{self.name}: {name} is not whole"
        return self._flaw_of_build()

    def _flaw_of_build(self) -> str | None:
        """Return what is wrong if a closed package compiles."""
        system = shutil.which("cc")
        sources = [self.folder / name for name in self.held() if name.endswith(".c") and not name.startswith("support")]
        command = [
            *([system] if system else zig()),
            f"-I{self.folder}",
            f"-I{self.folder / 'support'}",
            "-fsyntax-only",
        ]
        built = subprocess.run([*command, *sources], capture_output=True, text=True, check=False)
        if built.returncode == 0 or "half written" not in built.stderr:
            return f"{self.name}: a closed package compiles, or does not say why not"
        return None

    def flaw_after(self, which: int, code: int) -> str | None:
        """Return what is wrong after command ``which`` ended by itself with this exit code."""
        if code != 0 or self.held() != self.wanted[which]:
            return f"{self.name}: run again, it ended with {code} and did not mend its files"
        left = [path.name for path in self.folder.glob(f"{STAGING}*")]
        return f"{self.name}: {left[0]} was left behind" if left else None


def run(minutes: float, seed: int, only: Sequence[str] | None = None) -> Iterator[Outcome]:
    """Yield, for every kind of trouble, how often it was made and how often something was lost.

    ``only`` names the cases to try; the default is all.
    """
    end = time.monotonic() + 60 * minutes
    with tempfile.TemporaryDirectory(prefix="sparsegen-loss-") as temporary, running() as victim:
        cases = [c for c in make_cases(Path(temporary), victim) if only is None or c.name in only]
        for case in cases:
            case.prepare(victim)
        draw = random.Random(seed)  # noqa: S311 - nothing secret
        start = time.monotonic()
        for attack, share in SHARES.items():
            yield from attack(victim, cases, draw, start + share * (end - start))


def make_cases(folder: Path, victim: Victim) -> list[Case]:
    """Return commands of every kind that writes files, with the data and models that they read."""
    rows = "".join(f"{i % 7},{i % 5},{i % 11},{'yes' if i % 7 > 3 else 'no'}\n" for i in range(80))
    data = folder / "data.csv"
    data.write_text(f"a,b,c,label\n{rows}")
    trained = [["train", str(data), "--vectors", str(n), "--set", "max_iter=3"] for n in (3, 5)]
    models = [str(folder / f"{n}.safetensors") for n in (3, 5)]
    for arguments, model in zip(trained, models, strict=True):
        if victim.run([*arguments, "-o", model], here=True) != 0:
            raise RuntimeError("training failed")

    def case(name: str, commands: Sequence[Sequence[str]], output: str = "", gate: str | None = None) -> Case:
        place = folder / name.replace(" ", "_")
        place.mkdir()
        first, second = ([*command, "-o", str(place / output)] for command in commands)
        return Case(name, place, (first, second), gate)

    def export(target: str, gate: str | None, *more: str) -> Case:
        commands = [["export", model, "--target", target, "--name", "m", *more] for model in models]
        return case(f"export {target}", commands, gate=gate)

    cases = [
        case("train", trained, "m.safetensors"),
        case("predict", [["predict", model, str(data)] for model in models], "labels.csv"),
        export("c", "m.h"),
        export("cmake", "src/m.h", "--dtype", "q7"),
        export("arduino", "src/m.h"),
        export("header", "m.h"),
        export("onnx", None),
    ]
    board = next((name for name, board in BOARDS.items() if board.missing(emulate=True) is None), None)
    if board is not None:
        commands = [["flash", model, "--board", board, "--emulate"] for model in models]
        cases.append(case("flash", commands, gate=GATE))
    return cases


def _killed(victim: Victim, cases: Sequence[Case], draw: random.Random, end: float) -> Iterator[Outcome]:
    for while_writing in (False, True):
        tally = _Tally()
        until = time.monotonic() + (end - time.monotonic()) / (1 if while_writing else 2)
        now = dict.fromkeys((case.name for case in cases), 0)
        while True:
            for case in cases:
                which = now[case.name] = 1 - now[case.name]
                longest = WRITING_SECONDS if while_writing else 1.1 * case.seconds
                victim.start(case.arguments[which])
                victim.kill(draw.uniform(0.0, longest), while_writing=while_writing)
                tally.add(case.flaw() or case.flaw_after(which, victim.run(case.arguments[which])))
            if time.monotonic() > until:
                break
        when = "while it writes" if while_writing else "at any moment"
        yield tally.outcome(f"kill -9 {when}: {', '.join(case.name for case in cases)}", "kills")


def _at_once(victim: Victim, cases: Sequence[Case], draw: random.Random, end: float) -> Iterator[Outcome]:
    tally = _Tally()
    with running() as other:
        while True:
            for case in cases:
                if case.name == "flash":  # two builds in one folder are the user's own doing
                    continue
                for each, arguments in zip((victim, other), case.arguments, strict=True):
                    each.start(arguments)
                    time.sleep(draw.uniform(0.0, WRITING_SECONDS))
                codes = [each.finish() for each in (victim, other)]
                last = 0 if case.held() == case.wanted[0] else 1
                tally.add(next((f"{case.name} ended with {code}" for code in codes if code), None))
                tally.add(case.flaw_after(last, 0))
            if time.monotonic() > end:
                break
    yield tally.outcome("two processes write different contents to one place", "checks")


def _limited(victim: Victim, cases: Sequence[Case], draw: random.Random, end: float) -> Iterator[Outcome]:
    tally = _Tally()
    while True:
        for case in cases:
            if case.name == "flash":
                continue
            longest = max(len(content) for files in case.wanted for content in files.values())
            which = 1 if case.held() == case.wanted[0] else 0
            before = case.held()
            code = victim.run(case.arguments[which], draw.randrange(longest))
            whole = case.held() == {0: case.wanted[which], 2: before}.get(code)
            tally.add(None if whole else f"{case.name}: ended with {code} and mixed files")
            tally.add(case.flaw_after(which, victim.run(case.arguments[which])))
        if time.monotonic() > end:
            break
    yield tally.outcome("files that cannot be written to their end (a limit on their length)", "checks")


def _full_disk(victim: Victim, cases: Sequence[Case], draw: random.Random, end: float) -> Iterator[Outcome]:
    """Export over an older package on a disk that has room for a part of it."""
    what, tally = "a disk that is full", _Tally()
    with tempfile.TemporaryDirectory(prefix="sparsegen-full-") as disk:
        mount = shutil.which("mount")
        options = ["-t", "tmpfs", "-o", "size=96k", "tmpfs", disk]
        if mount is None or subprocess.run([mount, *options], capture_output=True, check=False).returncode != 0:
            yield tally.outcome(what, "checks", "left out: no small disk can be mounted here")
            return
        try:
            case = _moved(next(case for case in cases if case.name == "export c"), Path(disk) / "package")
            case.prepare(victim)
            while not tally.tried or time.monotonic() < end:
                filler = Path(disk) / "filler"
                room = os.statvfs(disk).f_bavail * os.statvfs(disk).f_bsize
                filler.write_bytes(bytes(max(0, room - draw.randrange(16384))))
                before = case.held()
                which = 1 if before == case.wanted[0] else 0
                code = victim.run(case.arguments[which])
                whole = case.held() == {0: case.wanted[which], 2: before}.get(code)
                tally.add(None if whole else f"{case.name}: a full disk ended with {code} and mixed files")
                filler.unlink()
                tally.add(case.flaw_after(which, victim.run(case.arguments[which])))
        finally:
            subprocess.run([shutil.which("umount") or "umount", disk], check=False)
    yield tally.outcome(what, "checks")


def _moved(case: Case, folder: Path) -> Case:
    """Return the case with another place for its files."""
    first, second = ([*arguments[:-1], str(folder)] for arguments in case.arguments)
    return Case(case.name, folder, (first, second), case.gate)


def _locked_out(victim: Victim, cases: Sequence[Case], draw: random.Random, end: float) -> Iterator[Outcome]:
    """Write into a folder without permission."""
    what, tally, prefix = "a read-only folder", _Tally(), []
    if os.getuid() == 0:  # permissions hold for root only without its capabilities
        setpriv = shutil.which("setpriv")
        if setpriv is None:
            yield tally.outcome(what, "commands", "left out: root may write everywhere, and setpriv is not installed")
            return
        prefix = [setpriv, "--bounding-set=-all", "--inh-caps=-all"]
    for case in draw.sample(list(cases), 2):
        before = case.held()
        case.folder.chmod(0o555)
        command = [*prefix, sys.executable, "-m", "sparsegen", *case.arguments[case.wanted.index(before) - 1]]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        case.folder.chmod(0o755)
        told = ended.stderr.startswith("error: cannot write") and ended.stderr.count("\n") == 1
        fine = ended.returncode == 2 and told and case.held() == before
        tally.add(None if fine else f"{case.name}: ended with {ended.returncode}: {ended.stderr[-200:]}")
    yield tally.outcome(what, "commands")


class _Tally:
    """How often something was tried, how often it failed, and the first failure."""

    def __init__(self) -> None:
        self.tried = 0
        self.flaws: list[str] = []

    def add(self, flaw: str | None) -> None:
        """Count one attempt and what was wrong after it, if anything was."""
        self.tried += 1
        if flaw is not None:
            self.flaws.append(flaw)

    def outcome(self, what: str, unit: str, remark: str = "") -> Outcome:
        """Return the row of the table."""
        return Outcome(what, self.tried, unit, len(self.flaws), self.flaws[0] if self.flaws else remark)


SHARES = {_killed: 0.7, _at_once: 0.8, _limited: 0.9, _full_disk: 1.0, _locked_out: 1.0}
"""Which share of the time is over when an attack ends."""
