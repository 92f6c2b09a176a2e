"""The ways to write a program: which there are, in which order they are tried, and that each is the same model."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest
from golden_models import model, rbf, wave

from sparsegen.kernels.expression import Const, Core, Exp, Mul
from sparsegen.lowering.fold_preprocessing import _group_kernels, _rounded_affine, fold_preprocessing, ways

MODULE = import_module(fold_preprocessing.__module__)
ROWS = 3.0 + wave(20, 4)
EACH = np.array([0.5, 1.0, 2.0, 4.0])
OFFSET = np.array([3.0, 2.5, 3.5, 3.1])


def described(program):
    start = (
        "raw" if program.offset is None else "centre" if np.allclose(program.offset, ROWS.mean(axis=0)) else "buffer"
    )
    return [start, *("squares" if part.square is not None else part.form for part in program.parts)]


@pytest.mark.parametrize(
    ("kernels", "transform", "expected"),
    [
        ([rbf()], {}, ["raw squares", "centre squares", "raw square", "centre square"]),
        (
            [rbf()],
            {"offset": OFFSET},
            ["raw squares", "buffer squares", "centre squares", "raw square", "buffer square", "centre square"],
        ),
        (
            [rbf()],
            {"scale": EACH},
            ["raw squares", "buffer squares", "centre squares", "buffer square", "centre square"],
        ),
        ([("laplacian", {"gamma": 0.5})], {}, ["raw absolute", "centre absolute"]),
        ([("laplacian", {"gamma": 0.5})], {"scale": EACH}, ["buffer absolute", "centre absolute"]),
        ([("laplacian", {"gamma": 0.5})], {"scale": -2.0 * np.ones(4)}, ["raw absolute", "centre absolute"]),
        ([("linear", {})], {"offset": OFFSET}, ["raw dot", "buffer dot", "centre dot"]),
        (
            [("linear", {}), rbf()],
            {},
            ["raw dot squares", "centre dot squares", "raw dot square", "centre dot square"],
        ),
        ([rbf()], {"offset": OFFSET, "scale": EACH, "projected": 3},
         ["raw squares", "buffer squares", "centre squares", "raw square", "buffer square", "centre square"]),
    ],
)  # fmt: skip
def test_the_ways_are_tried_from_the_cheapest_to_the_most_careful(kernels, transform, expected):
    of = model(kernels, 5, 4, (0, 1, 2), **transform)
    found = list(ways(of, ROWS))
    assert [" ".join(described(way)) for way in found] == expected
    wanted = of.scores(ROWS)
    for way in found:
        np.testing.assert_allclose(way.scores(ROWS), wanted, atol=2e-5 * max(1.0, float(np.abs(wanted).max())))
        assert np.array_equal(way.intercept, of.intercept)
        if way.offset is not None:
            assert way.scale is not None
            assert np.array_equal(way.offset, way.offset.astype(np.float32)), "a device subtracts what is stored"
            assert np.array_equal(
                way.scale, EACH if "scale" in transform and len(set(np.abs(of.transform.scale))) > 1 else np.ones(4)
            )


@pytest.mark.parametrize("kernel", [("linear", {}), ("poly", {"gamma": 0.3, "degree": 1, "coef0": 1.0})])
@pytest.mark.parametrize("projected", [None, 3])
def test_rounded_tables_cost_nothing_in_the_middle_of_the_data(projected, kernel):
    """Far from 0, where every table is rounded: the shifts make up for it, also after a projection."""
    rows = 1e4 * ROWS
    of = model([kernel], 5, 4, (0, 1, 2), projected=projected, offset=OFFSET, scale=EACH)
    middle = rows.mean(axis=0)[None]
    for way in ways(of, rows):
        np.testing.assert_allclose(way.scores(middle), of.scores(middle), rtol=1e-11)


def chosen(errors, monkeypatch):
    """Return which of the ways is taken where they have these errors."""
    of = model([rbf()], 5, 4, (0, 1), offset=OFFSET)
    remaining = iter(errors)
    monkeypatch.setattr(MODULE, "rounding_error", lambda *_: next(remaining))
    found = [described(way) for way in ways(of, ROWS)]
    return found.index(described(fold_preprocessing(of, ROWS)))


@pytest.mark.parametrize(
    ("errors", "expected"),
    [
        ([1e-6], 0),
        ([2e-5], 0),  # as much as is allowed
        ([2.01e-5, 1e-9], 1),
        ([1.0, 1.0, 1.9e-5], 2),
        ([5.0, 4.0, 3.0, 2.0, 9.0, 8.0], 3),  # none is accurate: the best there is
        ([5.0, 2.0, 3.0, 2.0, 9.0, 8.0], 1),  # the cheaper of two equals
        ([np.inf, np.inf, 3.0, np.inf, np.inf, np.inf], 2),
        ([np.inf] * 6, 0),
    ],
)
def test_the_first_accurate_way_is_taken(errors, expected, monkeypatch):
    assert chosen(errors, monkeypatch) == expected


def test_a_rounded_matrix_is_exact_in_the_middle():
    rng = np.random.default_rng(0)
    matrix, offset, middle = rng.normal(size=(3, 4)), rng.normal(size=4), 1e4 * (1.0 + rng.random(4))
    rounded, shift = _rounded_affine(matrix, offset, middle)
    assert np.array_equal(rounded, matrix.astype(np.float32))
    np.testing.assert_allclose(rounded @ middle + shift, matrix @ (middle - offset), rtol=1e-12)


def test_a_correction_too_small_to_matter_needs_no_table():
    """A ten-millionth of an argument: below, all vectors share the shift that the offset gives."""
    matrix, offset = np.array([[1.0 + 1e-9], [0.5]]), np.zeros(1)
    for middle, kept in ((99.0, False), (101.0, True), (-99.0, False), (-101.0, True)):
        _, shift = _rounded_affine(matrix, offset, np.array([middle]))
        np.testing.assert_allclose(shift, [1e-9 * middle if kept else 0.0, 0.0], rtol=1e-6, atol=0.0)
    _, shift = _rounded_affine(matrix, np.array([2.0]), np.array([1.0]))
    assert shift.tolist() == [-2.0 * (1.0 + 1e-9), -1.0]


def test_kernels_whose_arguments_are_multiples_share_the_smallest():
    kernels = model([rbf(2.0), ("linear", {}), rbf(0.5), ("laplacian", {"gamma": 1.0}), rbf(1.0)], 2, 3, (0, 1)).kernels
    groups = _group_kernels(kernels)
    assert [(group.base, group.members) for group in groups] == [("sqdist", [0, 2, 4]), ("dot", [1]), ("l1dist", [3])]
    assert (groups[0].slope, groups[0].shift) == (-0.5, 0.0)
    assert groups[0].outers == [Exp(Mul(Const(4.0), Core())), Exp(Core()), Exp(Mul(Const(2.0), Core()))]


def test_kernels_whose_shifts_are_no_multiples_stay_apart():
    """(gamma x.z + coef0)^degree: gamma and coef0 both doubled share t, one of them alone does not."""
    poly = [{"gamma": 0.5, "coef0": 1.0}, {"gamma": 1.0, "coef0": 2.0}, {"gamma": 1.0, "coef0": 1.0}]
    groups = _group_kernels(model([("poly", {**p, "degree": 3}) for p in poly], 2, 3, (0, 1)).kernels)
    assert [group.members for group in groups] == [[0, 1], [2]]
    assert [(group.slope, group.shift) for group in groups] == [(0.5, 1.0), (1.0, 1.0)]
