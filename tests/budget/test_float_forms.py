"""Float forms: those there are, and those that a trained model may get."""

from __future__ import annotations

import numpy as np

from sparsegen.budget.code_shape import code_shape
from sparsegen.budget.float_forms import float_forms, likely_forms
from sparsegen.kernels import KERNELS
from sparsegen.lowering import float_road
from sparsegen.lowering.fold_preprocessing import MAX_ERROR
from sparsegen.model import SparseModel, Transform


def test_the_form_that_the_lowering_takes_is_the_likeliest():
    rng = np.random.default_rng(1)
    for spread in (0.1, 10.0, 300.0):
        model = SparseModel(
            vectors=rng.normal(size=(20, 5)),
            coef=spread * rng.normal(size=(1, 1, 20)),
            intercept=np.zeros(1),
            kernels=(KERNELS["rbf"].bind(gamma=0.3),),
            transform=Transform(rng.normal(size=5), rng.uniform(0.5, 2.0, size=5)),
            classes=(0, 1),
        )
        forms = float_forms(model)
        first = likely_forms([form.error for form in forms])[0]
        taken = float_road(model, base_two=True)
        assert code_shape(forms[first].program) == code_shape(taken)
        assert np.array_equal(forms[first].program.parts[0].vectors, taken.parts[0].vectors)


def test_forms_that_no_likely_error_leads_to_are_left_out():
    small, large = MAX_ERROR / 1000.0, MAX_ERROR * 1000.0
    assert likely_forms([small, small]) == (0,)
    assert likely_forms([large, small]) == (1,)
    assert likely_forms([MAX_ERROR / 3.0, small]) == (0, 1), "the cheaper one, unless errors are four times as large"
    assert likely_forms([large, 0.5 * large]) == (1,), "the most careful one where none is careful enough"
