"""Rows that outgrow memory: ten million of them trained on by a process that holds less than 2 GB.

Rows are made and written block by block, sorted by class, which is the worst order for minibatches. Training is
``sparsegen train`` in a process of its own; memory is the most that the process ever held, libraries included. Rows
that nobody trained on measure the model, beside one trained in memory on a sample, by minibatches as well.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import _report
from sparsegen import SparseModel, data
from sparsegen.arrays import Array
from sparsegen.errors import DataError, ToolError
from sparsegen.training.train import train

FEATURES, CLASSES = 20, 3
BLOCK = 250_000
FILES = 10
TEST_ROWS = 50_000
ALLOWED_MEGABYTES = 2000.0
DISK_FACTOR = 3
"""Times the float32 rows: the file, and what training writes to a temporary one."""

Floats = NDArray[np.float32]
Rows = tuple[Floats, NDArray[np.int64]]


@dataclass(frozen=True)
class Run:
    """One training by blocks, and what it is compared with."""

    format: str
    rows: int
    file_megabytes: float
    megabytes: float
    """The most that the training process held."""
    cpu_seconds: float
    seconds: float
    accuracy: float
    """On rows that nobody trained on."""
    reported: float
    """What the training said of its own held-out rows."""
    sample_rows: int
    sample_accuracy: float
    """Of the fit in memory, on the same rows."""


def main(arguments: Sequence[str]) -> str:
    """Return the table, or JSON."""
    options = _options().parse_args(arguments)
    needed, free = DISK_FACTOR * 4 * FEATURES * options.rows, shutil.disk_usage(tempfile.gettempdir()).free
    if needed > free:
        raise DataError(
            f"{needed >> 20:,} MiB of disk are needed, but {free >> 20:,} MiB are free in {tempfile.gettempdir()}"
        )
    runs = [measure(one, options) for one in options.formats.split(",")]
    return _report.as_json([asdict(run) for run in runs]) if options.json else _table(runs, options.vectors)


def measure(kind: str, options: argparse.Namespace) -> Run:
    """Return what training on rows of one format costs, and how good it is."""
    if kind not in WRITERS:
        raise DataError(f"there is no format {kind!r}; choose from {', '.join(WRITERS)}")
    with tempfile.TemporaryDirectory() as folder:
        given = WRITERS[kind](Path(folder), options.rows, options.seed)
        size = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
        model_path = Path(folder, "model.safetensors")
        command = [sys.executable, "-m", "sparsegen", "train", *given, "--stream", "--json", "-o", str(model_path)]
        command += ["--vectors", str(options.vectors), "--seed", str(options.seed)]
        if options.steps is not None:
            command += ["--set", f"steps={options.steps}"]
        started = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
        if status:
            raise ToolError("the training ended with an error, which it told above")
        model = SparseModel.load(model_path)
    X, y = unsorted(TEST_ROWS, options.seed + 1)
    few, labels = unsorted(options.sample, options.seed)
    chosen = model.card["search"]["chosen"]
    parameters = {**chosen, "n_vectors": options.vectors, "solver": "stochastic", "steps": options.steps}
    compared = train(data.from_arrays(few, labels), data.from_arrays(X, y), seed=options.seed, parameters=parameters)
    return Run(
        kind,
        options.rows,
        size / 1e6,
        usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6,
        usage.ru_utime + usage.ru_stime,
        seconds,
        float(np.mean(np.asarray(model.predict(X)) == y)),
        float(model.card["accuracy"]),
        len(few),
        compared.accuracy,
    )


def _table(runs: Sequence[Run], vectors: int) -> str:
    rows = [
        (
            run.format,
            f"{run.rows:,}",
            f"{run.file_megabytes:,.0f}",
            f"{run.megabytes:,.0f}",
            f"{run.cpu_seconds:,.0f}",
            f"{run.seconds:,.0f}",
            f"{100 * run.accuracy:.2f}",
            f"{100 * run.reported:.2f}",
            f"{100 * run.sample_accuracy:.2f}",
        )
        for run in runs
    ]
    heads = ("format", "rows", "file MB", "peak MB", "CPU s", "s", "accuracy %", "held out %", "sample %")
    worst = max(run.megabytes for run in runs)
    told = "below" if worst < ALLOWED_MEGABYTES else "above"
    return "\n".join(
        [
            f"{FEATURES} features, {CLASSES} classes, {vectors} vectors, file sorted by class; accuracy on "
            f"{TEST_ROWS:,} rows that nobody trained on; sample: a fit in memory on {runs[0].sample_rows:,} rows",
            "",
            _report.markdown(heads, rows),
            "",
            f"The most that a training held is {worst:,.0f} MB, {told} {ALLOWED_MEGABYTES:,.0f}.",
        ]
    )


# ---- Rows ------------------------------------------------------------------------------------------------------------


def unsorted(n: int, seed: int) -> Rows:
    """Return rows of ``CLASSES`` classes of three overlapping normal clouds each, all as large."""
    centres = np.random.default_rng(0).normal(size=(3 * CLASSES, FEATURES)) * 2.5 / np.sqrt(FEATURES)
    rng = np.random.default_rng([seed, n])
    cloud = rng.integers(len(centres), size=n)
    return _drawn(centres, cloud, rng), cloud % CLASSES


def _drawn(centres: Array, cloud: NDArray[np.int64], rng: np.random.Generator) -> Floats:
    return centres.astype(np.float32)[cloud] + rng.standard_normal((len(cloud), FEATURES), dtype=np.float32)


def sorted_blocks(n: int, seed: int) -> Iterator[Rows]:
    """Yield blocks of rows, first all of class 0, then all of class 1 and so on."""
    for label in range(CLASSES):
        left = n * (label + 1) // CLASSES - n * label // CLASSES
        block = 0
        while left:
            X, y = unsorted(BLOCK, seed + 1000 * (label + 1) + block)
            own = X[y == label][:left]
            yield own, np.full(len(own), label)
            left, block = left - len(own), block + 1


def to_npy(folder: Path, rows: int, seed: int) -> list[str]:
    """Write the rows as NPY and return what ``sparsegen train`` is given."""
    X, y = folder / "X.npy", folder / "y.npy"
    maps = [
        np.lib.format.open_memmap(path, "w+", dtype, shape)
        for path, dtype, shape in ((X, np.float32, (rows, FEATURES)), (y, np.int8, (rows,)))
    ]
    first = 0
    for block, labels in sorted_blocks(rows, seed):
        for array, values in zip(maps, (block, labels), strict=True):
            array[first : first + len(block)] = values
        first += len(block)
    for array in maps:
        array.flush()
    return [str(X), "--labels", str(y)]


def to_parquet(folder: Path, rows: int, seed: int) -> list[str]:
    """Write the rows as a folder of Parquet files and return what ``sparsegen train`` is given."""
    import pyarrow
    from pyarrow import parquet

    table = folder / "rows"
    table.mkdir()
    writer: Any = None
    written = files = 0
    for block, labels in sorted_blocks(rows, seed):
        columns = {f"x{j}": block[:, j] for j in range(FEATURES)} | {"label": labels.astype(np.int8)}
        piece = pyarrow.table(columns)
        if writer is None or written >= rows * files // FILES:
            if writer is not None:
                writer.close()
            writer = parquet.ParquetWriter(table / f"part{files:02}.parquet", piece.schema)
            files += 1
        writer.write_table(piece)
        written += len(block)
    writer.close()
    return [str(table), "--label", "label"]


WRITERS: dict[str, Callable[[Path, int, int], list[str]]] = {"npy": to_npy, "parquet": to_parquet}


def _options() -> argparse.ArgumentParser:
    options = _report.parser(__doc__ or "")
    options.add_argument("--rows", type=_report.count, default=10_000_000)
    options.add_argument("--vectors", type=_report.count, default=32)
    options.add_argument("--steps", type=_report.count, help="minibatches; default: as many as SLMC takes by itself")
    options.add_argument("--sample", type=_report.count, default=100_000, help="rows of the fit in memory")
    options.add_argument("--formats", default="parquet", help=f"comma-separated: {', '.join(WRITERS)}")
    return options


if __name__ == "__main__":
    sys.exit(_report.run(main))
