"""Every pass keeps the scores, for any model; the folded program keeps them in float32 too."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_models import MIXTURES, cases, make_case, size_of_terms

from sparsegen.errors import ModelError
from sparsegen.kernels import KERNELS, Kernel, Parameter
from sparsegen.kernels.expression import SQDIST, Base, Exp, Param, Sqrt, nodes
from sparsegen.lowering import float_road
from sparsegen.lowering.collapse_linear import collapse_linear
from sparsegen.lowering.fold_preprocessing import MAX_ERROR, fold_preprocessing
from sparsegen.lowering.locate_data import data_like, raw_inputs
from sparsegen.lowering.program import float32
from sparsegen.lowering.prune import prune
from sparsegen.lowering.rounding import rounding_error
from sparsegen.lowering.simulate import float32_scores
from sparsegen.lowering.use_base_two import use_base_two
from sparsegen.model import SparseModel, Transform


def relative_error(scores, case):
    return np.abs(scores - case.model.scores(case.X)).max() / max(1.0, size_of_terms(case.model, case.X))


@pytest.mark.parametrize("step", [prune, collapse_linear, use_base_two])
@settings(max_examples=60, deadline=None)
@given(case=cases())
def test_a_model_pass_keeps_the_scores(step, case):
    assert relative_error(step(case.model).scores(case.X), case) < 1e-8


@settings(max_examples=150, deadline=None)
@given(case=cases(), base_two=st.booleans())
def test_the_program_keeps_the_scores(case, base_two):
    # Its tables are float32: what their rounding may cost is what the pass allows itself.
    assert relative_error(float_road(case.model, base_two=base_two).scores(case.X), case) < MAX_ERROR


@settings(max_examples=100, deadline=None)
@given(case=cases())
def test_the_program_keeps_the_scores_in_float32(case):
    program = float_road(case.model, base_two=True)
    expected = case.model.scores(case.X)
    error = np.abs(float32_scores(program, case.X) - expected).max() / max(1.0, np.abs(expected).max())
    assert error < 1e-4


@pytest.mark.parametrize("offset", [1e3, 1e5, 1e6])
@pytest.mark.parametrize("mixture", MIXTURES, ids="+".join)
def test_float32_survives_large_offsets(mixture, offset):
    for scale in ("one", "each"):
        for projected in (False, True):
            case = make_case(5, mixture, m=6, d=9, offset=offset, scale=scale, projected=projected)
            expected = case.model.scores(case.X)
            found = float32_scores(float_road(case.model, base_two=True), case.X)
            assert np.abs(found - expected).max() < 1e-4 * max(1.0, np.abs(expected).max())


@pytest.mark.parametrize("name", ["rbf", "laplacian"])
def test_float32_survives_an_offset_that_no_scaler_takes_off(name):
    """The vectors tell where the data lies: their centre is taken off."""
    case = make_case(6, (name,), m=6, d=9, offset=1e6, scaled=False)
    program = float_road(case.model, base_two=True)
    assert program.offset is not None
    assert np.abs(program.offset - case.X.mean(axis=0)).max() < 10.0
    assert np.abs(float32_scores(program, case.X) - case.model.scores(case.X)).max() < 1e-4


def test_an_offset_that_float32_cannot_hold_costs_nothing():
    """16777217 rounds to 16777216; the rounding moves into the vectors."""
    X = np.array([[16777216.0], [16777220.0], [16777214.0]])
    rbf = KERNELS["rbf"].bind(gamma=0.5)
    transform = Transform(np.array([16777217.0]), np.array([0.5]))
    model = SparseModel(np.array([[0.0], [1.0]]), np.array([[[1.0, -2.0]]]), np.zeros(1), (rbf,), transform, (0, 1))
    assert np.abs(float32_scores(float_road(model, base_two=True), X) - model.scores(X)).max() < 1e-6


@settings(max_examples=60, deadline=None)
@given(case=cases())
def test_the_estimate_bounds_the_float32_error(case):
    """Up to the error that every form has: that of the coefficients and of the sum of the terms."""
    program = float_road(case.model, base_two=True)
    expected = case.model.scores(case.X)
    error = np.abs(float32_scores(program, case.X) - expected).max() / max(1.0, np.abs(expected).max())
    inherent = 2.0**-21 * size_of_terms(case.model, case.X) / max(1.0, np.abs(expected).max())
    assert error <= 20.0 * rounding_error(program, data_like(case.model)) + inherent


def forms(program):
    buffer = "raw" if program.offset is None else "buffer"
    return [buffer, *(part.form if part.square is None else "squares" for part in program.parts)]


@pytest.mark.parametrize(
    ("mixture", "options", "expected"),
    [
        (("rbf",), {}, ["raw", "squares"]),
        (("rbf",), {"offset": 1.0, "scale": "each"}, ["raw", "squares"]),
        (("rbf",), {"offset": 1e4}, ["buffer", "squares"]),
        (("rbf",), {"offset": 1e4, "scale": "each"}, ["buffer", "squares"]),
        (("laplacian",), {"offset": 1.0, "scale": "common"}, ["raw", "absolute"]),
        (("laplacian",), {"offset": 1.0, "scale": "signed"}, ["raw", "absolute"]),
        (("laplacian",), {"scale": "each"}, ["buffer", "absolute"]),
        (("poly",), {"offset": 1.0, "scale": "each"}, ["raw", "dot"]),
        (("linear",), {"offset": 1e6, "scale": "each"}, ["buffer", "dot"]),
        (("rbf", "rbf"), {}, ["raw", "squares"]),
        (("rbf", "linear", "laplacian"), {}, ["raw", "squares", "dot", "absolute"]),
    ],
)
def test_the_cheapest_accurate_form_is_chosen(mixture, options, expected):
    assert forms(float_road(make_case(3, mixture, **options).model, base_two=True)) == expected


def test_vectors_far_apart_for_their_width_need_differences():
    rng = np.random.default_rng(0)
    vectors, coef = 1e3 * rng.normal(size=(5, 4)), rng.normal(size=(1, 1, 5))
    model = SparseModel(vectors, coef, np.zeros(1), (KERNELS["rbf"].bind(gamma=1.0),), Transform.identity(4), (0, 1))
    program = float_road(model, base_two=True)
    assert program.parts[0].form == "square"
    X = (vectors + 0.3 * rng.normal(size=vectors.shape)).astype(np.float32).astype(np.float64)
    assert np.abs(float32_scores(program, X) - model.scores(X)).max() < 1e-4


def test_a_kernel_that_is_steep_at_its_centre_needs_differences(monkeypatch):
    """exp(-r) turns an error of 1e-7 in r^2 into 3e-4 where a row is a vector; (1 + r) exp(-r) is flat there."""
    steep = Kernel("steep", "exp(-sqrt(gamma * |x - z|^2))", Exp(-Sqrt(Param("gamma") * SQDIST)),
                   {"gamma": Parameter("inverse squared width", 1.0, positive=True)}, "gamma")  # fmt: skip
    monkeypatch.setitem(KERNELS._entries, "steep", steep)
    for offset in (0.0, 100.0, 1e6):
        for name, form in (("steep", "square"), ("matern32", "dot")):
            case = make_case(3, (name,), offset=offset)
            program = float_road(case.model, base_two=True)
            assert [part.form for part in program.parts] == [form]
            X = float32(np.vstack([raw_inputs(case.model), case.X])).astype(np.float64)
            assert np.abs(float32_scores(program, X) - case.model.scores(X)).max() < 1e-4


def test_kernels_that_use_their_base_twice_share_a_loop():
    """The argument of the wider one is scaled in every place."""
    (part,) = float_road(make_case(1, ("matern32", "matern32", "rbf")).model, base_two=True).parts
    assert len(part.outers) == 3
    scaled = [node for outer in part.outers for node in nodes(outer) if isinstance(node, Sqrt)]
    assert len(scaled) == 4
    assert len(set(scaled)) == 2


def test_two_gaussians_share_a_loop_and_two_polynomials_do_not():
    assert [len(p.outers) for p in float_road(make_case(1, ("rbf", "rbf")).model).parts] == [2]
    assert sum(len(p.outers) for p in float_road(make_case(1, ("rbf", "poly", "rbf")).model).parts) == 3


def test_prune_merges_copies_and_drops_the_weightless():
    case = make_case(2, ("rbf",), m=6, duplicates=True)
    pruned = prune(case.model)
    assert pruned.n_vectors == 4
    assert np.array_equal(pruned.vectors, case.model.vectors[[0, 3, 4, 5]])
    assert np.allclose(pruned.coef[:, :, 0], case.model.coef[:, :, 0] + case.model.coef[:, :, 1])


def test_prune_keeps_a_vector_of_a_constant_classifier():
    case = make_case(2, ("poly",))
    model = SparseModel(case.model.vectors, 0.0 * case.model.coef, np.array([1.0, 2.0, 0.0]), case.model.kernels,
                        case.model.transform, (0, 1, 2))  # fmt: skip
    assert prune(model).n_vectors == 1
    assert np.allclose(float_road(model).scores(case.X), [1.0, 2.0, 0.0])


@pytest.mark.parametrize("n_classes", [2, 4])
def test_a_linear_model_has_one_vector_per_output_and_no_projection(n_classes):
    case = make_case(4, ("linear",), m=9, d=8, n_classes=n_classes, projected=True, offset=1.0, scale="each")
    collapsed = collapse_linear(case.model)
    assert collapsed.n_vectors == collapsed.n_outputs
    assert collapsed.transform.projection is None
    assert relative_error(collapsed.scores(case.X), case) < 1e-12


def test_a_linear_model_keeps_a_projection_that_saves_constants():
    case = make_case(4, ("linear",), m=30, d=8, n_classes=5, projected=True)
    narrow = SparseModel(case.model.vectors[:, :1], case.model.coef, case.model.intercept, case.model.kernels,
                         Transform(np.zeros(8), np.ones(8), np.ones((1, 8))), case.model.classes)  # fmt: skip
    assert collapse_linear(narrow).transform.projection is not None


def test_other_kernels_are_not_collapsed():
    model = make_case(1, ("poly",)).model
    assert model.kernels[0].expression != Base("dot")
    assert collapse_linear(model) is model


def test_raw_inputs_are_taken_to_the_vectors():
    for projected in (False, True):
        model = make_case(8, ("rbf",), d=9, offset=3.0, scale="each", projected=projected).model
        assert np.allclose(model.transform(raw_inputs(model)), model.vectors)


def test_a_scale_beyond_float32_falls_back_to_the_buffer():
    """The weights of the squares would underflow; the buffer holds the scaled features instead."""
    rng = np.random.default_rng(1)
    scale = np.array([1e-25, 1.0, 2.0])
    model = SparseModel(rng.normal(size=(4, 3)), rng.normal(size=(1, 1, 4)), np.zeros(1),
                        (KERNELS["rbf"].bind(gamma=0.3),), Transform(np.zeros(3), scale), (0, 1))  # fmt: skip
    X = rng.normal(size=(10, 3)) / scale
    assert np.abs(float32_scores(float_road(model, base_two=True), X) - model.scores(X.astype(np.float32))).max() < 1e-5


def test_no_accurate_form_gives_the_best_there_is():
    case = make_case(9, ("poly",), m=3, d=3, offset=1e6, scaled=False)
    program = fold_preprocessing(case.model, data_like(case.model))
    assert np.isfinite(program.scores(case.X)).all()
    assert MAX_ERROR < 1e-4


def test_values_beyond_float32_are_one_sentence():
    with pytest.raises(ModelError, match=r"the value -1e\+39 does not fit in float32; rescale the features"):
        float32(np.array([[1.0, -1e39]]))
    assert float32(np.array(0.1)).dtype == np.float32
