"""Every kernel of the registry: blocks against loops, gradients against differences, parameters against their rules."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from reference import differences
from reference import kernels as reference

from sparsegen.errors import OptionError
from sparsegen.kernels import KERNELS, BoundKernel, Parameter
from sparsegen.kernels._sign_sums import sign_sums
from sparsegen.kernels.bases import BASES

Array = NDArray[np.float64]
entries = st.floats(-3.0, 3.0).map(lambda v: round(v, 3))


@pytest.fixture(params=KERNELS)
def kernel(request: pytest.FixtureRequest) -> BoundKernel:
    return KERNELS[request.param].bind(**reference.parameters(request.param))


@pytest.fixture
def blocks() -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(9, 4)), rng.normal(size=(5, 4)), rng.normal(size=(9, 5))


@pytest.mark.parametrize("name", KERNELS)
@settings(max_examples=30, deadline=None)
@given(X=arrays(np.float64, (4, 3), elements=entries), Z=arrays(np.float64, (2, 3), elements=entries))
def test_gram_block_is_the_formula_entry_by_entry(name: str, X: Array, Z: Array) -> None:
    bound = KERNELS[name].bind(**reference.parameters(name))
    assert np.allclose(bound.gram(X, Z), reference.gram(name, dict(bound.params), X, Z), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", BASES)
def test_base_block_is_the_base_entry_by_entry(name: str, blocks: tuple[Array, Array, Array]) -> None:
    X, Z, _ = blocks
    loops = [[reference.BASES[name](x, z) for z in Z] for x in X]
    assert np.allclose(BASES[name].block(X, Z), loops, rtol=1e-12)


def test_gram_of_a_matrix_with_itself_is_symmetric_and_positive(kernel: BoundKernel) -> None:
    X = np.random.default_rng(1).normal(size=(12, 4))
    K = kernel.gram(X, X)
    assert np.allclose(K, K.T, rtol=1e-12)
    assert np.linalg.eigvalsh(K).min() > -1e-9 * np.trace(K)


def test_gradient_on_the_right_is_the_limit_of_differences(
    kernel: BoundKernel, blocks: tuple[Array, Array, Array]
) -> None:
    X, Z, weights = blocks
    assert np.allclose(
        kernel.block(X, Z).gradient(weights),
        differences(lambda moved: float((weights * kernel.gram(X, moved)).sum()), Z),
        rtol=1e-6, atol=1e-7,
    )  # fmt: skip


def test_gradient_on_the_left_is_the_limit_of_differences(
    kernel: BoundKernel, blocks: tuple[Array, Array, Array]
) -> None:
    X, Z, weights = blocks
    assert np.allclose(
        kernel.block(X, Z).gradient_left(weights),
        differences(lambda moved: float((weights * kernel.gram(moved, Z)).sum()), X),
        rtol=1e-6, atol=1e-7,
    )  # fmt: skip


def test_gradient_of_a_matrix_with_itself(kernel: BoundKernel) -> None:
    """What SLMC uses: for a symmetric weight, the gradient of half the sum is the one-sided gradient."""
    rng = np.random.default_rng(2)
    Z, beta = rng.normal(size=(5, 3)), rng.normal(size=5)
    one_sided = kernel.block(Z, Z).gradient(np.outer(beta, beta))
    both = differences(lambda moved: float(0.5 * beta @ kernel.gram(moved, moved) @ beta), Z)
    assert np.allclose(one_sided, both, rtol=1e-6, atol=1e-7)


@given(
    B=arrays(np.float64, (4, 2), elements=entries),
    X=arrays(np.float64, (4, 3), elements=st.integers(-2, 2).map(float)),
    Z=arrays(np.float64, (2, 3), elements=st.integers(-2, 2).map(float)),
)
@settings(deadline=None)
def test_sign_sums_equals_its_twin_ties_included(B: Array, X: Array, Z: Array) -> None:
    out = np.ones_like(Z)
    sign_sums(B, X, Z, out)
    assert np.allclose(out, 1.0 + reference.sign_sums(B, X, Z))


def test_a_common_offset_costs_no_digits() -> None:
    rng = np.random.default_rng(3)
    X, Z = rng.normal(size=(20, 4)), rng.normal(size=(6, 4))
    exact = BASES["sqdist"].block(X, Z)
    assert np.allclose(BASES["sqdist"].block(X + 1e6, Z + 1e6), exact, rtol=1e-7)
    assert BASES["sqdist"].block(Z + 1e6, Z + 1e6).min() >= 0.0
    assert np.allclose(BASES["sqdist"].block(X + 1e6, Z[:1] + 1e6), exact[:, :1], rtol=1e-7)


@pytest.mark.parametrize("name", KERNELS)
def test_defaults_can_be_bound_and_are_documented(name: str) -> None:
    family = KERNELS[name]
    bound = family.bind()
    assert dict(bound.params) == {key: p.default for key, p in family.parameters.items()}
    assert family.formula
    assert all(p.meaning for p in family.parameters.values())
    assert pickle.loads(pickle.dumps(bound)) == bound
    assert hash(bound) == hash(family.bind())


@pytest.mark.parametrize(
    ("name", "params", "message"),
    [
        ("rbf", {"gamma": 0.0}, "gamma is 0.0, but must be a number > 0"),
        ("rbf", {"gamma": -1.0}, "must be a number > 0"),
        ("rbf", {"gamma": np.nan}, "must be a number > 0"),
        ("rbf", {"gamma": np.inf}, "must be a number > 0"),
        ("rbf", {"gamma": "1"}, "must be a number > 0"),
        ("rbf", {"gamma": "\x1b[31m"}, r"gamma is '\\x1b\[31m', but must be a number > 0"),
        ("rbf", {"gamma": True}, "must be a number > 0"),
        ("rbf", {"gamma": None}, "must be a number > 0"),
        ("rbf", {"gamma": 10**400}, "must be a number > 0"),
        ("poly", {"coef0": -1.0}, "must be a number >= 0"),
        ("poly", {"degree": 2.5}, "must be a whole number >= 1 and <= 64"),
        ("poly", {"degree": 1e300}, "must be a whole number >= 1 and <= 64"),
        ("linear", {"gamma": 1.0}, "kernel 'linear' has no parameter gamma"),
        ("linear", {"\x1b[31m": 1.0}, r"kernel 'linear' has no parameter \\x1b\[31m"),
    ],
)
def test_bad_parameters_are_one_sentence(name: str, params: dict[str, float], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        KERNELS[name].bind(**params)


def test_numpy_numbers_are_numbers() -> None:
    assert Parameter("p", 1.0, whole=True).check("p", np.int64(3)) == 3.0
    assert Parameter("p", 1.0).check("p", np.float32(0.5)) == 0.5


def test_traits_follow_from_the_expression(kernel: BoundKernel) -> None:
    family = KERNELS[kernel.name]
    assert family.is_radial == kernel.is_radial
    assert kernel.is_radial or not (kernel.has_unit_diagonal or kernel.falls or kernel.is_gaussian)
    assert family.scale_parameter is None or family.scale_parameter in family.parameters
    X = np.random.default_rng(4).normal(size=(8, 3))
    assert kernel.has_unit_diagonal == (kernel.is_radial and np.allclose(np.diag(kernel.gram(X, X)), 1.0))
    if kernel.falls:
        values = kernel.gram(np.linspace(0.0, 20.0, 400)[:, None], np.zeros((1, 1)))[:, 0]
        assert values[0] == 1.0
        assert values[-1] >= 0.0
        assert np.all(np.diff(values) <= 0.0)


def test_lists_of_kernels_need_neither_numba_nor_scipy() -> None:
    script = (
        "import sys; from sparsegen.kernels import KERNELS; list(KERNELS); print({'numba', 'scipy'} & {*sys.modules})"
    )
    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert printed.stdout.strip() == "set()"
