"""The search for broken guarantees finds none, and finds those that are planted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from integer_models import INTEGER_FORMATS

from benchmarks.trust import guarantees
from benchmarks.trust._together import integer_program, make_integer_case
from benchmarks.trust.guarantees import Attacked, attack, read_header
from sparsegen.lowering.formats import Format
from sparsegen.model import LARGEST, Calibration
from sparsegen.model.decision import DECISIONS
from sparsegen.targets import TARGETS


def test_a_short_search_finds_nothing():
    outcomes = list(guarantees.run(0.05, seed=0))
    assert {outcome.what.split(":")[0] for outcome in outcomes} == set(INTEGER_FORMATS)
    for outcome in outcomes:
        assert outcome.failures == 0, outcome
        assert outcome.tried > 1000


@pytest.fixture
def attacked() -> Attacked:
    case = make_integer_case(6, d=8, n_classes=3, projected=True)
    export = TARGETS["c"].export(case.model, guarantees.NAME, Format("q15", rows=case.rows))
    return Attacked(case.model, integer_program(export), read_header(export), case.rows)


@pytest.mark.parametrize("change", [{"bound": 1e-6}, {"lowest": 0, "highest": 0}])
def test_a_number_printed_too_small_is_found(attacked, change):
    rng = np.random.default_rng(0)
    assert attack(attacked, rng)[1] == 0
    assert attack(replace(attacked, printed=replace(attacked.printed, **change)), rng)[1] > 0


@pytest.mark.parametrize("change", [{"probability": 2e-5}, {"model_probability": 1e-4}])
def test_a_bound_of_probabilities_printed_too_small_is_found(change):
    case = make_integer_case(6, d=8, n_classes=3)
    of = replace(case.model, calibration=Calibration("temperature", 2.0))
    export = TARGETS["c"].export(of, guarantees.NAME, Format("q15", rows=case.rows))
    made = guarantees.integer_probabilities(export)
    attacked = Attacked(of, integer_program(export), read_header(export), case.rows, made)
    assert attack(attacked, np.random.default_rng(0))[1] == 0
    assert attacked.printed.probability < 1e-3
    assert attacked.printed.model_probability < 1.0
    smaller = replace(attacked, printed=replace(attacked.printed, **change))
    assert attack(smaller, np.random.default_rng(0))[1] > 0


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("decision", DECISIONS)
def test_every_model_that_may_have_probabilities_gets_them(n_classes, decision):
    """Three classes have three pairs: the number of outputs alone does not tell votes."""
    case = make_integer_case(6, n_classes=n_classes, decision=decision)
    of = guarantees.calibrated(case, np.random.default_rng(0))
    assert (of.calibration is not None) == (of.decision == LARGEST)


def test_a_program_that_labels_wrongly_beyond_its_margin_is_found(attacked):
    program = replace(attacked.program, coef=-attacked.program.coef)
    printed = replace(attacked.printed, bound=np.inf, margin=0.05)
    assert attack(replace(attacked, program=program, printed=printed), np.random.default_rng(0))[1] > 0


def test_a_projection_that_leaves_its_grid_would_break_the_bound(attacked):
    """What in_range keeps out: without it, inputs within the range of every feature exceed the bound."""
    rng = np.random.default_rng(0)
    low, high = attacked.printed.range.low, attacked.printed.range.high
    corners = np.where(rng.random((4000, 8)) < 0.5, low, high).astype(np.float32)
    outside = corners[~attacked.program.in_range(corners)]
    assert len(outside) > 100
    assert attacked.broken(outside).any()
    assert not attacked.broken(attacked.in_range(corners)).any()
