"""Copies, pickles and skops files hold a model's file, which is checked when it comes back."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from golden_models import SMALL, rows
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sparsegen
from sparsegen.errors import ModelError
from sparsegen.model import SparseModel

OF = SMALL["rbf_projected"]


@pytest.mark.parametrize("twin_of", [copy.copy, copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_a_copy_is_the_model(twin_of):
    twin = twin_of(OF)
    assert twin == OF and hash(twin) == hash(OF) and twin.sha256 == OF.sha256
    assert np.array_equal(twin.scores(rows(OF)), OF.scores(rows(OF)))
    assert not twin.vectors.flags.writeable
    with pytest.raises(TypeError):
        twin.card["accuracy"] = 1.0


def test_a_pickle_of_an_earlier_version_still_loads():
    class Earlier:
        def __reduce__(self):
            return SparseModel.from_bytes, (OF.to_bytes(),)

    assert pickle.loads(pickle.dumps(Earlier())) == OF


@pytest.mark.parametrize("state", [{}, {"file": "text"}, None, {"vectors": 1}, {"file": OF.to_bytes()[:-1]}])
def test_what_is_no_model_file_never_becomes_a_model(state):
    made = SparseModel.__new__(SparseModel)
    with pytest.raises(ModelError):
        made.__setstate__(state)


def test_skops_keeps_a_fitted_estimator():
    io = pytest.importorskip("skops.io", reason="skops is not installed")
    X = rows(OF)
    y = np.where(X[:, 0] > 0, "up", "down")
    fitted = make_pipeline(StandardScaler(), sparsegen.SVM(gamma=0.5)).fit(X, y)
    content = io.dumps(fitted)
    asked = io.get_untrusted_types(data=content)
    assert asked == ["sparsegen.methods.svm.SVM", "sparsegen.model.sparse_model.SparseModel"]
    twin = io.loads(content, trusted=asked)
    assert np.array_equal(twin.predict(X), fitted.predict(X))
    assert sparsegen.from_sklearn(twin) == sparsegen.from_sklearn(fitted)
