"""What pruning keeps, against a plain loop."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_models import make_case

from sparsegen.lowering.prune import prune


def merged(model):
    """Distinct vectors in the order they come in, each with the sum of its coefficients; then those with a weight."""
    kept: list[tuple[np.ndarray, np.ndarray]] = []
    for u, vector in enumerate(model.vectors):
        for i, (known, weights) in enumerate(kept):
            if np.array_equal(known, vector):
                kept[i] = known, weights + model.coef[:, :, u]
                break
        else:
            kept.append((vector, model.coef[:, :, u]))
    return [(vector, weights) for vector, weights in kept if weights.any()]


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), m=st.integers(1, 9))
def test_vectors_are_merged_and_dropped_in_their_order(seed, m):
    rng = np.random.default_rng(seed)
    model = make_case(seed, ("rbf", "poly"), m=m, d=2).model
    vectors = rng.integers(0, 2, (m, 2)).astype(float)  # at most four different ones
    coef = rng.integers(-1, 2, model.coef.shape).astype(float)
    coef[:, :, rng.random(m) < 0.3] = 0.0
    model = replace(model, vectors=vectors, coef=coef)
    expected = merged(model)
    found = prune(model)
    if expected:
        assert np.array_equal(found.vectors, [vector for vector, _ in expected])
        assert np.array_equal(found.coef, np.stack([weights for _, weights in expected], axis=2))
    else:
        assert found.n_vectors == 1
        assert not found.coef.any()


@pytest.mark.parametrize("m", [1, 4])
def test_a_constant_model_keeps_one_of_its_vectors(m):
    model = make_case(3, ("rbf",), m=m).model
    found = prune(replace(model, coef=0.0 * model.coef))
    assert found.n_vectors == 1
    assert (model.vectors == found.vectors).all(axis=1).any()
    assert np.array_equal(found.scores(np.zeros((2, 5))), np.tile(model.intercept, (2, 1)))
