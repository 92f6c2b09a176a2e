"""Untrained models: the rows they come from, and the structure they must have."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from sparsegen.budget.plan import Plan
from sparsegen.budget.untrained import Sample, n_classes, scaler
from sparsegen.errors import DataError, OptionError
from sparsegen.kernels import KERNELS
from sparsegen.methods.shared.estimator import scale_gamma

RNG = np.random.default_rng(3)
X = RNG.normal(size=(60, 6)) * [1, 2, 3, 4, 5, 6] + 7
Y = np.repeat([0, 1, 2], 20)
RBF = (KERNELS["rbf"].bind(gamma=0.1),)


@pytest.mark.parametrize(
    "change", [{}, {"n_projected": 2}, {"n_projected": 2, "pool": "2x3/1x3"}, {"feature_scales": True}]
)
@pytest.mark.parametrize("apart", [False, True])
def test_an_untrained_model_has_the_structure_of_its_plan(change, apart):
    plan = Plan(6, 3, 1, RBF, **change)
    model = Sample.of(X, Y).basis(plan, apart=apart).model(plan, 75)  # more than rows
    assert model.n_vectors == len(np.unique(model.vectors, axis=0)) == 75, "no two are equal, or an export drops one"
    assert (model.n_features, model.n_outputs, len(model.classes)) == (6, 3, 3)
    P = model.transform.projection
    assert (None if P is None else len(P)) == plan.n_projected
    if plan.pool is not None and P is not None:
        assert np.allclose(P[:, [0, 3]], P[:, [1, 4]]), "features of a block are weighed alike"


def test_it_is_about_as_good_as_an_svm_on_random_rows():
    labels = (X[:, 5] > 7).astype(int)
    plan = Plan(6, 1, 1, RBF, C=10.0)
    model = Sample.of(X, labels).basis(plan).model(plan, 30)
    assert np.mean(model.predict_index(X) == labels) > 0.9


def test_it_reads_the_first_columns():
    plan = Plan(4, 3, 1, RBF)
    basis = Sample.of(X, Y).basis(plan)
    assert np.array_equal(np.sort(basis.rows, axis=0), np.sort(X[:, :4], axis=0))


def test_rows_are_scaled_as_training_scales_them():
    with_constant = np.column_stack([X, np.ones(len(X))])
    for name, known in (("standard", StandardScaler()), ("minmax", MinMaxScaler())):
        offset, scale = scaler(name, with_constant)
        np.testing.assert_allclose((with_constant - offset) * scale, known.fit_transform(with_constant), atol=1e-12)


def test_a_relative_gamma_is_that_of_the_scaled_rows():
    plan = Plan(6, 3, 1, RBF, gamma=2.0)
    bound = Sample.of(X, Y).basis(plan).bound(plan)
    expected = 2.0 * scale_gamma(StandardScaler().fit_transform(X))
    assert dict(bound.kernels[0].params)["gamma"] == pytest.approx(expected)


def test_rows_at_the_ends_of_a_range_are_kept_of_many():
    many = RNG.normal(size=(5000, 3))
    sample = Sample.of(many)
    assert len(sample.rows) <= 1006
    assert np.array_equal(sample.rows.min(axis=0), many.min(axis=0))
    assert np.array_equal(sample.rows.max(axis=0), many.max(axis=0))


@pytest.mark.parametrize(("n_outputs", "decision", "classes"), [(1, "largest", 2), (5, "largest", 5), (6, "votes", 4)])
def test_classes_follow_from_scores(n_outputs, decision, classes):
    assert n_classes(Plan(6, n_outputs, 1, RBF, decision=decision)) == classes


@pytest.mark.parametrize(
    ("rows", "labels", "sentence"),
    [
        (X[:1], None, "two rows or more"),
        (X[:, 0], None, "two rows or more"),
        (X, Y[:5], "60 rows and 5 labels"),
        (np.where(X > 8, np.nan, X), None, "without missing or infinite values"),
    ],
)
def test_rows_that_tell_nothing_are_refused(rows, labels, sentence):
    with pytest.raises(DataError, match=sentence):
        Sample.of(rows, labels)


def test_more_features_than_columns_are_refused():
    with pytest.raises(OptionError, match="reads 9 features, but the rows have 6"):
        Sample.of(X, Y).basis(Plan(9, 3, 1, RBF))
