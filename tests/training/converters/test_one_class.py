"""OneClassSVM converts: the same scores and decisions, in Python and in its C."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

from sparsegen import from_sklearn
from sparsegen.devices import DEVICES
from sparsegen.lowering.formats import Format
from sparsegen.methods.slmo import SLMOneClass
from sparsegen.verify import verify

ROWS = np.random.default_rng(4).normal(size=(60, 3)) @ np.array([[2.0, 0.5, 0.0], [0.0, 1.0, 0.3], [0.0, 0.0, 0.2]])
NEW = np.random.default_rng(5).normal(size=(80, 3)) * 2.0


def detectors() -> dict[str, Any]:
    """Return detectors of several kernels, alone and behind what scales and projects."""
    kernels: dict[str, dict[str, Any]] = {
        "rbf": {"gamma": 0.3},
        "poly": {"gamma": 0.2, "degree": 2, "coef0": 1.0},
        "linear": {},
    }
    alone = {kernel: OneClassSVM(kernel=kernel, nu=0.2, **options) for kernel, options in kernels.items()}
    return {
        **alone,
        "scaled": make_pipeline(StandardScaler(), OneClassSVM(nu=0.1)),
        "projected": make_pipeline(StandardScaler(), PCA(2), OneClassSVM(nu=0.1)),
        "ours": make_pipeline(StandardScaler(), SLMOneClass(4, max_iter=5)),
    }


@pytest.mark.parametrize("name", detectors())
def test_same_scores_and_decisions(name: str) -> None:
    detector = detectors()[name].fit(ROWS)
    model = from_sklearn(detector)
    assert (model.task, model.classes) == ("anomaly", ("anomaly", "normal"))
    scores = detector.decision_function(NEW)
    assert_allclose(model.scores(NEW)[:, 0], scores, atol=1e-9 * np.abs(scores).max())
    clear = np.abs(scores) > 1e-9
    assert_array_equal(model.predict(NEW)[clear], np.where(detector.predict(NEW)[clear] == 1, "normal", "anomaly"))


@pytest.mark.parametrize("device", ["host", "cortex-m0plus"])
@pytest.mark.parametrize("dtype", ["f32", "q15"])
def test_same_decisions_on_devices(device: str, dtype: str) -> None:
    if reason := DEVICES[device].missing():
        pytest.skip(reason)
    model = from_sklearn(make_pipeline(StandardScaler(), OneClassSVM(nu=0.1)).fit(ROWS))
    (verdict,) = verify(model, NEW, devices=[device], numbers=Format(dtype, rows=NEW if dtype == "q15" else None))
    assert verdict.ok, str(verdict)
