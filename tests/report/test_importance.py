"""Importance is what shuffling does: nothing for a feature that the model does not read."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from golden_models import model, rbf, wave

from sparsegen.model import Transform
from sparsegen.model.decision import DECISIONS
from sparsegen.report.importance import REPEATS, importance

ROWS = wave(80, 5, step=0.41, size=2.0)


def test_an_idle_feature_moves_nothing() -> None:
    of = model([rbf()], 5, 5, ("a", "b", "c"))
    scale = np.ones(5)
    scale[2] = 1e-300  # read, and lost in rounding
    of = replace(of, transform=Transform(np.zeros(5), scale))
    found = importance(of, ROWS, of.predict_index(ROWS))
    assert found.lost is not None
    assert not found.moved[2].any()
    assert not found.lost[2].any()
    assert (found.moved[[0, 1, 3, 4]] > 0).all()
    assert (found.lost[[0, 1, 3, 4]] >= 0).all()  # all rows were right before
    assert found.lost.max() > 0


def test_it_agrees_with_a_plain_loop() -> None:
    of = model([rbf()], 4, 5, (0, 1))
    wanted = of.predict_index(ROWS)
    wanted[::7] = 1 - wanted[::7]
    found = importance(of, ROWS, wanted, seed=3)
    rng = np.random.RandomState(3)
    orders = [rng.permutation(80) for _ in range(REPEATS)]
    unit = DECISIONS["largest"].leads(of.scores(ROWS)).mean()
    for j, k in ((0, 0), (4, 2)):
        rows = [row.copy() for row in ROWS]
        for i, row in enumerate(rows):
            row[j] = ROWS[orders[k][i], j]
        moved = [abs(of.scores([row])[0, 0] - of.scores([old])[0, 0]) for row, old in zip(rows, ROWS, strict=True)]
        assert np.isclose(found.moved[j, k], np.mean(moved) / unit)
        right = sum(of.predict_index([old])[0] == w for old, w in zip(ROWS, wanted, strict=True))
        still = sum(of.predict_index([row])[0] == w for row, w in zip(rows, wanted, strict=True))
        assert found.lost is not None
        assert np.isclose(found.lost[j, k], 100 * (right - still) / 80)


def test_the_same_seed_gives_the_same_and_no_classes_no_accuracy() -> None:
    of = model([rbf()], 4, 5, (0, 1))
    first, second = (importance(of, ROWS, None) for _ in range(2))
    assert np.array_equal(first.moved, second.moved)
    assert first.lost is None
    assert np.isclose(first.unit, of.scores(ROWS).std())
