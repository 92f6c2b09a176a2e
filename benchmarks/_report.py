"""What the benchmarks share: options, data files, progress on a terminal, Markdown tables."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from sparsegen.errors import DataError, SparsegenError

Item = TypeVar("Item")


def parser(description: str) -> argparse.ArgumentParser:
    """Return a parser with the options that every benchmark has."""
    options = argparse.ArgumentParser(description=description.partition("\n")[0])
    options.add_argument("--data", type=Path, help="folder with the data sets")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--json", action="store_true", help="print JSON instead of a table")
    return options


def count(text: str) -> int:
    """Return an option's value as a number of things, at least one."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is less than 1")
    return number


def run(main: Callable[[Sequence[str]], str], arguments: Sequence[str] | None = None) -> int:
    """Print what a benchmark returns; an error becomes one sentence and exit code 2."""
    try:
        print(main(sys.argv[1:] if arguments is None else arguments))
    except SparsegenError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def arrays(folder: Path | None, name: str) -> dict[str, NDArray[Any]]:
    """Return the arrays of a data set, or raise an error that says what is missing."""
    if folder is None:
        raise DataError("this benchmark needs data; name the folder that holds it with --data")
    path = folder / f"{name}.npz"
    if not path.is_file():
        raise DataError(f"there is no data set {path}; name the folder that holds {name}.npz with --data")
    with np.load(path, allow_pickle=False) as archive:
        return {key: archive[key] for key in archive.files}


def track(items: Iterable[Item], title: str, total: int) -> Iterator[Item]:
    """Yield the items, with a progress bar on a terminal and silently elsewhere."""
    if not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import track as bar

    yield from bar(items, title, total=total, console=Console(stderr=True))


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]], text: int = 1) -> str:
    """Return a Markdown table: the first ``text`` columns aligned left, numbers aligned right."""
    lines = [" | ".join(header), " | ".join(["---"] * text + ["---:"] * (len(header) - text))]
    lines += [" | ".join(row) for row in rows]
    return "\n".join(f"| {line} |" for line in lines)


def as_json(document: Any) -> str:
    """Return the document as JSON text."""
    return json.dumps(document, indent=2)
