"""Hypothesis strategies for whole models: every kernel, several at once, scales, offsets up to 1e6, projections."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from sparsegen.kernels import KERNELS
from sparsegen.model import LARGEST, VALUE, VOTES, SparseModel, Transform
from sparsegen.model.decision import DECISIONS

RADIAL = tuple(name for name, kernel in KERNELS.items() if kernel.is_radial)
MIXTURES = (
    *((name,) for name in KERNELS),
    *((name, name) for name, kernel in KERNELS.items() if kernel.parameters),
    RADIAL,
    ("rbf", "linear", "laplacian"), ("rbf", "poly", "rbf"), ("linear", "poly"),
)  # fmt: skip
"""Every kernel of the registry by itself and beside itself, all radial ones at once, and some of different bases."""

OFFSETS = (0.0, 1.0, 100.0, 1e4, 1e6)
SCALES = ("one", "common", "signed", "each")


@dataclass(frozen=True)
class Case:
    model: SparseModel
    X: np.ndarray
    """Raw rows where the data lies, as float32 holds them."""


@st.composite
def cases(draw, mixtures=MIXTURES, offsets=OFFSETS):
    return make_case(
        draw(st.integers(0, 2**32 - 1)),
        draw(st.sampled_from(mixtures)),
        m=draw(st.integers(1, 12)),
        d=draw(st.sampled_from([1, 2, 5, 16, 19, 33])),
        n_classes=draw(st.sampled_from([2, 3, 5])),
        decision=draw(st.sampled_from([LARGEST, VOTES, VALUE])),
        offset=draw(st.sampled_from(offsets)),
        scale=draw(st.sampled_from(SCALES)),
        projected=draw(st.booleans()),
        duplicates=draw(st.booleans()),
    )


def make_case(
    seed,
    mixture,
    *,
    m=8,
    d=5,
    n_classes=3,
    offset=0.0,
    scale="one",
    projected=False,
    duplicates=False,
    scaled=True,
    decision=LARGEST,
) -> Case:
    """``scaled`` false: the model has no scaler although the data has the offset. Two classes never vote."""
    decision = LARGEST if n_classes == 2 and decision == VOTES else decision
    rng = np.random.default_rng(seed)
    p = max(1, d // 2) if projected else d
    spread = {
        "one": np.ones(d), "common": np.full(d, 10.0 ** rng.uniform(-3, 3)),
        "signed": 0.3 * rng.choice([-1.0, 1.0], d), "each": 10.0 ** rng.uniform(-3, 3, d),
    }[scale]  # fmt: skip
    centre = offset * rng.normal(size=d) * np.abs(spread)
    projection = rng.normal(size=(p, d)) / np.sqrt(d) if projected else None
    transform = (
        Transform(centre, 1.0 / spread, projection) if scaled else Transform(np.zeros(d), 1 / spread, projection)
    )
    X = (centre + np.abs(spread) * rng.normal(size=(25, d))).astype(np.float32).astype(np.float64)
    vectors = transform(centre + np.abs(spread) * rng.normal(size=(m, d)))
    kernels = tuple(KERNELS[name].bind(**parameters(name, rng, p)) for name in mixture)
    coef = rng.normal(size=(DECISIONS[decision].n_outputs(n_classes), len(kernels), m))
    if duplicates and m > 2:
        vectors[1] = vectors[0]
        coef[:, :, 2] = 0.0
    task, classes = ("regression", ()) if decision == VALUE else ("classification", tuple(range(n_classes)))
    intercept = rng.normal(size=len(coef))
    return Case(SparseModel(vectors, coef, intercept, kernels, transform, classes, task, decision=decision), X)


def parameters(name, rng, p):
    family = KERNELS[name]
    drawn = {key: parameter_value(parameter, rng) for key, parameter in family.parameters.items()}
    if family.scale_parameter is not None:
        drawn[family.scale_parameter] = 10.0 ** rng.uniform(-2, 0.5) / p
    return drawn


def parameter_value(parameter, rng):
    """Return something a parameter may be: the default, or a value near the lowest."""
    lowest = max(parameter.minimum, parameter.default - 2.0)
    if parameter.whole:
        return float(rng.integers(int(lowest), int(min(parameter.maximum, lowest + 5.0)), endpoint=True))
    return parameter.default if parameter.positive else float(rng.choice([lowest, parameter.default]))


def size_of_terms(model, X):
    """Return the largest sum of absolute terms of a score: what rounding is relative to."""
    total = np.abs(model.intercept) + np.zeros((len(X), 1))
    S = model.transform(X)
    for k, kernel in enumerate(model.kernels):
        total = total + np.abs(kernel.gram(S, model.vectors)) @ np.abs(model.coef[:, k, :]).T
    return float(total.max())
