"""Metrics: the tallies of folds add up to the score over all rows."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, f1_score, log_loss

from sparsegen.search.metrics import METRICS, Answers

RNG = np.random.default_rng(2)
TRUTH, GIVEN = RNG.integers(0, 3, 90), RNG.integers(0, 3, 90)
P = RNG.dirichlet(np.ones(3), 90)
PEERS = {
    "accuracy": lambda: np.mean(TRUTH == GIVEN),
    "balanced": lambda: balanced_accuracy_score(TRUTH, GIVEN),
    "f1": lambda: f1_score(TRUTH, GIVEN, average="macro"),
    "logloss": lambda: log_loss(TRUTH, P),
}


@pytest.mark.parametrize("name", METRICS)
def test_tallies_of_folds_add_up_to_scikit_learns_score(name):
    metric = METRICS[name]
    parts = [Answers(TRUTH[part], GIVEN[part], P[part], 3) for part in (slice(0, 31), slice(31, 90))]
    total = metric.tally(parts[0]) + metric.tally(parts[1])
    assert metric.score(total) == pytest.approx(PEERS[name]())
    assert metric.rows(total) == 90


def test_a_difference_must_be_more_than_chance():
    accuracy, loss = METRICS["accuracy"], METRICS["logloss"]
    assert accuracy.surely_better(0.9, 0.8, 100)
    assert not accuracy.surely_better(0.85, 0.8, 100)
    assert not accuracy.surely_better(1.0, 1.0, 100)
    assert loss.surely_better(0.5, 0.6, 100)
    assert not loss.surely_better(0.58, 0.6, 100)
    assert loss.better(0.1, 0.2)
    assert accuracy.better(0.2, 0.1)
