"""Parts in this process: functions go to them one after the other, and sums keep the order of the parts."""

from __future__ import annotations

import numpy as np
import pytest

from sparsegen.data.labelled_parts import CodedRows, LabelledParts, column_sums
from sparsegen.data.parts import LocalParts, added


def test_results_come_in_the_order_of_the_parts_and_nothing_is_computed_before_it_is_needed() -> None:
    seen: list[int] = []

    def load(number: int) -> int:
        seen.append(number)
        return number

    parts = LocalParts(4, load)
    results = iter(parts.then(lambda value, factor: value * factor, 10).each(lambda value: value + 1))
    assert next(results) == 1
    assert seen == [0]
    assert list(results) == [11, 21, 31]


def test_a_sum_adds_from_the_first_part_to_the_last() -> None:
    values = [1e16, 1.0, -1e16, 1.0]  # in another order the sum is another one
    assert LocalParts(4, values.__getitem__).sums(lambda value: (np.array([value]),))[0][0] == 1.0
    assert added([(np.array([value]),) for value in sorted(values)])[0][0] != 1.0


def rows_in_parts(index: np.ndarray, cuts: list[int]) -> tuple[np.ndarray, LabelledParts]:
    X = np.arange(2.0 * len(index)).reshape(-1, 2)
    slices = [slice(a, b) for a, b in zip([0, *cuts], [*cuts, len(index)], strict=True)]
    counts = np.array([np.bincount(index[rows], minlength=3) for rows in slices])
    parts = LocalParts(len(slices), lambda number: CodedRows(X[slices[number]], index[slices[number]], number))
    return X, LabelledParts(parts, np.array(["a", "b", "c"]), counts, 2)


@pytest.mark.parametrize("cuts", [[], [4], [1, 2, 9]])
def test_rows_are_taken_by_class_wherever_they_are(cuts: list[int]) -> None:
    index = np.random.RandomState(0).randint(3, size=20)
    X, rows = rows_in_parts(index, cuts)
    wanted = [np.array([0, 3]), np.array([2]), np.array([], dtype=np.intp)]
    found, classes = rows.taken(wanted)
    places = np.sort([*np.flatnonzero(index == 0)[[0, 3]], np.flatnonzero(index == 1)[2]])
    np.testing.assert_array_equal(found, X[places])
    np.testing.assert_array_equal(classes, index[places])
    assert rows.n_rows == 20
    assert rows.of_class.tolist() == np.bincount(index).tolist()


def test_sums_of_columns() -> None:
    X, rows = rows_in_parts(np.zeros(12, dtype=np.intp), [5])
    np.testing.assert_allclose(rows.rows.sums(column_sums)[0], X.sum(axis=0))
    np.testing.assert_allclose(rows.rows.sums(column_sums, 3.0, 2)[0], ((X - 3.0) ** 2).sum(axis=0))
