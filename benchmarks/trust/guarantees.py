"""Search for an input that breaks what the header of an integer export states, every number taken as printed.

Random models of every kernel that has an integer form, and trained ones, in every format and input kind. Inputs lie all
over the printed range, on its corners and near the data; a coordinate ascent goes on from the worst of them, to the
edges of grid cells too.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits, load_wine

from benchmarks.trust import Outcome
from benchmarks.trust._together import IntegerCase, extreme_inputs, integer_program, make_integer_case
from sparsegen import data
from sparsegen.arrays import Array
from sparsegen.errors import SparsegenError
from sparsegen.kernels import KERNELS
from sparsegen.lowering.calibrate import Box
from sparsegen.lowering.formats import INPUT_KINDS, INTEGERS, Format
from sparsegen.lowering.integer_program import IntegerProgram
from sparsegen.lowering.probabilities import ONE, IntegerProbabilities
from sparsegen.model import Calibration, SparseModel, class_indices
from sparsegen.model.decision import DECISIONS, LARGEST
from sparsegen.targets import TARGETS, Export
from sparsegen.training.train import train

TITLE = "guarantees"

INPUTS = 4000
"""Random ones per model, of each kind."""
CLIMBERS = 64
ROUNDS = 40
"""Of the coordinate ascent."""
TRAINED_SHARE = 0.25
NAME = "m"
CLEAR = "score is further than|lead is more than|scores are all further than"
"""What the header says of a row whose label cannot change, before the number."""


@dataclass(frozen=True)
class Printed:
    """What the header of an export states."""

    bound: float
    margin: float
    lowest: int
    highest: int
    unit: float
    range: Box
    """In the type of the inputs."""
    probability: float = np.inf
    """How far probabilities may be from the calibration of the program's own scores."""
    model_probability: float = np.inf
    """How far they may be from the real-valued model's."""


@dataclass(frozen=True)
class Attacked:
    """One export under attack."""

    model: SparseModel
    program: IntegerProgram
    printed: Printed
    rows: Array
    probabilities: IntegerProbabilities | None = None

    def meant(self, inputs: NDArray[Any]) -> Array:
        """Return the raw values that inputs stand for."""
        raw = inputs.astype(np.float64)
        return self.program.low + raw * self.program.step if self.program.reader.kind.is_grid else raw

    def in_range(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """Return the inputs in the printed range; for a projection in_range decides, as the header says."""
        inputs = inputs[self.printed.range.holds(inputs)]
        return inputs if self.program.projection is None else inputs[self.program.in_range(inputs)]

    def errors(self, inputs: NDArray[Any]) -> Array:
        """Return the largest error of a score, for every row."""
        wanted = self.model.scores(self.meant(inputs))
        return np.asarray(np.abs(self.program.scores(inputs) * self.printed.unit - wanted).max(axis=1))

    def broken(self, inputs: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which inputs in range break a statement about scores or labels."""
        wanted, scores = self.model.scores(self.meant(inputs)), self.program.scores(inputs)
        off = np.abs(scores * self.printed.unit - wanted).max(axis=1) > self.printed.bound
        decision = self.model.decision
        leads = DECISIONS[decision].leads(wanted)
        relabelled = class_indices(wanted, decision) != class_indices(scores, decision)
        relabelled &= leads > self.printed.margin
        return np.asarray(off | relabelled | self.misjudged(wanted, scores))

    def misjudged(self, wanted: Array, scores: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which rows have a probability further off than stated."""
        made = self.probabilities
        if made is None:
            return np.zeros(len(scores), dtype=np.bool_)
        found = made.of(scores) / ONE
        own = np.abs(found - made.calibration(scores * self.program.unit)).max(axis=1) > self.printed.probability
        return own | (np.abs(found - made.calibration(wanted)).max(axis=1) > self.printed.model_probability)


def run(minutes: float, seed: int) -> Iterator[Outcome]:
    """Yield what was found for every number format."""
    end = time.monotonic() + 60.0 * minutes
    tallies = {numbers.name: _Tally(numbers.name) for numbers in INTEGERS}
    for number in count():
        for tally in tallies.values():
            tally.add(np.random.default_rng((seed, number)))
        if time.monotonic() >= end:
            break
    for tally in tallies.values():
        yield tally.outcome()


class _Tally:
    """The search in one number format."""

    def __init__(self, dtype: str) -> None:
        self.dtype, self.models, self.tried, self.failures = dtype, 0, 0, 0
        self.closest, self.first = 0.0, ""

    def add(self, rng: np.random.Generator) -> None:
        """Attack one more model."""
        case, reads, what = draw_case(rng)
        case = replace(case, model=calibrated(case, rng))
        try:
            export = TARGETS["c"].export(case.model, NAME, Format(self.dtype, reads, rows=case.rows))
        except SparsegenError:
            return  # nothing was promised
        attacked = Attacked(
            case.model, integer_program(export), read_header(export), case.rows, integer_probabilities(export)
        )
        tried, failures, closest = attack(attacked, rng)
        self.models += 1
        self.tried += tried
        self.failures += failures
        self.closest = max(self.closest, closest)
        if failures and not self.first:
            self.first = f"{what}, reads {reads}; "

    def outcome(self) -> Outcome:
        """Return what came of it."""
        what = (
            f"{self.dtype}: printed bound, margin and limits of {self.models} exports, on inputs in the printed range"
        )
        remark = f"{self.first}largest error found: {self.closest:.2f} of the printed bound"
        return Outcome(what, self.tried, "inputs", self.failures, remark)


def attack(attacked: Attacked, rng: np.random.Generator) -> tuple[int, int, float]:
    """Return how many inputs were tried, how many break a statement, and the largest error relative to the bound."""
    program, printed = attacked.program, attacked.printed
    anything = extreme_inputs(program, attacked.rows, int(rng.integers(2**31)))
    scores = program.scores(anything).astype(np.int64)
    tried, failures = len(anything), int(np.count_nonzero((scores < printed.lowest) | (scores > printed.highest)))
    inputs = attacked.in_range(draw_inputs(attacked, rng))
    if len(inputs) == 0:
        return tried, failures, 0.0
    errors = attacked.errors(inputs)
    failures += int(np.count_nonzero(attacked.broken(inputs)))
    best = inputs[np.argsort(errors)[-CLIMBERS:]]
    worst = attacked.errors(best)
    tried += len(inputs)
    for _ in range(ROUNDS):
        moved = move(attacked, best, rng)
        allowed = printed.range.holds(moved) & program.in_range(moved)
        found = np.where(allowed, attacked.errors(moved), -np.inf)
        failures += int(np.count_nonzero(attacked.broken(moved) & allowed))
        tried += int(np.count_nonzero(allowed))
        best = np.where((found > worst)[:, None], moved, best)
        worst = np.maximum(worst, found)
    return tried, failures, float(worst.max()) / printed.bound if printed.bound > 0.0 else 0.0


def draw_inputs(attacked: Attacked, rng: np.random.Generator) -> NDArray[Any]:
    """Return inputs all over the range, on its corners and edges, near the rows and near the vectors."""
    low, high = attacked.printed.range.low, attacked.printed.range.high
    shape, rows = (INPUTS, len(low)), attacked.program.inputs(attacked.rows).astype(np.float64)
    spread = np.maximum(rows.std(axis=0), 1e-9 * (high - low))
    beside = rows[rng.integers(0, len(rows), INPUTS)] + spread * rng.normal(size=shape) * 10.0 ** rng.uniform(-3, 0.5)
    near = attacked.program.inputs(attacked.model.transform.inverse(attacked.model.vectors)).astype(np.float64)
    beside_vectors = near[rng.integers(0, len(near), INPUTS)] + spread * rng.normal(size=shape) * 0.3
    drawn = [
        low + (high - low) * rng.random(shape),
        np.where(rng.random(shape) < 0.5, low, high),
        low + (high - low) * rng.choice([0.0, 0.5, 1.0], shape),
        beside,
        beside_vectors,
        np.where(rng.random(shape) < 0.2, np.where(rng.random(shape) < 0.5, low, high), beside),
    ]
    return as_inputs(attacked, np.clip(np.vstack(drawn), low, high))


def move(attacked: Attacked, inputs: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
    """Return the inputs with some coordinates moved: anywhere, to an end, or to the edge of a grid cell."""
    program, (n, d) = attacked.program, inputs.shape
    low, high = attacked.printed.range.low, attacked.printed.range.high
    step = np.ones(d) if program.reader.kind.is_grid else program.step
    start = np.zeros(d) if program.reader.kind.is_grid else program.low
    place = np.rint((inputs - start) / step) + rng.choice([-0.5, 0.5], (n, d)) * (
        1.0 + rng.choice([-1e-6, 1e-6], (n, d))
    )
    choices = np.stack([
        low + (high - low) * rng.random((n, d)),
        np.where(rng.random((n, d)) < 0.5, low, high) + np.zeros((n, d)),
        start + step * place,
        inputs + step * rng.normal(size=(n, d)) * 3.0,
    ])  # fmt: skip
    chosen = np.take_along_axis(choices, rng.integers(0, len(choices), (1, n, d)), axis=0)[0]
    kept = rng.random((n, d)) > rng.choice([1.0 / d, 0.3, 0.9])
    return as_inputs(attacked, np.clip(np.where(kept, inputs, chosen), low, high))


def as_inputs(attacked: Attacked, values: Array) -> NDArray[Any]:
    """Return values in the type that the program reads."""
    dtype = attacked.program.input_dtype
    return values.astype(dtype) if dtype.kind == "f" else np.rint(values).astype(dtype)


def read_header(export: Export) -> Printed:
    """Return what the header states; of a range that it leaves to ``in_range``, what that function checks."""
    text, program = export.files[f"{NAME}.h"].decode(), integer_program(export)
    (bound,) = re.findall(r"(?:score|value) error: at most (\S+) for every input in range[,\n]", text)
    (margin,) = re.findall(rf"label: .* in range .*model's (?:{CLEAR}) ([^\s]+)", text) or ["inf"]  # values have none
    ((lowest, highest),) = re.findall(r"scores stay within (-?\d+) and (-?\d+)\n", text)
    (unit,) = re.findall(rf"#define {NAME.upper()}_UNIT (\S+)f\n", text)
    own = re.findall(r"\* Each is within (\S+) of what the model's calibration gives", text)
    real = re.findall(r"\* In range, each is within (\S+) of the real-valued model's", text)
    stated = [float(found[0]) if found else np.inf for found in (own, real)]
    low, high = program.range.low.copy(), program.range.high.copy()
    kind = program.input_dtype.type
    for first, last, least, largest in re.findall(r"range of x\[(\d+)\](?: to x\[(\d+)\])?: (\S+) to (\S+)\n", text):
        features = slice(int(first), int(last or first) + 1)
        low[features], high[features] = kind(least), kind(largest)
    unit_read = float(np.float32(unit))
    return Printed(float(bound), float(margin), int(lowest), int(highest), unit_read, Box(low, high), *stated)


def integer_probabilities(export: Export) -> IntegerProbabilities | None:
    """Return how an integer export makes probabilities; ``None`` where it does not."""
    made = None if export.lowered is None else export.lowered.probabilities
    return made if isinstance(made, IntegerProbabilities) else None


def calibrated(case: IntegerCase, rng: np.random.Generator) -> SparseModel:
    """Return the model with probabilities of a slope that suits its scores, or one that is far too large or small."""
    if case.model.decision != LARGEST:
        return case.model  # votes and values have no probabilities
    typical = max(float(np.abs(case.model.scores(case.rows)).mean()), 1e-200)
    slope = 10.0 ** rng.uniform(-1.0, 2.0) * float(rng.choice([1.0, 1.0, 1.0, 1e-6, 1e6])) / typical
    if case.model.n_outputs > 1:
        return replace(case.model, calibration=Calibration("temperature", slope))
    offset = float(rng.choice([0.0, rng.normal(), 20.0 * rng.normal()]))
    return replace(case.model, calibration=Calibration("platt", slope, offset))


def draw_case(rng: np.random.Generator) -> tuple[IntegerCase, str, str]:
    """Return a model with its rows, what its export reads, and both in words."""
    reads = str(rng.choice(list(INPUT_KINDS)))
    is_raw = INPUT_KINDS[reads].is_raw_integer
    if rng.random() < TRAINED_SHARE:
        title = str(rng.choice([title for title in trained_titles() if is_raw == title.startswith("digits")]))
        return trained(title), reads, title
    names = [name for name, kernel in KERNELS.items() if kernel.bind().falls or kernel.bind().is_linear]
    name = str(rng.choice(names))
    drawn: dict[str, Any] = {
        "octaves": (0,) if name == "linear" else [(0,), (0, 1), (2, 0, 5), (0.0, 1.3)][rng.integers(4)],
        "m": int(rng.choice([1, 2, 5, 9, 20])),
        "d": int(rng.choice([1, 2, 3, 5, 8, 20, 40])),
        "n_classes": int(rng.choice([2, 2, 3, 5])),
        "decision": str(rng.choice([*DECISIONS])),
        "projected": bool(rng.random() < 0.4),
        "size": float(rng.choice([1.0, 1.0, 1e-12, 1e12])),
        "far": float(rng.choice([1.0, 1.0, 5.0, 100.0])),
        "centre": float(rng.choice([0.0, 1.0, 1e4])),
        "constant": bool(rng.random() < 0.2),
        "raw": is_raw,
    }
    words = ", ".join(f"{key} {value}" for key, value in drawn.items())
    return make_integer_case(int(rng.integers(2**31)), name, **drawn), reads, f"{name}, {words}"


SETS = {"digits": load_digits, "wine": load_wine, "breast_cancer": load_breast_cancer}
TRAINED: dict[str, dict[str, Any]] = {
    "rbf": {},
    "linear": {"kernel": "linear"},
    "projected": {"projection": 3},
    "laplacian": {"kernel": "laplacian"},
}


def trained_titles() -> list[str]:
    """Return the names of the trained models."""
    return [f"{name} {kind} {scale}" for name in SETS for kind in TRAINED for scale in ("standard", "minmax", "none")]


@cache
def trained(title: str) -> IntegerCase:
    """Return a model trained on a set that scikit-learn brings, with its training rows."""
    name, kind, scale = title.split()
    X, y = SETS[name](return_X_y=True)
    rows = data.from_arrays(X[:400], y[:400])
    parameters: dict[str, Any] = {"n_vectors": 10, "max_iter": 3, **TRAINED[kind]}
    return IntegerCase(train(rows, rows, scale=scale, parameters=parameters).model, rows.X)
