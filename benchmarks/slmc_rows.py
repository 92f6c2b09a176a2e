"""What rows cost SLMC's training by minibatches: time as they grow, and the memory of a whole process.

Every fit has a process of its own, after one that compiles. Time is the processor's, of the fit alone; memory is the
most that the process ever held, data and libraries included, beside twice the float32 rows plus 200 MB. Up to 76,800
rows all descents have as many minibatches, so the slope of time is that of larger ones. MNIST needs ``--data``.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from benchmarks import _report
from benchmarks.scaling import held, slope
from benchmarks.train import generated
from sparsegen import SLMC

FEATURES, VECTORS = 20, 32
MNIST_VECTORS, MNIST_PROJECTION = 200, 24
ALLOWED_MEGABYTES = 200.0  # beside twice the data
STEPS: int | None = None  # as many as SLMC takes by itself


@dataclass(frozen=True)
class Point:
    """One fit in a process of its own."""

    data: str
    rows: int
    features: int
    vectors: int
    seconds: float
    """Of the processor."""
    megabytes: float
    """The most that the process held."""
    data_megabytes: float

    @property
    def allowed(self) -> float:
        """The megabytes that the process should not exceed."""
        return 2.0 * self.data_megabytes + ALLOWED_MEGABYTES


def main(arguments: Sequence[str]) -> str:
    """Return the table, or JSON."""
    options = _options().parse_args(arguments)
    cases: list[tuple[int, Path | None]] = [(n, None) for n in sorted(options.rows)]
    cases += [] if options.data is None else [(n, options.data) for n in sorted(options.mnist_rows)]
    points = list(_report.track(_measured(cases, options.seed), "fits", len(cases)))
    if options.json:
        return _report.as_json([asdict(point) for point in points])
    return _table(points)


def _options() -> argparse.ArgumentParser:
    options = _report.parser(__doc__ or "")
    options.add_argument("--rows", type=_report.count, nargs="+", default=[80_000, 160_000, 320_000])
    options.add_argument("--mnist-rows", type=_report.count, nargs="+", default=[60_000])
    return options


def _measured(cases: Sequence[tuple[int, Path | None]], seed: int) -> Iterator[Point]:
    for n, folder in cases:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:  # a process never forgets its peak
            yield process.submit(measure, n, folder, seed).result()


def measure(n: int, folder: Path | None, seed: int) -> Point:
    """Return what a fit to so many rows took in this process: of MNIST from a folder, or else generated ones."""
    X, y = generated(300, FEATURES, seed)
    SLMC(8, solver="stochastic", steps=5, random_state=0).fit(X.astype(np.float32), y)  # compiles
    machine = SLMC(VECTORS, gamma=0.5 / FEATURES, solver="stochastic", steps=STEPS, random_state=seed)
    if folder is not None:
        machine.set_params(n_vectors=MNIST_VECTORS, C=10.0, gamma=0.025, projection=MNIST_PROJECTION)
    X, y = _rows(n, folder, seed)
    with threadpool_limits(1):
        start = time.process_time()
        machine.fit(X, y)
        seconds = time.process_time() - start
    name = "generated" if folder is None else "mnist"
    return Point(name, len(X), X.shape[1], len(machine.vectors_), seconds, held()[1] / 1e6, X.nbytes / 1e6)


def _rows(n: int, folder: Path | None, seed: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    if folder is None:
        X, y = generated(n, FEATURES, seed)
        return X.astype(np.float32), y
    mnist = _report.arrays(folder, "mnist")
    X = mnist["X_train"][:n].astype(np.float32)
    X /= np.float32(255.0)
    return X, mnist["y_train"][:n]


def _table(points: Sequence[Point]) -> str:
    header = ["data", "rows", "features", "vectors", "training, CPU s", "process, MB", "2 x data + 200 MB"]
    rows = [
        [
            point.data,
            f"{point.rows:,}",
            str(point.features),
            str(point.vectors),
            f"{point.seconds:.2f}",
            f"{point.megabytes:.0f}",
            f"{point.allowed:.0f}",
        ]
        for point in points
    ]
    table = _report.markdown(header, rows)
    grown = [point for point in points if point.data == "generated"]
    if len(grown) < 2:
        return table
    found = slope([point.rows for point in grown], [point.seconds for point in grown])
    return f"{table}\n\n- generated rows: time with log-log slope {found:.2f}"


if __name__ == "__main__":
    raise SystemExit(_report.run(main))
