"""The space of candidates: what may be tried, how Optuna draws from it, and what is tried first.

The space is conditional: a projection has a number of values, a linear kernel has no width. The number of vectors is
drawn as a share of the most that fit beside all the rest, so nothing that is drawn is too large for the budget.
"""

from __future__ import annotations

import bisect
import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from sparsegen.errors import OptionError
from sparsegen.kernels import KERNELS
from sparsegen.lowering.formats import FORMATS, INPUT_KINDS, IntegerFormat
from sparsegen.methods import METHODS
from sparsegen.methods.shared.estimator import SingleKernelClassifier
from sparsegen.search.candidate import Candidate
from sparsegen.search.costs import Costs, Sketch
from sparsegen.search.problem import Problem

DEFAULT_METHODS = ("slmc", "spsvm")
DEFAULT_KERNELS = ("rbf", "laplacian", "linear")
SCALES = ("standard", "minmax", "none")
MOST_VECTORS = 500
"""More are rarely worth their training; budgets that hold more are for other machines."""
ROWS_PER_VECTOR = 3
SMALLEST_SHARE = 1 / 16
PROJECTIONS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
"""Steps, so that few structures are compiled for the cost model."""
FEATURE_SHARES = (1 / 8, 1 / 4, 3 / 8, 1 / 2, 3 / 4)
FEWEST_TO_CHOOSE_FROM = 4
GAMMAS, COSTS, PENALTIES = (0.03, 30.0), (0.1, 1000.0), (0.03, 30.0)
PLAIN, PROJECTED, SCALED = "none", "projection", "feature_scales"

Draws = dict[str, Any]
"""What Optuna drew, by the name of the parameter."""


class Drawer(Protocol):
    """What draws values: an Optuna trial."""

    def suggest_categorical(self, name: str, choices: Sequence[Any]) -> Any:
        """Return one of the choices."""

    def suggest_float(self, name: str, low: float, high: float, *, log: bool = False) -> float:
        """Return a number."""

    def suggest_int(self, name: str, low: int, high: int) -> int:
        """Return a whole number."""


@dataclass(frozen=True)
class Space:
    """What may be tried."""

    methods: tuple[str, ...]
    kernels: tuple[str, ...]
    dtypes: tuple[str, ...]
    inputs: tuple[str, ...]
    n_features: int
    n_outputs: int
    most_vectors: int
    """Whatever the budget."""
    minds_classes: bool
    probability: bool

    @classmethod
    def of(
        cls,
        problem: Problem,
        *,
        methods: Iterable[str] | None = None,
        kernels: Iterable[str] | None = None,
        dtypes: Iterable[str] | None = None,
        inputs: Iterable[str] | None = None,
    ) -> Space:
        """Return the space of a problem, restricted to what is named; names are checked."""
        metric, given = problem.metric, tuple(inputs or ())
        if unsuited := [name for name in given if name in INPUT_KINDS and name not in ("grid", *problem.inputs)]:
            raise OptionError(f"not every value of the rows is one that {unsuited[0]} holds", change={"input": "f32"})
        return cls(
            tuple(_searchable(name) for name in methods or DEFAULT_METHODS),
            _known(kernels or DEFAULT_KERNELS, KERNELS),
            _known(dtypes or FORMATS, FORMATS),
            _known(given, INPUT_KINDS) or problem.inputs,
            problem.X.shape[1],
            problem.n_outputs,
            min(MOST_VECTORS, max(2, problem.fewest_rows // ROWS_PER_VECTOR)),
            metric.minds_classes,
            metric.needs_probabilities,
        )

    def draw(self, trial: Drawer, costs: Costs) -> Candidate | None:
        """Return what a trial draws; ``None`` where not even the fewest vectors fit the budget."""
        return costs.filled(self.sketch(trial))

    def sketch(self, trial: Drawer) -> Sketch:
        """Return what a trial draws, before it is known how many vectors fit."""
        method = trial.suggest_categorical("method", self.methods)
        kernel = trial.suggest_categorical("kernel", self.kernels)
        dtype = trial.suggest_categorical("dtype", self.dtypes)
        integer = isinstance(FORMATS[dtype], IntegerFormat)
        reads = trial.suggest_categorical("input", self.inputs) if integer else "f32"
        scale = trial.suggest_categorical("scale", SCALES)
        n_features = None
        if self._feature_counts and trial.suggest_categorical("features", ("all", "some")) == "some":
            n_features = self._feature_counts[trial.suggest_int("n_features", 0, len(self._feature_counts) - 1)]
        linear = KERNELS[kernel].bind().is_linear
        own = inspect.signature(METHODS[method]).parameters
        seen = PLAIN
        if "projection" in own and not linear:
            seen = trial.suggest_categorical("map", (PLAIN, PROJECTED, SCALED))
        n_projected, penalty = None, None
        if seen == PROJECTED:
            steps = self._projections(self.n_features if n_features is None else n_features)
            n_projected = steps[min(len(steps) - 1, trial.suggest_int("n_projected", 0, len(PROJECTIONS) - 1))]
        if seen != PLAIN:
            penalty = trial.suggest_float("penalty", *PENALTIES, log=True)
        gamma = None
        if KERNELS[kernel].scale_parameter is not None:
            gamma = trial.suggest_float("gamma", *GAMMAS, log=True)
        C = trial.suggest_float("C", *COSTS, log=True)
        weights = trial.suggest_categorical("class_weight", ("none", "balanced")) if self.minds_classes else "none"
        share = 1.0 if linear else trial.suggest_float("share", SMALLEST_SHARE, 1.0, log=True)
        candidate = Candidate(
            method=method,
            kernel=kernel,
            dtype=dtype,
            reads=reads,
            scale=scale,
            n_vectors=1,
            C=_rounded(C),
            gamma=None if gamma is None else _rounded(gamma),
            n_features=n_features,
            n_projected=n_projected,
            feature_scales=seen == SCALED,
            penalty=None if penalty is None else _rounded(penalty),
            class_weight="balanced" if weights == "balanced" else None,
            probability=self.probability,
        )
        return Sketch(candidate, self._limit(candidate, linear), share)

    def starts(self) -> list[Mapping[str, Any]]:
        """Return what is tried first, so that the first minute already gives a good model.

        That is what ``train`` does by itself in every number format, with as many vectors as fit; then half of them;
        then what the plain machine lacks: a projection, factors of the features, other kernels and methods.
        """
        plain = {
            "method": self.methods[0],
            "kernel": self.kernels[0],
            "dtype": self._formats[0],
            "input": self.inputs[0],
            "scale": "standard",
            "features": "all",
            "map": PLAIN,
            "gamma": 1.0,
            "C": 10.0,
            "class_weight": "balanced" if self.minds_classes else "none",
            "share": 1.0,
        }
        middle = bisect.bisect(PROJECTIONS, 8) - 1
        changes: list[Mapping[str, Any]] = [
            {},
            {"map": PROJECTED, "n_projected": middle, "penalty": 1.0},
            {"gamma": 3.0},
            {"share": 0.5},
            *({"dtype": dtype} for dtype in self._formats[1:]),
            {"map": SCALED, "penalty": 1.0},
            {"features": "some" if self._feature_counts else "all", "n_features": len(self._feature_counts) // 2},
            {"map": PROJECTED, "n_projected": middle, "penalty": 1.0, "share": 0.5},
            {"gamma": 0.3, "C": 100.0},
            *({"kernel": kernel} for kernel in self.kernels[1:]),
            *({"method": method} for method in self.methods[1:]),
            {"share": 0.25},
        ]
        return [{**plain, **change} for change in changes]

    @property
    def _formats(self) -> tuple[str, ...]:
        """The number formats, those with the smallest vectors first."""

        def size(name: str) -> tuple[int, int]:
            numbers = FORMATS[name]
            if not isinstance(numbers, IntegerFormat):
                return 4, 4
            return numbers.index_dtype.itemsize, -numbers.coef_dtype.itemsize

        return tuple(sorted(self.dtypes, key=size))

    @property
    def _feature_counts(self) -> tuple[int, ...]:
        if self.n_features < FEWEST_TO_CHOOSE_FROM:
            return ()
        return tuple(dict.fromkeys(max(2, round(share * self.n_features)) for share in FEATURE_SHARES))

    def _projections(self, n_features: int) -> tuple[int, ...]:
        return tuple(p for p in PROJECTIONS if p < n_features) or (1,)

    def _limit(self, candidate: Candidate, linear: bool) -> int:
        """Return how many vectors are worth having; of a linear kernel's, exports keep one for each score."""
        if not linear:
            return self.most_vectors
        used = self.n_features if candidate.n_features is None else candidate.n_features
        return min(self.most_vectors, max(1, min(used, self.n_outputs)))


def _searchable(name: str) -> str:
    """Return the name of a method whose cost is known before training, or raise an error."""
    method = METHODS[name]
    single = issubclass(method, SingleKernelClassifier)
    if not single or not {"n_vectors", "C"} <= set(inspect.signature(method).parameters):
        raise OptionError(
            f"method {name!r} chooses its vectors or kernels itself, so its cost is known only after training; search "
            f"with others, such as: {', '.join(DEFAULT_METHODS)}"
        )
    return name


def _known(names: Iterable[str], registry: Mapping[str, Any]) -> tuple[str, ...]:
    listed = tuple(dict.fromkeys(names))
    for name in listed:
        if name not in registry:
            raise OptionError(f"{name!r} is unknown; choose from: {', '.join(registry)}")
    return listed


def _rounded(value: float) -> float:
    return float(f"{value:.3g}")
