"""Python, C on every device, and ONNX agree on every row, for every kernel, and on ties."""

from __future__ import annotations

import numpy as np
import pytest
from golden_models import EVERY, model, rows

from sparsegen.devices import DEVICES
from sparsegen.kernels import KERNELS
from sparsegen.model import LARGEST, VOTES, SparseModel
from sparsegen.targets import TARGETS
from sparsegen.verify import verify

# Packages hold the same C, which test_packages.py runs on emulated devices: here the host is enough for them.
PAIRS = [
    (t, d)
    for t in TARGETS
    for d in DEVICES
    if DEVICES[d].runs == ("onnx" if t == "onnx" else "c") and (t in ("c", "onnx") or d == "host")
]


def require(device):
    reason = DEVICES[device].missing()
    if reason is not None:
        pytest.skip(f"{device}: {reason}")


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(("target", "device"), PAIRS)
def test_every_target_on_every_device_for_every_kernel(target, device, kernel):
    require(device)
    of = model([(kernel, {})], 5, 4, ("a", "b", "c") if list(KERNELS).index(kernel) % 2 else (3, 7))
    X = rows(of, 60)
    (verdict,) = verify(of, X, of.predict(X), target=target, devices=[device])
    assert verdict.ok, verdict
    assert (verdict.rows, verdict.mismatches, verdict.accuracy) == (60, 0, 1.0)
    assert verdict.relative_difference < 1e-5


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("device", ["host", "cortex-m0plus", "onnxruntime"])
def test_every_kind_of_model(device, name):
    require(device)
    (verdict,) = verify(
        EVERY[name], rows(EVERY[name]), target="onnx" if device == "onnxruntime" else "c", devices=[device]
    )
    assert verdict.ok, verdict


def tied(n_classes, coef, intercept, decision=LARGEST):
    of = model([("linear", {})], 1, 2, tuple(range(n_classes)), decision=decision)
    vectors = np.array([[1.0, 0.0]])
    return SparseModel(vectors, coef, intercept, of.kernels, of.transform, of.classes, decision=decision)


TIES = {
    "a score of 0 is class 0": (tied(2, np.array([[[2.0]]]), np.zeros(1)), [0, 1, 0]),
    "equal scores go to the first": (tied(3, np.zeros((3, 1, 1)), np.ones(3)), [0, 0, 0]),
    "a tie of the later two": (tied(3, np.array([[[0.0]], [[1.0]], [[1.0]]]), np.array([0.0, 0.5, 0.5])), [1, 1, 0]),
    "a tie of the first and last": (
        tied(3, np.array([[[1.0]], [[0.0]], [[1.0]]]), np.array([1.0, 0.0, 1.0])),
        [0, 0, 1],
    ),
    "a vote each is the first": (tied(3, np.array([[[1.0]], [[-1.0]], [[1.0]]]), np.zeros(3), VOTES), [2, 0, 0]),
    "a score of 0 is a vote for the second": (tied(3, np.zeros((3, 1, 1)), np.zeros(3), VOTES), [2, 2, 2]),
    "equal votes of the middle two": (
        tied(4, np.zeros((6, 1, 1)), np.array([-1.0, -1.0, 1.0, 1.0, -1.0, 1.0]), VOTES),
        [1, 1, 1],
    ),
}


@pytest.mark.parametrize("name", TIES)
def test_ties_go_to_the_first_everywhere(name):
    of, expected = TIES[name]
    X = np.array([[0.0, 5.0], [1.0, 0.0], [-1.5, 0.0]])
    assert of.predict_index(X).tolist() == expected
    for target, device in (("c", "host"), ("c", "cortex-m4f"), ("onnx", "onnxruntime")):
        if DEVICES[device].missing() is None:
            out = DEVICES[device].run(TARGETS[target].export(of, "m"), X.astype(np.float32))
            assert out.labels.tolist() == expected, device
