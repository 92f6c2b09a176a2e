"""Probabilities of programs: the simulator against its twin, and every bound against an adversary."""

from __future__ import annotations

import itertools
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from golden_models import INTEGER, SMALL, model, rbf, rows
from reference.probabilities import slow_probabilities

from sparsegen.errors import ModelError, OptionError
from sparsegen.lowering import lower
from sparsegen.lowering.formats import Format
from sparsegen.lowering.probabilities import ONE, IntegerProbabilities, integer_probabilities
from sparsegen.model import Calibration

MOST = 2**31 - 1


def made_for(n: int, slope: float, offset: float = 0.0, unit: float = 1.0, error: float = 0.0) -> IntegerProbabilities:
    """Return what a program of this unit makes of scores."""
    kind = "platt" if n == 2 else "temperature"
    of = SimpleNamespace(calibration=Calibration(kind, slope, offset), classes=tuple(range(n)))
    parts: tuple[Any, ...] = (SimpleNamespace(unit=unit), of, SimpleNamespace(error=np.array([error])), Format("q7"))
    made = integer_probabilities(*parts)
    assert made is not None
    return made


def attacks(made: IntegerProbabilities, rng: np.random.Generator, n_rows: int = 400) -> np.ndarray:
    """Return scores at every size of distance, next to the limit, next to the zero, at ties and at the ends."""
    n = 1 if made.n_classes == 2 else made.n_classes
    size = np.exp(rng.uniform(0.0, np.log(MOST), (n_rows, 1)))
    scores = np.clip(size * rng.uniform(-1.0, 1.0, (n_rows, n)), -MOST, MOST).astype(np.int64)
    near = made.limit + rng.integers(-3, 4, (n_rows, n))
    scores[::4] = np.clip(scores[::4] + np.where(rng.random((len(scores[::4]), n)) < 0.5, near[::4], 0), -MOST, MOST)
    octave = max(1, int(made.limit / 16))
    scores[1::4] = rng.integers(-3 * min(octave, MOST // 4), 3 * min(octave, MOST // 4) + 1, scores[1::4].shape)
    if n == 1:
        scores[2::8, 0] = np.clip(made.zero + rng.integers(-2, 3, len(scores[2::8])), -MOST, MOST)
    scores[:3] = np.array([MOST, -MOST, 0])[:, None]
    return scores


SLOPES = (1e-15, 1e-11, 3.3e-10, 1e-9, 7.7e-8, 1e-5, 0.01, 1.0, 700.0, 1e6)


@pytest.mark.parametrize("n", [2, 3, 10])
def test_the_simulator_is_its_twin(n: int) -> None:
    rng = np.random.default_rng(n)
    for slope, offset in itertools.product(SLOPES, (0.0, -1.3) if n == 2 else (0.0,)):
        made = made_for(n, slope, offset)
        scores = attacks(made, rng, 60)
        assert made.of(scores).tolist() == [slow_probabilities(made, row) for row in scores.tolist()], (slope, offset)


@pytest.mark.parametrize("n", [2, 3, 10, 40])
def test_no_integer_probability_is_further_off_than_stated(n: int) -> None:
    rng = np.random.default_rng(n)
    drawn = 10.0 ** rng.uniform(-12, 2, 30)
    tight = 0.0
    for slope, offset in itertools.product((*SLOPES, *drawn), (0.0, 0.8, -30.0) if n == 2 else (0.0,)):
        made = made_for(n, slope, offset)
        scores = attacks(made, rng)
        found = made.of(scores).astype(np.int64)
        # float64 loses some of a large offset against a large score: the exact difference first
        t = made.calibration.slope * (scores - scores.max(axis=1, keepdims=True)) if n > 2 else slope * scores + offset
        off = np.abs(found / ONE - Calibration("", 1.0)(t.astype(np.float64)))
        assert off.max() <= made.bound, (slope, offset)
        assert np.all(np.abs(found.sum(axis=1) - ONE) <= made.sum_error)
        if made.is_agreed:
            predicted = (scores[:, 0] > 0).astype(int) if n == 2 else np.argmax(scores, axis=1)
            assert np.all(found[np.arange(len(found)), predicted] == found.max(axis=1))
        tight = max(tight, float(off.max() / made.bound))
    assert tight > (0.5 if n == 2 else 0.1), "the bound is silly"


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("offset", [1e4, -1e9, 1e30])
def test_a_zero_out_of_reach_promises_nothing_and_warns_of_nothing(offset: float) -> None:
    """The score at which both classes are equally probable does not fit in 32 bits: the nearest that does is used."""
    made = made_for(2, 1e-7, offset)
    assert abs(made.zero) == MOST
    exact = Calibration("platt", 1e-7, offset)(np.array([[float(np.sign(-offset)) * MOST]]))
    assert np.abs(made.of(np.array([[made.zero]])) / ONE - exact).max() <= made.bound <= 1.0


def test_integer_probabilities_are_about_as_exact_as_their_unit() -> None:
    assert made_for(2, 1e-8).bound < 1e-4
    assert made_for(10, 1e-8).bound < 4e-4


def calibrated(of: Any, slope: float) -> Any:
    return replace(of, calibration=Calibration("platt" if of.n_outputs == 1 else "temperature", slope))


@pytest.mark.parametrize("dtype", ["q15", "q7", "q7c8"])
@pytest.mark.parametrize("name", ["binary_rbf", "laplacian_text", "linear", "cauchy"])
def test_in_range_no_probability_is_further_from_the_real_models_than_stated(name: str, dtype: str) -> None:
    rng = np.random.default_rng(1)
    for slope in (0.5, 4.0, 20.0):
        lowered = lower(calibrated(SMALL[name], slope), Format(dtype))
        made, program = lowered.probabilities, lowered.program
        assert isinstance(made, IntegerProbabilities)
        box = program.range  # type: ignore[union-attr]
        X = rng.uniform(box.low, box.high, (300, lowered.n_features)).astype(np.float32).astype(np.float64)
        found = made.of(program.scores(lowered.inputs(X))) / ONE
        assert np.abs(found - lowered.model.probabilities(X)).max() <= made.model_bound
        assert dict(lowered.promises)["probabilities"].startswith("in range, each is within ")


def test_a_larger_error_of_scores_moves_probabilities_by_what_is_stated() -> None:
    for n in (2, 3):
        made = made_for(n, 2.0, unit=1e-8, error=0.3)
        logits = np.linspace(-3, 3, 201)
        for t in logits:  # every score 0.3 off, in the direction that moves the first class most
            exact, moved = ([s, *[0.0] * (n - 1)] for s in (t, t + 0.3 * 2.0 * (1 if n == 2 else 2)))
            p, q = (np.exp(v - np.max(v)) / np.exp(v - np.max(v)).sum() for v in map(np.array, (exact, moved)))
            assert abs(p[0] - q[0]) <= made.model_bound


def test_a_confidence_needs_probabilities_and_a_share() -> None:
    for wanted in (Format(reject=0.7), Format("q7", reject=0.7)):
        with pytest.raises(OptionError, match="the model has no probabilities"):
            lower(SMALL["binary_rbf"], wanted)
    for share in (0.0, -1.0, 1.01, np.nan):
        with pytest.raises(OptionError, match="must lie above 0 and be at most 1"):
            Format(reject=share)
        with pytest.raises(OptionError, match="must lie above 0 and be at most 1"):
            SMALL["temperature"].predict_or_reject(rows(SMALL["temperature"]), share)


def test_predict_or_reject_gives_no_class_below_the_confidence() -> None:
    of = SMALL["temperature"]
    X = rows(of)
    found, plain, most = of.predict_or_reject(X, 0.7), of.predict_index(X), of.probabilities(X).max(axis=1)
    assert 0 < np.count_nonzero(found == -1) < len(X)
    assert np.array_equal(found == -1, most < 0.7)
    assert np.array_equal(found[found != -1], plain[found != -1])


def test_only_models_with_probabilities_make_them() -> None:
    assert lower(SMALL["binary_rbf"]).probabilities is None
    assert lower(SMALL["binary_rbf"], Format("q7")).probabilities is None
    reject = lower(INTEGER["integer_platt"].model, INTEGER["integer_platt"].format).probabilities
    assert isinstance(reject, IntegerProbabilities)
    assert reject.rejects_below_units == 26215  # 0.8 of 32768 is 26214.4
    assert not reject.is_agreed
    with pytest.raises(ModelError, match="too large or too small for float32"):
        lower(replace(model([rbf()], 2, 2, (0, 1)), calibration=Calibration("platt", 1e200)))
