from __future__ import annotations

import numpy as np
import pytest
from reference import Rows, differences
from reference import multiple_kernels as reference
from three_kernels import GAMMAS, LOSSES, MU, over, signs, stack

from sparsegen.methods.shared.mixture_rows import ARRAYS_PER_BLOCK, MixtureInMemory, StackBlock
from sparsegen.methods.shared.mixture_search import JointObjective
from sparsegen.methods.shared.multiple_kernels import MixtureObjective
from sparsegen.methods.shared.ridge import RIDGE
from sparsegen.methods.shared.slmc_objective import SlmcObjective
from sparsegen.methods.smkc1 import Smkc1Objective
from sparsegen.methods.smkc2 import Smkc2Objective
from sparsegen.solvers import blocks, newton
from sparsegen.solvers.newton import Loss, Solution

NAMES = ("rbf", "laplacian")
OBJECTIVES: dict[str, type[MixtureObjective]] = {"smkc1": Smkc1Objective, "smkc2": Smkc2Objective}


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("method", OBJECTIVES)
def test_objective_is_the_svm_on_the_equivalent_kernel(method: str, name: str, loss: str, four_classes: Rows) -> None:
    X, y = four_classes[0][:40], four_classes[1][:40]
    Z, Y = X[:5] + 0.1, signs(y)
    for mu in (MU, np.array([0.0, 0.7, 0.3]), np.array([0.0, 1.0, 0.0])):
        optimum = over(OBJECTIVES[method], X, Y, stack(name), Loss(loss, 1.5)).optimum(Z, mu)
        expected = reference.objective(method, name, GAMMAS, X, Y, Z, mu, 1.5, loss, RIDGE)
        assert optimum.solution.objective == pytest.approx(expected, rel=5e-6)
        assert isinstance(optimum.solution, Solution)
        a = optimum.solution.alpha * Y
        outputs = reference.equivalent(method, name, GAMMAS, X, Z, mu, RIDGE) @ a  # [H09, eq. 21, 28]
        found = np.einsum("okm,knm->no", optimum.coef, StackBlock(stack(name), X, Z).values)
        assert np.allclose(found, outputs, atol=1e-5 * np.abs(outputs).max())
        assert np.allclose(optimum.coef, (mu[:, None, None] * optimum.B).transpose(1, 0, 2), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("method", OBJECTIVES)
def test_gradients_are_the_limits_of_differences(
    method: str, name: str, loss: str, several: bool, four_classes: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(newton, "GAP", 1e-12)
    X, y = four_classes[0][:60], four_classes[1][:60]
    Z = np.random.default_rng(3).normal(size=(4, 3))
    C = np.random.default_rng(4).uniform(0.1, 4.0, 60) if several else 2.0  # rows weigh alike in half of the tests
    objective = over(OBJECTIVES[method], X, signs(y if several else y % 2), stack(name), Loss(loss, C))
    value, in_Z, in_mu = objective.in_both(Z, MU)
    same, same_in_mu = objective.in_weights(Z, MU)
    assert same == pytest.approx(value)
    assert np.allclose(same_in_mu, in_mu)
    expected = differences(lambda moved: objective.in_both(moved, MU)[0], Z, 1e-5)
    assert np.allclose(in_Z, expected, rtol=1e-4, atol=1e-5 * value)
    expected = differences(lambda moved: objective.in_weights(Z, moved)[0], MU, 1e-5)
    assert np.allclose(in_mu, expected, rtol=1e-4, atol=1e-5 * value)


@pytest.mark.parametrize("anchor", [0, 1, 2])
@pytest.mark.parametrize("method", OBJECTIVES)
def test_joint_gradient_is_the_limit_of_differences(
    method: str, anchor: int, four_classes: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(newton, "GAP", 1e-12)
    X, y = four_classes[0][:60], four_classes[1][:60]
    Z = np.random.default_rng(3).normal(size=(4, 3))
    joint = JointObjective(over(OBJECTIVES[method], X, signs(y), stack(), Loss("squared_hinge", 2.0)), Z.shape, anchor)
    theta = joint.pack(Z, MU)
    assert len(theta) == Z.size + len(MU) - 1
    assert all(np.allclose(found, given) for found, given in zip(joint.unpack(theta), (Z, MU), strict=True))
    value, gradient = joint(theta)
    expected = differences(lambda moved: joint(moved)[0], theta, 1e-5)
    assert np.allclose(gradient, expected, rtol=1e-4, atol=1e-5 * value)


def test_gradient_of_a_kernel_without_weight(four_classes: Rows) -> None:
    """It tells whether the kernel should come back; one-sided differences show it."""
    X, y = four_classes
    Z, mu, step = X[:4], np.array([0.0, 0.6, 0.4]), 1e-6
    for kind in OBJECTIVES.values():
        objective = over(kind, X, signs(y), stack(), Loss("squared_hinge", 1.0))
        value, g = objective.in_weights(Z, mu)
        more, _ = objective.in_weights(Z, mu + np.array([step, 0.0, 0.0]))
        assert g[0] == pytest.approx((more - value) / step, rel=1e-3, abs=1e-3)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("method", OBJECTIVES)
def test_one_kernel_is_slmc(method: str, loss: str, four_classes: Rows) -> None:
    X, y = four_classes
    Z, one = X[:6] + 0.05, np.ones(1)
    value, gradient = SlmcObjective(X, signs(y), stack()[1], Loss(loss, 2.0))(Z, None)
    found, found_gradient, _ = over(OBJECTIVES[method], X, signs(y), stack()[1:2], Loss(loss, 2.0)).in_both(Z, one)
    assert found == pytest.approx(value, rel=1e-7)
    assert np.allclose(found_gradient.ravel(), gradient, rtol=1e-3, atol=1e-4 * np.abs(gradient).max())


@pytest.mark.parametrize("block_rows", [1, 17, 159])
@pytest.mark.parametrize("method", OBJECTIVES)
def test_small_blocks_are_one_block(method: str, block_rows: int, four_classes: Rows) -> None:
    X, y = four_classes
    Z = X[:6]
    whole, parts = (
        over(OBJECTIVES[method], X, signs(y), stack(), Loss("squared_hinge", 1.0), b) for b in (None, block_rows)
    )
    value, *gradients = whole.in_both(Z, MU)
    value_parts, *gradients_parts = parts.in_both(Z, MU)
    assert value_parts == pytest.approx(value, rel=1e-9)
    for gradient, gradient_parts in zip(gradients, gradients_parts, strict=True):
        assert np.allclose(gradient_parts, gradient, rtol=1e-6, atol=1e-6 * np.abs(gradient).max())


def test_memory_bound_decides_the_block(two_classes: Rows, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 8 * ARRAYS_PER_BLOCK * 3 * 5 * 50)
    X, y = two_classes
    rows = MixtureInMemory(X, signs(y), Loss("hinge", 1.0))
    assert [block.values.shape for _, block in rows._blocks(stack(), X[:5])] == [(3, n, 5) for n in (50, 50, 20)]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("method", OBJECTIVES)
def test_kernels_without_weight_can_be_left_out(method: str, loss: str, four_classes: Rows) -> None:
    X, y = four_classes
    Z, mu, active = X[:5] + 0.1, np.array([0.0, 0.6, 0.4]), np.array([1, 2])
    whole = over(OBJECTIVES[method], X, signs(y), stack(), Loss(loss, 2.0))
    value, gradient, _ = whole.in_both(Z, mu)
    part = whole.only(active)
    assert [dict(kernel.params)["gamma"] for kernel in part.kernels] == GAMMAS[1:]
    found, found_gradient, _ = part.in_both(Z, mu[active])
    assert found == pytest.approx(value, rel=1e-7)
    assert np.allclose(found_gradient, gradient, rtol=1e-4, atol=1e-5 * np.abs(gradient).max())
