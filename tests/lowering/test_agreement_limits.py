"""Agreement at its documented limits: what is judged, and what is too much."""

from __future__ import annotations

import numpy as np
import pytest
from golden_models import model, rbf

from sparsegen.errors import DataError
from sparsegen.lowering.agreement import Agreement, agreement, compare_labels, label_indices

TWO = model([rbf()], 2, 2, (0, 1))


def lost_class(given, kept, classes=(0, 1)):
    """Return the class that is lost where that many rows of each class are given, and so many keep their label."""
    of = model([rbf()], 2, 2, classes)
    real = np.repeat(np.arange(len(given)), given)
    ours = np.concatenate(
        [[c] * k + [0 if c else 1] * (n - k) for c, (n, k) in enumerate(zip(given, kept, strict=True))]
    )
    return compare_labels(of, real, ours.astype(int), None, "q7").lost_class


@pytest.mark.parametrize(("rows", "judged"), [(9, False), (10, True), (11, True)])
def test_a_class_of_ten_rows_is_judged_by_itself(rows, judged):
    assert lost_class([300, rows], [300, 4]) == ("1" if judged else None)


@pytest.mark.parametrize(("rows", "judged"), [(29, False), (30, True)])
def test_a_class_of_one_row_in_a_hundred_is_judged_by_itself(rows, judged):
    assert lost_class([3000 - rows, rows], [3000 - rows, 1]) == ("1" if judged else None)


def test_one_answer_to_everything_loses_a_class_of_any_size():
    assert lost_class([300, 1], [300, 0]) == "1"
    assert lost_class([1, 1], [1, 0]) == "1"


def test_a_class_that_keeps_half_of_its_rows_is_not_lost():
    assert lost_class([100, 20], [100, 10]) is None
    assert lost_class([100, 21], [100, 10]) == "1"


def test_the_first_lost_class_is_named_and_an_empty_one_never():
    assert lost_class([50, 0, 50, 50], [50, 0, 20, 20], (3, 4, 5, 6)) == "5"
    assert lost_class([50, 0, 50, 50], [50, 0, 50, 50], (3, 4, 5, 6)) is None


@pytest.mark.parametrize(
    ("found", "lost"),
    [
        (Agreement("q7", 10_000, True, 9500), None),
        (Agreement("q7", 10_000, True, 9499), "5.01 % of the labels"),
        (Agreement("q7", 10_000, True, 1, 9000, 9500), None),
        (Agreement("q7", 10_000, True, 1, 8999, 9500), "5.01 points"),
        (Agreement("q7", 19, True, 18), None),
        (Agreement("q7", 19, True, 17), "10.53 % of the labels"),
    ],
)
def test_five_points_may_be_lost_and_one_row_is_no_evidence(found, lost):
    assert found.lost == lost


def test_the_problem_names_what_is_lost_and_the_format():
    found = Agreement("q7", 100, True, 90)
    assert (
        found.problem == "10.00 % of the labels would be lost in q7: 90.00 % of 100 calibration rows keep their label"
    )
    assert Agreement("q7", 100, False, 100).problem is None
    assert str(Agreement("q7", 100, False, 100)) == "100.00 % of 100 points near the vectors keep their label"


def test_shares_of_labelled_rows():
    found = Agreement("q7", 200, True, 180, 150, 160)
    assert (found.same_labels, found.accuracy, found.real_accuracy, found.lost_rows, found.loss) == (
        0.9, 0.75, 0.8, 10, 5.0,
    )  # fmt: skip
    unlabelled = Agreement("q7", 200, True, 180)
    assert (unlabelled.accuracy, unlabelled.real_accuracy, unlabelled.lost_rows) == (None, None, 20)


def test_three_labels_are_shown_and_more_are_hinted_at():
    with pytest.raises(DataError) as three:
        label_indices(TWO, np.array(["a", "b", "a", "c"]))
    assert "none of the labels ('a', 'b', 'c') is a class of the model ('0', '1'); name" in str(three.value)
    with pytest.raises(DataError) as four:
        label_indices(TWO, np.array(["a", "b", "c", "d"]))
    assert "('a', 'b', 'c', ...)" in str(four.value)


def test_one_known_label_is_enough_and_none_are_no_error():
    assert label_indices(TWO, np.array(["a", "1"])).tolist() == [np.iinfo(np.int64).min, 1]
    assert label_indices(TWO, np.array([], dtype=str)).tolist() == []


def test_rows_of_the_user_are_said_to_be():
    class Same:
        numbers = type("numbers", (), {"name": "q7"})
        inputs = staticmethod(lambda X: X)
        predict_index = staticmethod(TWO.predict_index)

    found = agreement(Same(), TWO, np.eye(2))  # type: ignore[arg-type]
    assert found == Agreement("q7", 2, True, 2)
