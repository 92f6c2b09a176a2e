"""The terminal: progress bars and tables for people, JSON for machines. No text is ever read as markup.

Labels, names, cards and paths come from strangers: nothing that a terminal would obey (escape sequences, newlines,
overrides of the writing direction) gets through. All that commands print goes through this module.

Every command imports this module, so rich, which takes a while to load, is imported only once something is drawn.
"""

from __future__ import annotations

import json
import math
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from sparsegen import progress
from sparsegen.errors import FitWarning

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

PIPE_WIDTH = 160  # columns in a pipe, enough that no table is cut
_quiet: ContextVar[bool] = ContextVar("quiet", default=False)


def set_quiet(wanted: bool) -> bool:
    """Print tables, sentences and progress bars from now on, or none of them; warnings and JSON are always printed."""
    _quiet.set(wanted)
    return wanted


def progress_bars() -> AbstractContextManager[None]:
    """Return a context that shows progress on a terminal and nothing in a pipe."""
    return _bars() if sys.stderr.isatty() and not _quiet.get() else nullcontext()


@contextmanager
def _bars() -> Iterator[None]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[remark]}", markup=False),
    )
    bars = Progress(*columns, transient=True, console=Console(stderr=True))
    with bars, progress.reporting(RichReporter(bars)):
        yield


class RichReporter:
    """Shows each task of the library as a bar."""

    def __init__(self, bars: Progress) -> None:
        self._bars = bars

    def start(self, title: str, total: int) -> tuple[progress.Advance, Callable[[], None]]:
        """Show a bar for ``total`` steps; return how to advance it and how to remove it."""
        task = self._bars.add_task(visible(title), total=total, remark="")
        return (
            lambda remark: self._bars.update(task, advance=1, remark=visible(remark)),
            lambda: self._bars.remove_task(task),
        )


def visible(text: object) -> str:
    """Return text with an escape in place of every character that is not printed as itself."""
    told = str(text)
    return told if told.isprintable() else "".join(c if c.isprintable() else _escape(c) for c in told)


def _escape(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode()


def say(text: object) -> None:
    """Print one line."""
    if not _quiet.get():
        print(visible(text))


def complain(text: object) -> None:
    """Print one line on standard error."""
    print(visible(text), file=sys.stderr)


def remark(text: object) -> None:
    """Print one line beside output that is for machines, on standard error."""
    if not _quiet.get():
        complain(text)


def print_raw(text: str) -> None:
    """Print text of sparsegen's own making as it is, such as a table in CSV or a drawing."""
    sys.stdout.write(text)


def print_json(document: Any, indent: int | None = 2) -> None:
    """Print one JSON document; a number that JSON cannot hold (infinity) becomes ``null``."""
    text = json.dumps(_strict(document), indent=indent, ensure_ascii=False, allow_nan=False)
    print("".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text))


def _strict(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _strict(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_strict(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]], text: int = 1) -> None:
    """Print a table whose first ``text`` columns hold words and whose other columns hold numbers, set to the right.

    The names of the columns are sparsegen's own and may have several lines; titles and cells may be anybody's.
    """
    if _quiet.get():
        return
    from rich.table import Table
    from rich.text import Text

    table = Table(show_header=any(columns))
    for i, column in enumerate(columns):
        heading = "\n".join(map(visible, column.split("\n")))
        table.add_column(Text(heading), justify="left" if i < text else "right", overflow="fold")
    for row in rows:
        table.add_row(*(Text(visible(cell)) for cell in row))
    console = _console()
    # A title of the table's own would be cut to its width.
    console.print(Text(visible(title), style="bold"), soft_wrap=True)
    console.print(table)


def print_facts(title: str, facts: Sequence[tuple[str, object]]) -> None:
    """Print a table of names and values."""
    print_table(title, ("", ""), facts, text=2)


def print_warnings(sentences: Sequence[str], kind: str = "warning") -> None:
    """Print each warning as a line of its own on standard error."""
    for sentence in sentences:
        complain(f"{kind}: {sentence}")


@contextmanager
def fit_warnings() -> Iterator[None]:
    """Print the library's warnings that a model does not fit a device, once the block has ended."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", FitWarning)
        yield
    print_warnings([str(warning.message) for warning in caught])


def width() -> int:
    """Return how many columns wide the terminal is."""
    return _console().width


def or_dash(value: Any, show: Callable[[Any], str]) -> str:
    """Return the value as ``show`` words it, or a dash for ``None``."""
    return "-" if value is None else show(value)


def _console() -> Console:
    from rich.console import Console

    return Console() if sys.stdout.isatty() else Console(width=PIPE_WIDTH)
