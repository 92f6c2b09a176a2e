"""How far the cost model's predictions are from what trained models measure, per device and number format.

Every model is trained, exported, measured as `sparsegen bench` does, and compared with what was predicted for its plan
from untrained models. Where the lowering has several ways to write a model, the prediction tells the likeliest and the
others; "as first told" compares with the likeliest, "as one told" with the closest. The exit code is 1 if any model is
further off than promised from all that was told.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits, load_iris

from benchmarks import _report
from sparsegen import data
from sparsegen.arrays import Array
from sparsegen.bench import Cost, bench
from sparsegen.budget.cost_model import CostModel, Predicted
from sparsegen.budget.plan import Plan
from sparsegen.devices import DEVICES
from sparsegen.errors import OptionError
from sparsegen.lowering.formats import FLOAT32, Format
from sparsegen.lowering.locate_data import thinned
from sparsegen.model import SparseModel
from sparsegen.training.train import train

DEVICE_NAMES = ("cortex-m0plus", "cortex-m3", "cortex-m4f", "rv32imc", "atmega328p")
DTYPES = ("f32", "q15", "q7", "q15c8", "q7c8")
SETS = ("digits", "breast_cancer", "iris", "image", "letter", "usps")
OWN = {"digits": load_digits, "breast_cancer": load_breast_cancer, "iris": load_iris}
FILES = {"image": "ida/image", "letter": "letter", "usps": "usps"}
POOLS = {"digits": "8x8/2x2", "usps": "16x16/2x2"}
MOST_ROWS, MEASURED_ROWS = 3000, 16

Job = tuple[str, str, dict[str, Any]]


@dataclass(frozen=True)
class Compared:
    """One trained model on one device, and what was predicted: shares of what was measured."""

    model: str
    device: str
    dtype: str
    flash_error: float
    time_error: float
    flash_error_of_one: float
    """Of the closest of all that was told."""
    time_error_of_one: float
    is_kept: bool
    """Whether one of all that was told is as close as promised."""


def main(arguments: Sequence[str]) -> str:
    """Return the tables, or JSON."""
    options = _report.parser(__doc__ or "")
    options.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    options.add_argument("--device", nargs="+", choices=DEVICE_NAMES, default=list(DEVICE_NAMES))
    options.add_argument("--dtype", nargs="+", choices=DTYPES, default=list(DTYPES))
    chosen = options.parse_args(arguments)
    names = [name for name in chosen.device if DEVICES[name].missing() is None]
    jobs = [(name, job) for name in chosen.sets for job in jobs_for(name)]
    found: list[Compared] = []
    models: dict[tuple[str, str], CostModel] = {}
    for name, job in _report.track(jobs, "models", len(jobs)):
        X, y = rows_of(name, chosen)
        found += compare(name, job, X, y, names, chosen.dtype, models)
    text = _report.as_json([asdict(one) for one in found]) if chosen.json else tables(found)
    missed = [one for one in found if not one.is_kept]
    if missed:
        print(text)
        raise SystemExit(1)
    return text


def jobs_for(name: str) -> list[Job]:
    """Return what is trained on a set: method, scaler, parameters."""
    p = {"iris": (2, 3)}.get(name, (6, 12))
    jobs: list[Job] = [
        ("slmc", "standard", {"n_vectors": 6}),
        ("slmc", "standard", {"n_vectors": 30}),
        ("slmc", "standard", {"n_vectors": 20, "kernel": "laplacian"}),
        ("slmc", "standard", {"n_vectors": 20, "kernel": "cauchy"}),
        ("slmc", "standard", {"n_vectors": 20, "projection": p[0]}),
        ("slmc", "none", {"n_vectors": 50, "projection": p[1]}),
        ("slmc", "minmax", {"n_vectors": 25, "feature_scales": True}),
        ("spsvm", "minmax", {"n_vectors": 70}),
    ]
    if name in POOLS:
        jobs.append(("slmc", "none", {"n_vectors": 30, "projection": p[1], "pool": POOLS[name]}))
    return jobs


def rows_of(name: str, chosen: Any) -> tuple[Array, NDArray[Any]]:
    """Return at most 3000 rows of a set, in a random order."""
    if name in OWN:
        X, y = OWN[name](return_X_y=True)
    else:
        found = _report.arrays(chosen.data, FILES[name])
        parts = ("X_train", "X_test") if "X_train" in found else ("X",)
        X = np.vstack([found[part] for part in parts]).astype(np.float64)
        y = np.concatenate([found[part.replace("X", "y")] for part in parts])
    order = np.random.default_rng(chosen.seed).permutation(len(X))[:MOST_ROWS]
    return X[order], y[order]


def compare(
    name: str,
    job: Job,
    X: Array,
    y: NDArray[Any],
    devices: Sequence[str],
    dtypes: Sequence[str],
    models: dict[tuple[str, str], CostModel],
) -> Iterator[Compared]:
    """Yield a trained model's costs beside what was predicted for it, on every device and in every format."""
    method, scale, parameters = job
    last = 2 * len(X) // 3
    train_set, test_set = data.from_arrays(X[:last], y[:last]), data.from_arrays(X[last:], y[last:])
    model = train(train_set, test_set, method=method, scale=scale, parameters=parameters).model
    told = ", ".join([name, method, scale, *(f"{key} {value}" for key, value in parameters.items())])
    for dtype in dtypes:
        numbers = FLOAT32 if dtype == FLOAT32.dtype else Format(dtype, rows=X[:last])
        for device in devices:
            predictor = models.setdefault((name, device), CostModel(device, X[:last], y[:last]))
            try:
                yield _compared(told, model, predictor, numbers, X[last:])
            except OptionError as error:  # no such integers, for some kernel or scale: nothing to compare
                print(f"{told}, {dtype}: {error}", file=sys.stderr)
                break


def _compared(told: str, model: SparseModel, predictor: CostModel, numbers: Format, rows: Array) -> Compared:
    predicted = predictor.predict(Plan.of(model, numbers))
    (cost,) = bench(model, thinned(rows, MEASURED_ROWS), devices=[predictor.device], numbers=numbers)
    errors = [errors_of(one, cost) for one in (predicted, *predicted.others)]
    closest = min(
        errors, key=lambda pair: max(abs(pair[0]) / predicted.flash_within, abs(pair[1]) / _within(predicted))
    )
    is_kept = abs(closest[0]) <= predicted.flash_within and abs(closest[1]) <= _within(predicted)
    return Compared(told, predictor.device, numbers.dtype, *errors[0], *closest, is_kept)


def _within(predicted: Predicted) -> float:
    return predicted.time_within or np.inf


def errors_of(predicted: Predicted, cost: Cost) -> tuple[float, float]:
    """Return by which shares flash, and instructions or cycles, are off; 0 where a device cannot run the model."""
    measured = cost.measurement
    flash = predicted.flash / (measured.flash or np.nan) - 1.0
    pairs = ((predicted.instructions, measured.instructions), (predicted.cycles, measured.cycles))
    times = [guess / real - 1.0 for guess, real in pairs if guess is not None and real is not None]
    return flash, times[0] if times else 0.0


def tables(found: Sequence[Compared]) -> str:
    """Return the errors per device and format, and every model that was further off than promised."""
    rows = []
    for device, dtype in dict.fromkeys((one.device, one.dtype) for one in found):
        own = [one for one in found if (one.device, one.dtype) == (device, dtype)]
        cells = [device, dtype, str(len(own))]
        for figure in ("flash_error", "time_error"):
            first = np.abs([getattr(one, figure) for one in own])
            closest = np.abs([getattr(one, f"{figure}_of_one") for one in own])
            cells += [_share(first.mean()), _share(first.max()), _share(closest.mean()), _share(closest.max())]
        rows.append([*cells, str(sum(not one.is_kept for one in own))])
    parts = ("as first told, mean", "worst", "as one told, mean", "worst")
    header = ["device", "format", "models", *(f"flash {p}" for p in parts), *(f"time {p}" for p in parts), "missed"]
    missed = [
        f"{one.model}, {one.dtype} on {one.device}: flash {_share(one.flash_error_of_one, '+')}, "
        f"time {_share(one.time_error_of_one, '+')}"
        for one in found
        if not one.is_kept
    ]
    told = "Further off than promised:" if missed else "All are as close as promised."
    return "\n\n".join([_report.markdown(header, rows, text=2), "\n".join([told, *missed])])


def _share(value: float, sign: str = "") -> str:
    return f"{100.0 * value:{sign}.2f} %"


if __name__ == "__main__":
    raise SystemExit(_report.run(main))
