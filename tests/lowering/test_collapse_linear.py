"""When summing the vectors of a linear kernel pays, counted in constants."""

from __future__ import annotations

import numpy as np
import pytest
from golden_models import model
from random_models import make_case

from sparsegen.lowering.collapse_linear import collapse_linear

LINEAR: list[tuple[str, dict[str, float]]] = [("linear", {})]


@pytest.mark.parametrize(
    ("classes", "m", "d", "p", "folds"),
    [
        (3, 5, 6, 2, True),  # 18 constants either way: no projection is simpler
        (3, 5, 7, 2, False),  # 21 against 14 + 6
        (4, 9, 6, 2, False),
        (2, 9, 6, 2, True),
        (4, 9, 6, 5, True),
    ],
)
def test_a_projection_folds_where_that_takes_no_more_constants(classes, m, d, p, folds):
    of = model(LINEAR, m, d, tuple(range(classes)), projected=p)
    found = collapse_linear(of)
    assert (found.transform.projection is None) == folds
    n_outputs = 1 if classes == 2 else classes
    assert found.vectors.shape == (n_outputs, d if folds else p)
    X = np.random.default_rng(0).normal(size=(9, d))
    np.testing.assert_allclose(found.scores(X), of.scores(X), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("m", [1, 2, 3, 4])
def test_vectors_are_summed_where_there_are_more_than_outputs(m):
    of = model(LINEAR, m, 4, (0, 1, 2))
    found = collapse_linear(of)
    assert found.n_vectors == min(m, 3)
    assert (found is of) == (m <= 3)


def test_several_kernels_stay_as_they_are():
    of = make_case(1, ("linear", "poly")).model
    assert collapse_linear(of) is of
    both = model([*LINEAR, *LINEAR], 9, 4, (0, 1))
    assert collapse_linear(both) is both
