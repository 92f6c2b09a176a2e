"""The tolerance of a float self-test and when a model is refused, at the limits that the module states."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from golden_models import SMALL, model, rbf
from integer_models import quantized

from sparsegen.errors import ModelError
from sparsegen.lowering import float_road, selftest
from sparsegen.lowering.locate_data import data_like
from sparsegen.lowering.rounding import form_errors, sum_errors
from sparsegen.lowering.selftest import float_selftest, integer_selftest

OF = SMALL["laplacian_text"]
PROGRAM = float_road(OF, base_two=True)


def selftest_of_device(off, monkeypatch, of=OF, program=PROGRAM):
    """Return the self-test of a device whose scores are off by so much."""
    monkeypatch.setattr(selftest, "float32_scores", lambda _, rows: of.scores(rows) + off)
    return float_selftest(program, of)


def estimated(rows, program=PROGRAM):
    """Return the largest error that is expected of any score of the rows."""
    return float((form_errors(program, rows) + sum_errors(program, rows)).max())


def test_four_times_the_estimate_is_allowed(monkeypatch):
    test = selftest_of_device(0.0, monkeypatch)
    assert test.tolerance == pytest.approx(4.0 * estimated(test.rows))


def test_four_times_what_the_device_is_off_is_allowed(monkeypatch):
    """Unless that exceeds a thousandth of the largest score."""
    test = selftest_of_device(1e-4, monkeypatch)
    assert test.tolerance == pytest.approx(4e-4)
    test = selftest_of_device(-1e-4, monkeypatch)
    assert test.tolerance == pytest.approx(4e-4)
    largest = np.abs(test.scores).max()
    assert largest > 1.0
    assert selftest_of_device(4e-4 * largest, monkeypatch).tolerance == pytest.approx(1e-3 * largest)


@pytest.mark.parametrize("size", [1.0, 0.01])
def test_a_device_that_is_off_by_more_than_half_of_a_thousandth_is_refused(size, monkeypatch):
    """Of the largest score, or of 1 where all are smaller."""
    of = replace(OF, coef=size * OF.coef, intercept=size * OF.intercept)
    program = float_road(of, base_two=True)
    test = selftest_of_device(0.0, monkeypatch, of, program)
    most = 1e-3 * max(1.0, float(np.abs(test.scores).max()))
    assert selftest_of_device(0.499 * most, monkeypatch, of, program).tolerance == pytest.approx(most)
    with pytest.raises(ModelError, match=r"scores are off by [\d.e-]+, so its self-test would fail"):
        selftest_of_device(0.501 * most, monkeypatch, of, program)


@pytest.mark.parametrize("off", [np.nan, np.inf])
def test_a_device_that_overflows_is_refused(off, monkeypatch):
    with pytest.raises(ModelError, match="in float32 the model's scores overflow, so its self-test"):
        selftest_of_device(off, monkeypatch)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes_are_compared_where_every_lead_is_twice_the_tolerance(n_classes, monkeypatch):
    of = model([rbf()], 4, 3, tuple(range(n_classes)))
    program = float_road(of, base_two=True)
    test = selftest_of_device(0.0, monkeypatch, of, program)
    scores = np.sort(test.scores, axis=1)
    lead = float((np.abs(scores[:, 0]) if n_classes == 2 else scores[:, -1] - scores[:, -2]).min())
    monkeypatch.setattr(selftest, "MAX_TOLERANCE", 1e9)
    assert selftest_of_device(0.999 * lead / 8.0, monkeypatch, of, program).clear
    assert not selftest_of_device(1.001 * lead / 8.0, monkeypatch, of, program).clear


def test_examples_come_from_rows_like_the_data():
    test = float_selftest(PROGRAM, OF)
    assert len(test.rows) == 4
    assert len(np.unique(test.rows, axis=0)) == 4
    candidates = data_like(OF).astype(np.float32).astype(np.float64)
    assert all((row == candidates).all(axis=1).any() for row in test.rows)
    assert test.rows is test.inputs
    assert np.array_equal(test.scores, OF.scores(test.rows))
    assert test.classes.tolist() == OF.predict_index(test.rows).tolist()


@pytest.mark.parametrize("dtype", ["q7", "q15"])
def test_examples_of_integers_are_exact(dtype):
    program = quantized(OF, dtype, "f32")
    test = integer_selftest(program, OF)
    assert len(test.rows) == 4
    assert np.array_equal(test.inputs, program.inputs(test.rows))
    assert np.array_equal(test.scores, program.scores(test.inputs))
    assert test.classes.tolist() == program.predict_index(test.inputs).tolist()
    assert (test.tolerance, test.clear) == (0.0, True)


def test_many_vectors_leave_fewer_candidates(monkeypatch):
    """All candidates times all entries of vectors must fit; one row is always tried."""
    program = quantized(OF, "q7", "f32")
    seen = []

    def noticed(_, q):
        seen.append(len(q))
        return np.ones((len(q), 1))

    monkeypatch.setattr(selftest, "noticed_in_integers", noticed)
    for entries in (program.vectors.size * 7, program.vectors.size - 1, 10**9):
        monkeypatch.setattr(selftest, "MAX_ENTRIES", entries)
        integer_selftest(program, OF)
    assert seen == [7, 1, len(data_like(OF))]
