"""Agreement: how well a program agrees with the model on rows, and the sentence that says so."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from golden_models import SMALL, model, rbf
from integer_models import quantized
from narrowing import a

from benchmarks.trust._together import make_integer_case
from sparsegen.errors import DataError
from sparsegen.lowering import lower
from sparsegen.lowering.agreement import Agreement, agreement, compare_labels
from sparsegen.lowering.formats import Format

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
    assert agreement(broken, CASE.model, CASE.rows).loss == found.loss  # changed labels stand in for lost ones


def test_without_rows_points_near_the_vectors_are_labelled():
    found = lower(CASE.model, Format("q15")).agreement
    assert found is not None
    assert not found.calibrated
    assert a(Agreement, found).accuracy is None
    assert found.rows > 4000
    assert str(found).endswith("points near the vectors keep their label")


def test_text_labels_and_numbers_as_text_are_compared_as_text():
    of = SMALL["laplacian_text"]
    X = of.vectors
    program = quantized(of, "q15", "f32", X)
    assert agreement(program, of, X, of.predict(X)).accuracy == 1.0
    assert agreement(PROGRAM, CASE.model, CASE.rows, CASE.model.predict(CASE.rows).astype(str)).accuracy == 1.0


def test_a_gain_is_a_negative_loss():
    assert Agreement("q7", 10, True, 9, 10, 9).loss == pytest.approx(-10.0)


def test_a_share_is_rounded_down_and_a_loss_up():
    nearly = Agreement("q7", 30_000, True, 29_999, 29_998, 29_999)
    assert str(nearly) == "99.99 % of 30000 calibration rows keep their label, 0.01 points of accuracy are lost"


@pytest.mark.parametrize(
    ("found", "lost"),
    [
        (Agreement("q7", 100, True, 95), None),
        (Agreement("q7", 100, True, 94), "6.00 % of the labels"),
        (Agreement("q7", 100, True, 60, 95, 100), None),  # accuracy counts where labels are known
        (Agreement("q7", 100, True, 94, 92, 98), "6.00 points"),
        (Agreement("q7", 10, True, 9, 8, 9), None),  # one row is no evidence
        (Agreement("q7", 10, True, 8, 7, 9), "20.00 points"),
        (Agreement("q7", 100, True, 100, 100, 100, "rare"), "the class 'rare'"),
    ],
)
def test_what_is_too_much_to_lose(found, lost):
    assert found.lost == lost
    assert (found.problem is None) == (lost is None)


@pytest.mark.parametrize(
    ("given", "kept", "lost"),
    [
        ([970, 30], [970, 0], "1"),  # always the same answer: 97 % of the labels stay
        ([998, 2], [998, 0], "1"),
        ([970, 30], [970, 14], "1"),
        ([970, 30], [970, 15], None),
        ([995, 5], [995, 2], None),  # too few to judge
        ([0, 1000], [0, 1000], None),  # nothing is lost where the model itself has one answer
        ([400, 400, 200], [400, 400, 90], "2"),
    ],
)
def test_a_rare_class_is_judged_by_itself(given, kept, lost):
    classes = range(len(given))
    of = model([rbf()], 2, 2, tuple(classes))
    real = np.repeat(classes, given)
    ours = np.concatenate([[c] * k + [0 if c else 1] * (n - k) for c, n, k in zip(classes, given, kept, strict=True)])
    assert compare_labels(of, real, ours.astype(int), None, "q7").lost_class == lost


def test_labels_that_are_no_class_are_wrong_and_labels_none_of_which_is_one_are_an_error():
    labels = CASE.model.predict(CASE.rows).astype(object)
    labels[:10] = "other"
    found = agreement(PROGRAM, CASE.model, CASE.rows, labels)
    assert (found.correct, found.real_correct) == (40, 40)
    with pytest.raises(DataError, match=r"none of the labels \('other'\) is a class of the model \('0', '1', '2'\)"):
        agreement(PROGRAM, CASE.model, CASE.rows, np.full(50, "other"))


def test_an_answer_that_is_no_class_is_never_correct():
    ours = np.array([np.iinfo(np.int32).min, -1, 7, 0])
    labels = np.array(["other", "other", "2", "0"])
    assert compare_labels(CASE.model, np.zeros(4, dtype=int), ours, labels, "q7").correct == 1
