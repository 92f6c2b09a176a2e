"""Plans: what they refuse, and what they read from a model, whose card may be anybody's."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sparsegen.budget.plan import Plan, scale_of
from sparsegen.errors import OptionError
from sparsegen.kernels import KERNELS
from sparsegen.lowering.formats import Format
from sparsegen.model import SparseModel, Transform

RBF = KERNELS["rbf"].bind(gamma=0.5)


def made(card=None, projection=None):
    rng = np.random.default_rng(0)
    p = 6 if projection is None else len(projection)
    vectors = rng.normal(size=(4, p))
    return SparseModel(
        vectors=np.vstack([vectors, vectors[:1]]),  # a copy, which no export stores
        coef=rng.normal(size=(3, 1, 5)),
        intercept=np.zeros(3),
        kernels=(RBF,),
        transform=Transform(np.zeros(6), np.ones(6), projection),
        classes=(0, 1, 2),
        card=card or {},
    )


def test_a_plan_of_a_model_says_what_its_export_holds():
    card = {"scale": "minmax", "parameters": {"C": 3.0, "feature_scales": True, "pool": "2x3/1x3"}}
    plan = Plan.of(made(card, np.ones((2, 6))), Format("q7", "grid", early_exit=True))
    assert (plan.n_features, plan.n_outputs, plan.n_vectors, plan.n_projected) == (6, 3, 4, 2)
    assert (plan.scale, plan.C, plan.feature_scales, plan.pool) == ("minmax", 3.0, True, "2x3/1x3")
    assert plan.format == Format("q7", "grid", early_exit=True)


@pytest.mark.parametrize(
    "card",
    [
        {"scale": "sideways", "parameters": {"C": "many", "pool": "9x9/1x1", "feature_scales": "yes"}},
        {"scale": ["none"], "parameters": {"C": -1.0, "pool": 3}},
        {"scale": {"a": 1}, "parameters": {"C": True, "pool": "nonsense"}},
        {"parameters": None},
    ],
)
def test_what_a_card_says_wrongly_is_left_out(card):
    plan = Plan.of(made(card, np.ones((2, 6))))
    assert (plan.scale, plan.C, plan.pool, plan.feature_scales) == ("standard", 1.0, None, False)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"n_features": 0}, "at least one of its features"),
        ({"n_vectors": -1}, "at least one of its vectors"),
        ({"n_projected": 0}, "at least one of its projected values"),
        ({"kernels": ()}, "at least one kernel"),
        ({"scale": "sideways"}, "choose one of: standard, minmax, none"),
        ({"gamma": 0.0}, "the gamma of a plan must be positive"),
        ({"C": float("inf")}, "the C of a plan must be positive and finite"),
    ],
)
def test_a_plan_without_sense_is_refused_in_a_sentence(change, sentence):
    with pytest.raises(OptionError, match=sentence):
        replace(Plan(4, 3, 10, (RBF,)), **change)


def test_several_kernels_keep_their_ratios():
    plan = Plan(4, 1, 10, (RBF, KERNELS["rbf"].bind(gamma=2.0)), gamma=1.0).with_scale(0.125)
    assert [scale_of(kernel) for kernel in plan.kernels] == [0.125, 0.5]
    assert plan.gamma is None


def test_a_kernel_without_a_scale_stays_as_it_is():
    plan = Plan(4, 1, 10, (KERNELS["linear"].bind(),))
    assert plan.with_scale(3.0) == plan
    assert plan.is_linear
