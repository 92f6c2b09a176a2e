"""Attack every promise and print one table: what was tried, how often, failures. Exit code 1 if anything failed.

``--minutes`` is shared by all attacks; each tries what it can in its share, and at least one round.
"""

from __future__ import annotations

import pkgutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from importlib import import_module
from types import ModuleType

from benchmarks import _report, trust
from benchmarks.trust import Outcome

DEFAULT_MINUTES = 10.0


def attacks() -> dict[str, ModuleType]:
    """Return every module of this folder that is an attack, by name."""
    names = sorted(m.name for m in pkgutil.iter_modules(trust.__path__) if not m.name.startswith("_"))
    return {name: import_module(f"{trust.__name__}.{name}") for name in names}


def main(arguments: Sequence[str]) -> tuple[str, int]:
    """Return the table, or JSON, and the exit code."""
    known = attacks()
    options = _report.parser(__doc__ or "")
    options.add_argument("--minutes", type=float, default=DEFAULT_MINUTES, help="for all attacks together")
    options.add_argument("--only", nargs="+", choices=list(known), help="default: all")
    chosen = options.parse_args(arguments)
    names = chosen.only or list(known)
    share = chosen.minutes / len(names)
    found = [(name, outcome) for name in names for outcome in _run(known[name], share, chosen.seed)]
    code = int(any(outcome.failures for _, outcome in found))
    if chosen.json:
        return _report.as_json([{"attack": name, **asdict(outcome)} for name, outcome in found]), code
    header = ["attack", "what was tried", "times", "failures", "remark"]
    cells = [
        [known[name].TITLE, o.what, f"{o.tried:,} {o.unit}", str(o.failures), o.remark.replace("|", "/")]
        for name, o in found
    ]
    return _report.markdown(header, cells, text=2), code


def _run(attack: ModuleType, minutes: float, seed: int) -> Iterator[Outcome]:
    print(f"{attack.TITLE} ...", file=sys.stderr, flush=True)
    yield from attack.run(minutes, seed)


if __name__ == "__main__":
    table, code = main(sys.argv[1:])
    print(table)
    sys.exit(code)
