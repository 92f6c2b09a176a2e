"""USPS digits [W05, Table 1]: SLMC with vectors shared by all ten classes, beside the full one-vs-rest SVM.

gamma = 1/128 and C = 10 as in the paper, whose SLMC has 134 (268) vectors in all and 4.9 % (4.7 %) test error; its SVM
has 2683 support vectors and 4.3 %.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from benchmarks import _report
from sparsegen import SLMC, SVM, data

GAMMA, C = 1 / 128, 10.0
PAPER = {134: 4.9, 268: 4.7}
PAPER_SVM = 4.3


def main(arguments: Sequence[str]) -> str:
    """Return the table, or JSON."""
    options = _options().parse_args(arguments)
    train, test = (_part(options, part) for part in ("train", "test"))
    machines = list(_machines(options))
    results = []
    for machine in _report.track(machines, "USPS", len(machines)):
        start = time.perf_counter()
        machine.fit(train.X, train.y)
        seconds = time.perf_counter() - start
        error = 100.0 * float(np.mean(machine.predict(test.X) != test.y))
        method, n_vectors = machine.method, len(machine.vectors_)
        paper = PAPER_SVM if method == "svm" else PAPER.get(n_vectors)
        results.append({"method": method, "vectors": n_vectors, "error": error, "seconds": seconds, "paper": paper})
    if options.json:
        return _report.as_json(results)
    header = ["method", "vectors", "test error %", "paper %", "training s"]
    return _report.markdown(header, [_row(result) for result in results])


def _options() -> argparse.ArgumentParser:
    options = _report.parser(__doc__ or "")
    options.add_argument("--vectors", type=_report.count, nargs="+", default=[40, 134])
    options.add_argument("--loss", nargs="+", choices=["hinge", "squared_hinge"], default=["squared_hinge"])
    options.add_argument("--init", choices=["kmeans", "random"], default="kmeans")
    options.add_argument("--max-iter", type=_report.count, default=100)
    options.add_argument("--rows", type=_report.count, help="train on the first rows only")
    return options


def _part(options: argparse.Namespace, part: str) -> data.Dataset:
    arrays = _report.arrays(options.data, "usps")
    rows = slice(options.rows if part == "train" else None)
    return data.from_arrays(arrays[f"X_{part}"][rows], arrays[f"y_{part}"][rows], source="usps.npz")


def _machines(options: argparse.Namespace) -> Iterator[Any]:
    yield SVM(gamma=GAMMA, C=C)
    for loss in options.loss:
        for n_vectors in options.vectors:
            yield SLMC(
                n_vectors,
                gamma=GAMMA,
                C=C,
                loss=loss,
                init=options.init,
                max_iter=options.max_iter,
                solver="exact",  # as in [W05]
                random_state=options.seed,
            )


def _row(result: dict[str, Any]) -> list[str]:
    paper = "" if result["paper"] is None else f"{result['paper']:.1f}"
    return [result["method"], str(result["vectors"]), f"{result['error']:.2f}", paper, f"{result['seconds']:.1f}"]


if __name__ == "__main__":
    raise SystemExit(_report.run(main))
