"""One registration is all a kernel takes: training, gradient, model file, C and ONNX follow; tried with two others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from golden_models import model, rows
from reference import Rows, differences
from reference import kernels as reference

from sparsegen import SLMC, SparseModel
from sparsegen.devices import DEVICES
from sparsegen.errors import KernelError
from sparsegen.kernels import KERNELS, Kernel, Parameter
from sparsegen.kernels.expression import L1DIST, SQDIST, Exp, Param, Sqrt
from sparsegen.lowering.formats import Format
from sparsegen.model import Transform
from sparsegen.targets import TARGETS
from sparsegen.verify import verify

GAMMA = Parameter("inverse squared width", 0.5, positive=True)
ROOT = Sqrt(5 * Param("gamma") * SQDIST)
STRANGERS = (
    Kernel(
        "stranger_smooth",
        "(1 + s + s^2 / 3) * exp(-s), s = sqrt(5 * gamma * |x - z|^2)",
        (1 + ROOT + ROOT**2 / 3) * Exp(-ROOT),
        {"gamma": GAMMA},
        scale_parameter="gamma",
    ),
    Kernel(
        "stranger_slow",
        "1 / sqrt(1 + gamma * |x - z|^2)",
        1 / Sqrt(1 + Param("gamma") * SQDIST),
        {"gamma": GAMMA},
        scale_parameter="gamma",
    ),
    Kernel(
        "stranger_rational",
        "(1 / (1 + gamma * |x - z|_1))^3 / 2 + exp(-gamma * |x - z|_1) / 2",
        (1 / (1 + Param("gamma") * L1DIST)) ** 3 / 2 + Exp(-(Param("gamma") * L1DIST)) / 2,
        {"gamma": GAMMA},
        scale_parameter="gamma",
    ),
)
OWN_NAMES = Kernel(
    "stranger_own_names",
    "(1 / (1 + sharpness * |x - z|^2))^tail",
    (1 / (1 + Param("sharpness") * SQDIST)) ** Param("tail"),
    {
        "sharpness": Parameter("inverse squared width", 0.4, positive=True),
        "tail": Parameter("how fast it falls far away", 2.0, minimum=1.0, maximum=9.0, whole=True),
    },
    scale_parameter="sharpness",
)


@pytest.fixture(params=(*STRANGERS, OWN_NAMES), ids=lambda kernel: kernel.name)
def stranger(request: pytest.FixtureRequest) -> Iterator[Kernel]:
    """A kernel that is in the registry for one test."""
    list(KERNELS)  # so that no test finds a registry with the stranger only
    yield KERNELS.register(request.param.name)(request.param)
    del KERNELS._entries[request.param.name]


def test_gram_block_and_gradient(stranger: Kernel) -> None:
    rng = np.random.default_rng(0)
    X, Z, weights = rng.normal(size=(9, 4)), rng.normal(size=(5, 4)), rng.normal(size=(9, 5))
    kernel = KERNELS[stranger.name].bind()
    assert np.allclose(kernel.gram(X, Z), reference.gram(stranger.name, dict(kernel.params), X, Z), rtol=1e-10)
    expected = differences(lambda moved: float((weights * kernel.gram(X, moved)).sum()), Z)
    assert np.allclose(kernel.block(X, Z).gradient(weights), expected, rtol=1e-6, atol=1e-7)
    assert kernel.falls


def test_training_and_its_file(stranger: Kernel, two_classes: Rows, tmp_path: Path) -> None:
    trained = SLMC(6, kernel=stranger.name, random_state=0, max_iter=30).fit(*two_classes)
    assert trained.score(*two_classes) > 0.8
    trained.model_.save(tmp_path / "m.safetensors")
    assert SparseModel.load(tmp_path / "m.safetensors") == trained.model_
    for target, device in (("c", "host"), ("onnx", "onnxruntime")):
        (verdict,) = verify(trained.model_, two_classes[0], target=target, devices=[device])
        assert verdict.ok
        assert verdict.relative_difference < 1e-5
    for dtype in ("q15", "q7"):
        numbers = Format(dtype, rows=two_classes[0])
        (verdict,) = verify(trained.model_, two_classes[0], devices=["host"], numbers=numbers)
        assert verdict.ok
        assert verdict.same_labels is not None and verdict.same_labels > 0.9


@pytest.mark.parametrize(("target", "device"), [("c", "host"), ("c", "cortex-m0plus"), ("onnx", "onnxruntime")])
def test_exports(stranger: Kernel, target: str, device: str) -> None:
    if (reason := DEVICES[device].missing()) is not None:
        pytest.skip(reason)
    of = model([(stranger.name, {})], 5, 4, ("a", "b", "c"))
    (verdict,) = verify(of, np.vstack([rows(of), of.vectors]), target=target, devices=[device])
    assert verdict.ok
    assert verdict.relative_difference < 1e-5


def test_c_computes_what_terms_share_once(stranger: Kernel) -> None:
    source = TARGETS["c"].export(model([(stranger.name, {})], 5, 4, (0, 1)), "m").files["m.c"].decode()
    body = source[source.index("void m_scores") :]
    assert body.count("m_sqrt(") == (stranger.name in ("stranger_smooth", "stranger_slow"))
    assert body.count("1.0f / ") == (stranger.name != "stranger_smooth")


def test_a_refused_kernel_is_not_registered() -> None:
    before = list(KERNELS)
    with pytest.raises(KernelError, match=r"Reciprocal"):
        KERNELS.register("broken")(Kernel("broken", "?", (1 + SQDIST) ** -1))
    assert list(KERNELS) == before


@pytest.mark.parametrize("dtype", ["q15", "q7"])
def test_far_clusters_do_not_overflow_a_slow_kernel(stranger: Kernel, dtype: str) -> None:
    """Vectors thousands of widths apart: a table that reaches from next to nothing to 2^31."""
    rng = np.random.default_rng(0)
    centres = np.where(np.arange(60)[:, None] % 2, 5000.0, -5000.0)
    X = np.vstack([centres + 0.7 * rng.normal(size=(60, 3)), 5000.0 * rng.uniform(-1.0, 1.0, (40, 3))])
    of = SparseModel(
        X[:6], rng.normal(size=(1, 1, 6)), np.zeros(1), (stranger.bind(),), Transform.identity(3), ("low", "high")
    )
    (verdict,) = verify(of, X, devices=["host"], numbers=Format(dtype, rows=X))
    assert verdict.ok
