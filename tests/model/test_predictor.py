"""The prepared predictor gives the scores of ``SparseModel.scores``, its plain twin, to float64 rounding."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from golden_models import model as written
from golden_models import rbf, rows
from hypothesis import given, settings
from random_models import MIXTURES, cases, make_case, size_of_terms

from sparsegen.errors import ModelError
from sparsegen.kernels import KERNELS, Kernel
from sparsegen.kernels.expression import DOT, SQDIST, Exp2, Reciprocal, Sqrt
from sparsegen.model import SparseModel, Transform

ROUNDING = 1e-11  # of the largest sum of terms: distances lose digits in the twin, which multiplies them out


def agrees(model: SparseModel, X: Any) -> None:
    allowed = ROUNDING * size_of_terms(model, X)
    np.testing.assert_allclose(model.predictor().scores(X), model.scores(X), rtol=0.0, atol=allowed)


@pytest.mark.parametrize("mixture", MIXTURES, ids="+".join)
@pytest.mark.parametrize("projected", [False, True])
def test_every_kernel_and_several_at_once(mixture: tuple[str, ...], projected: bool) -> None:
    case = make_case(1, mixture, n_classes=2 + projected, scale="each", offset=100.0, projected=projected)
    agrees(case.model, case.X)


@settings(max_examples=60)
@given(cases())
def test_any_model(case: Any) -> None:
    agrees(case.model, case.X)


EXPRESSIONS = {
    "base two": Exp2(-0.5 * SQDIST),
    "root": 1 / (1.0 + Sqrt(SQDIST)),
    "powers": 1.0 + DOT**2 + 0.5 * DOT**3 + DOT**0,
    "shared": Exp2(-SQDIST) + Exp2(-SQDIST) * Reciprocal(1.0 + SQDIST),
}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_every_operation_of_the_language(name: str) -> None:
    kernel = Kernel("new", name, EXPRESSIONS[name]).bind()
    of = written([kernel], 6, 4, (0, 1, 2))
    agrees(of, rows(of))


def test_a_vector_lies_at_distance_0_from_itself() -> None:
    of = written([Kernel("new", "root", EXPRESSIONS["root"]).bind()], 1, 4, (0, 1))
    assert of.predictor().scores(of.vectors[0]) == of.coef[0, 0] + of.intercept  # a root would show 1e-16 as 1e-8


def test_a_row_gives_the_bits_that_it_gives_among_others() -> None:
    case = make_case(2, ("rbf", "laplacian"))
    predictor = case.model.predictor()
    many = predictor.scores(case.X)
    assert many.shape == (25, 3)
    for x, expected in zip(case.X, many, strict=True):
        one = predictor.scores(x)
        assert one.shape == (3,)
        assert one.tobytes() == expected.tobytes()


@pytest.mark.parametrize("classes", [(3, 7), ("no", "yes"), (0, 1, 2), ("a", "größer", "c")], ids=str)
def test_labels(classes: tuple[Any, ...]) -> None:
    of = written([rbf()], 4, 3, classes)
    X, predictor = rows(of), of.predictor()
    assert len(set(of.predict(X).tolist())) > 1
    many = predictor.predict(X)
    assert isinstance(many, np.ndarray) and many.dtype == of.predict(X).dtype
    assert many.tolist() == of.predict(X).tolist() == [predictor.predict(x) for x in X]
    assert type(predictor.predict(X[0])) is type(classes[0])
    indices = predictor.predict_index(X)
    assert isinstance(indices, np.ndarray) and indices.dtype == np.int64
    assert indices.tolist() == of.predict_index(X).tolist() == [predictor.predict_index(x) for x in X]


@pytest.mark.parametrize(("n_outputs", "intercept"), [(1, [0.0]), (3, [1.0, 1.0, 1.0]), (3, [0.0, 2.0, 2.0])])
def test_ties_go_to_the_first(n_outputs: int, intercept: list[float]) -> None:
    classes, kernels = tuple(range(max(2, n_outputs))), (KERNELS["linear"].bind(),)
    coef = np.zeros((n_outputs, 1, 1))
    of = SparseModel(np.ones((1, 1)), coef, np.array(intercept), kernels, Transform.identity(1), classes)
    expected = int(np.argmax(intercept))
    assert of.predictor().predict([4.0]) == of.predict([[4.0]])[0] == expected
    assert of.predictor().predict([[4.0], [-4.0]]).tolist() == [expected, expected]  # type: ignore[union-attr]


def test_anything_that_holds_numbers_is_a_row() -> None:
    case = make_case(3, ("rbf",), d=4)
    X, predictor = np.round(case.X), case.model.predictor()
    expected = predictor.scores(X)
    read_only = X.copy()
    read_only.flags.writeable = False
    for same in (
        X.tolist(),
        X.astype(np.int64),
        X.astype(">f8"),
        X.astype(np.float32),
        np.asfortranarray(X),
        read_only,
    ):
        np.testing.assert_array_equal(predictor.scores(same), expected)
        np.testing.assert_array_equal(predictor.scores(same[0]), expected[0])
    np.testing.assert_array_equal(predictor.scores(np.repeat(X, 2, axis=0)[::2]), expected)
    assert predictor.scores(X[:0]).shape == (0, 3)
    assert not read_only.flags.writeable


@pytest.mark.parametrize("shape", [(3,), (5,), (2, 3), (1, 2, 4), (0,)])
def test_rows_of_another_length_are_refused(shape: tuple[int, ...]) -> None:
    predictor = make_case(3, ("rbf",), d=4).model.predictor()
    for call in (predictor.scores, predictor.predict, predictor.predict_index):
        with pytest.raises(ModelError, match=r"must have shape \(4,\) and rows \(n, 4\), but the array has shape \("):
            call(np.zeros(shape))


def test_threads_share_a_predictor() -> None:
    case = make_case(4, ("rbf", "poly"), m=12)
    predictor = case.model.predictor()
    expected = predictor.scores(case.X)
    wrong: list[int] = []

    def work() -> None:
        wrong.extend(i for _ in range(200) for i, x in enumerate(case.X) if (predictor.scores(x) != expected[i]).any())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_what_is_not_finite_stays_so_without_a_warning() -> None:
    of = written([("poly", {"degree": 2, "coef0": 0.0})], 2, 2, (0, 1))
    scores = of.predictor().scores([[np.nan, 0.0], [1e200, 1e200]])
    assert np.isnan(scores[0]).all()
    assert not np.isfinite(scores[1]).any()
