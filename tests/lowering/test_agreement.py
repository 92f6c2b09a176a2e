"""Agreement: how well a program agrees with the model on rows, and the sentence that says so."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from golden_models import SMALL
from integer_models import quantized

from benchmarks.trust._together import make_integer_case
from sparsegen.lowering.agreement import Agreement, agreement

CASE = make_integer_case(1, n_classes=3, d=4)
PROGRAM = quantized(CASE.model, "q15", "f32", CASE.rows)


def test_labels_and_accuracy_are_counted():
    wanted = CASE.model.predict(CASE.rows).copy()
    wanted[:5] = (wanted[:5] + 1) % 3
    found = agreement(PROGRAM, CASE.model, CASE.rows, wanted)
    assert (found.rows, found.calibrated, found.same_labels) == (50, True, 1.0)
    assert found.accuracy == found.real_accuracy == 0.9
    assert found.loss == 0.0
    assert str(found) == "100.00 % of 50 calibration rows keep their label, 0.00 points of accuracy are lost"


def test_a_broken_program_loses():
    broken = replace(PROGRAM, coef=0 * PROGRAM.coef, intercept=np.array([1, 0, 0]))
    labels = CASE.model.predict(CASE.rows)
    found = agreement(broken, CASE.model, CASE.rows, labels)
    share = float(np.mean(labels == 0))
    assert found.accuracy == found.same_labels == share
    assert found.loss == pytest.approx(100 * (1 - share))
    assert agreement(broken, CASE.model, CASE.rows, None).loss == found.loss  # changed labels stand in for lost ones


def test_without_rows_points_near_the_vectors_are_labelled():
    found = agreement(PROGRAM, CASE.model, None, None)
    assert not found.calibrated
    assert found.accuracy is None
    assert found.rows > 4000
    assert str(found).endswith("points near the vectors keep their label")


def test_text_labels_and_numbers_as_text_are_compared_as_text():
    of = SMALL["laplacian_text"]
    X = of.vectors
    program = quantized(of, "q15", "f32", X)
    assert agreement(program, of, X, of.predict(X)).accuracy == 1.0
    assert agreement(PROGRAM, CASE.model, CASE.rows, CASE.model.predict(CASE.rows).astype(str)).accuracy == 1.0


def test_a_gain_is_a_negative_loss():
    assert Agreement("q7", 10, True, 0.9, 1.0, 0.9).loss == pytest.approx(-10.0)
