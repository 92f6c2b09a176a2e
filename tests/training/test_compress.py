"""A fitted machine on fewer vectors, and what that loses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from golden_models import model
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from sparsegen import data, from_sklearn
from sparsegen.data import Dataset
from sparsegen.errors import DataError, OptionError
from sparsegen.methods.mrs import MRS
from sparsegen.methods.rs import RS
from sparsegen.model import LARGEST, VOTES
from sparsegen.model.held_out import held_out, remember
from sparsegen.promised import Accuracy
from sparsegen.training.compress import MAX_ITER, STARTS, TOL, compress

X, SPECIES = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])


def sets(labels=SPECIES) -> tuple[Dataset, Dataset]:
    return data.split(data.from_arrays(X, labels), 0.3, seed=0)


def machine(kernel="rbf", labels=SPECIES):
    return from_sklearn(make_pipeline(StandardScaler(), SVC(kernel=kernel, gamma=0.5, coef0=1.0)).fit(X, labels))


@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_a_voting_machine_on_a_few_vectors(kernel):
    original = machine(kernel)
    found = compress(original, *sets(), n_vectors=6, C=10.0)
    assert (original.decision, found.model.decision) == (VOTES, LARGEST)
    assert found.model.n_vectors == 6 < original.n_vectors
    assert found.model.kernels == original.kernels  # its gamma is kept
    assert found.accuracy >= 0.9
    assert found.loss <= 0.05


def test_every_figure_is_one_of_the_held_out_rows():
    train_set, test_set = sets()
    original = machine()
    found = compress(original, train_set, test_set, 5, C=10.0)
    ours, theirs = found.model.predict(test_set.X), original.predict(test_set.X)
    assert found.result.rows == len(test_set.X) == found.model.card["test_rows"]
    assert found.accuracy == found.model.card["accuracy"] == np.mean(ours == test_set.y)
    assert found.agreement == np.mean(ours == theirs)
    assert found.original_accuracy == np.mean(theirs == test_set.y)
    assert found.reduced_accuracy == np.mean(found.reduced.predict(test_set.X) == test_set.y)
    stored = found.model.card["compressed"]
    assert stored == found.as_json()
    assert (stored["vectors"], stored["sha256"]) == (original.n_vectors, original.sha256)
    assert found.model.card["feature_names"] == ["x0", "x1", "x2", "x3"]
    assert found.model.card["ranges"]["low"] == train_set.X.min(axis=0).tolist()


def test_rows_that_the_original_may_have_learnt_are_not_remembered_as_held_out():
    """The start is the original's vectors: a row that they were trained on is held out from nothing."""
    train_set, test_set = sets()
    original = machine()
    assert held_out(compress(original, train_set, test_set, 4, C=10.0).model.card, X) is None
    unseen = test_set.X[:9]
    tested = replace(original, card={**original.card, "held_out": remember(unseen, train_set.X)})
    card = compress(tested, train_set, test_set, 4, C=10.0).model.card
    np.testing.assert_array_equal(held_out(card, test_set.X), held_out(tested.card, test_set.X))
    known, trained = held_out(card, unseen), held_out(card, train_set.X)
    assert known is not None and known.any() and trained is not None and not trained.any()


def test_the_loss_is_counted_in_rows():
    found = compress(machine(), *sets(), n_vectors=4, C=10.0)
    counted = replace(found, original_accuracy=0.8, result=Accuracy(7, 10))
    assert 100 * counted.loss == 10.0  # and not 10.000000000000009, which rounds up to 10.01 points


def test_the_same_seed_gives_the_same_bytes():
    original, (train_set, test_set) = machine(), sets()
    first, again = (compress(original, train_set, test_set, 4, C=1.0, seed=3).model for _ in range(2))
    assert first.to_bytes() == again.to_bytes()


def test_labels_of_the_data_may_be_texts_of_the_models_numbers():
    """As from a CSV and a machine of LIBSVM, whose labels are numbers; C is chosen where nobody says it."""
    found = compress(machine(), *sets(np.array(["0", "1", "2"])[SPECIES]), n_vectors=4)
    assert found.original_accuracy > 0.9
    assert found.agreement > 0.9
    assert "search" in found.model.card


def test_training_helps_the_reduced_set():
    """Three vectors of 100: too few to rewrite the machine, and enough for the classes."""
    original = from_sklearn(make_pipeline(StandardScaler(), SVC(gamma=20.0, C=100.0)).fit(X, SPECIES))
    found = compress(original, *sets(), n_vectors=3, C=10.0)
    assert found.accuracy > found.reduced_accuracy


@pytest.mark.parametrize(("method", "estimator"), [("rs", RS), ("mrs", MRS)])
def test_rs_and_mrs_are_the_methods_of_that_name(method, estimator):
    """They end where the estimators do, which train the machine themselves, on the same rows."""
    train_set, test_set = data.split(data.from_arrays(X[50:], SPECIES[50:]), 0.3, seed=0)
    known = {"kernel": "rbf", "gamma": 0.5, "C": 2.0}
    original = from_sklearn(SVC(**known).fit(train_set.X, train_set.y))
    found = compress(original, train_set, test_set, 4, method=method, C="auto" if method == "rs" else 2.0)
    same = estimator(
        n_vectors=4, n_init=STARTS, max_iter=MAX_ITER, tol=TOL, random_state=0, **known
    ).fit(train_set.X, train_set.y)  # fmt: skip
    np.testing.assert_allclose(found.model.scores(test_set.X), same.model_.scores(test_set.X), atol=1e-6)
    assert found.model.card["coefficients"] == same.model_.card["coefficients"]
    assert found.model.card["method"].split()[0] == found.method == method
    assert found.model.card["accuracy"] == found.accuracy
    np.testing.assert_array_equal(found.model.vectors, found.reduced.vectors)
    assert found.is_trained == (method == "mrs")


def test_the_reduced_set_of_a_voting_machine_votes():
    original = machine()
    found = compress(original, *sets(), 12, method="rs")
    assert found.model.decision == VOTES and found.model.n_outputs == original.n_outputs
    assert found.accuracy == found.reduced_accuracy >= 0.9
    assert not np.array_equal(compress(original, *sets(), 12, C=1.0).model.vectors, found.model.vectors)


def test_what_no_method_can_do():
    with pytest.raises(OptionError, match=r"method 'slcm' compresses nothing \(did you mean 'slmc'\?\)"):
        compress(machine(), *sets(), 4, method="slcm")
    with pytest.raises(OptionError, match="rs is not trained on rows; leave C out"):
        compress(machine(), *sets(), 4, method="rs", C=1.0)


@pytest.mark.parametrize(
    ("original", "n_vectors", "part"),
    [
        (machine("linear"), 2, "the model is linear"),
        (machine(), 500, "ask for fewer than that, not for 500"),
        (machine(), 0, "must be 1 or more"),
        (model([("rbf", {}), ("rbf", {"gamma": 2.0})], 5, 4, (0, 1, 2)), 2, "mixes 2 kernels"),
    ],
)
def test_what_cannot_be_compressed(original, n_vectors, part):
    with pytest.raises(OptionError, match=part):
        compress(original, *sets(), n_vectors=n_vectors)


def test_rows_of_something_else():
    train_set, test_set = sets()
    with pytest.raises(DataError, match="has 3 features, but the model has 4"):
        narrow, narrow_test = (replace(rows, X=rows.X[:, :3]) for rows in (train_set, test_set))
        compress(machine(), narrow, narrow_test, 4)
    with pytest.raises(DataError, match="label 'virginica', which is no class of the model"):
        compress(machine(), *sets(NAMES[SPECIES]), n_vectors=4)
