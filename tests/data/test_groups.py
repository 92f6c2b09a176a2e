"""Groups: a column that is no feature, and a split that never tears one apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sparsegen import data
from sparsegen.data import Dataset
from sparsegen.errors import DataError

TABLE = "recording,a,b,label\nr2,1,2,x\nr1,3,4,y\nr2,5,6,y\n"


def recordings(sizes: list[int], labels: list[Any]) -> Dataset:
    """Return rows of groups with these sizes, each of one class."""
    y, groups = np.repeat(labels, sizes), np.repeat([f"r{i}" for i in range(len(sizes))], sizes)
    X = np.random.default_rng(0).normal(size=(len(y), 2))
    return data.from_arrays(X, y, source="toy.csv", groups=groups)


def codes(rows: Dataset) -> list[int]:
    assert rows.groups is not None
    found: list[int] = rows.groups.tolist()
    return found


@pytest.mark.parametrize("group", ["recording", "0", 0, -4])
def test_the_group_column_of_a_table_is_no_feature(tmp_path: Path, group: str | int) -> None:
    (tmp_path / "toy.csv").write_text(TABLE)
    rows = data.read(tmp_path / "toy.csv", group=group)
    assert codes(rows) == [0, 1, 0]  # by first appearance
    assert rows.groups is not None
    assert rows.groups.dtype == np.int64
    assert not rows.groups.flags.writeable
    assert rows.feature_names == ("a", "b")


def test_a_group_in_the_last_column_leaves_the_label_before_it(tmp_path: Path) -> None:
    (tmp_path / "toy.csv").write_text("a,label,who\n1,x,7\n2,y,8\n")
    rows = data.read(tmp_path / "toy.csv", group="who")
    assert (rows.feature_names, rows.y.tolist()) == (("a",), ["x", "y"])


@pytest.mark.parametrize(
    ("text", "options", "told"),
    [
        (TABLE, {"group": "record"}, "column 'record' is not in toy.csv (did you mean 'recording'?)"),
        (TABLE, {"group": "label", "label": "label"}, "column 'label' of toy.csv cannot be both label and group"),
        ("g\n1\n", {"group": "g"}, "no column of toy.csv is left to be the label; it has 'g'"),
        ("g,a,label\n,1,x\n,2,y\n", {"group": "g"}, "every cell of column 'g' of toy.csv is empty"),
        ("g,a,label\n1,1,x\n,2,y\n", {"group": "g"}, "the group in row 3 of toy.csv is empty"),
        ("g,a,label\n1,1,x\nr\x07,2,y\n", {"group": "g"}, "the group in row 3 of toy.csv holds a control"),
    ],
)
def test_a_group_column_that_cannot_be_used(tmp_path: Path, text: str, options: dict[str, Any], told: str) -> None:
    (tmp_path / "toy.csv").write_text(text)
    with pytest.raises(DataError) as caught:
        data.read(tmp_path / "toy.csv", **options)
    assert told in str(caught.value)


def test_groups_of_an_archive(tmp_path: Path) -> None:
    path, X, y = tmp_path / "toy.npz", np.eye(3), [0, 1, 0]
    np.savez(path, X=X, y=y, groups=["b", "a", "b"], who=[[3], [4], [5]])
    found = [codes(data.read(path, group=group)) for group in (None, "groups", "who")]
    assert found == [[0, 1, 0], [0, 1, 0], [0, 1, 2]]
    np.savez(path, X_train=X, y_train=y, groups_train=[5, 5, 6])
    rows = data.read(path)
    assert codes(rows) == [0, 0, 1]
    assert data.read_features(path, None, n_features=3, part="train")[0].shape == (3, 3)
    with pytest.raises(DataError, match=r"no array 'group' \(did you mean 'groups_train'\?\)"):
        data.read(path, group="group")


def test_libsvm_text_has_no_groups(tmp_path: Path) -> None:
    (tmp_path / "toy.svm").write_text("1 1:2\n")
    with pytest.raises(DataError, match=r"toy\.svm is LIBSVM text, which has no column 'who' of groups"):
        data.read(tmp_path / "toy.svm", group="who")


@pytest.mark.parametrize(
    ("groups", "told"),
    [
        ([1, 2], "3 rows but groups of shape (2,)"),
        ([[1, 2]] * 3, "groups of shape (3, 2)"),
        ([1.0, np.nan, 2.0], "group of row 2 of arrays is not a finite number"),
        (["a", " ", "b"], "group ' ' of arrays is empty"),
        (["a", "b\x1b[31m", "c"], "control or invisible"),
        ([None, 1, 2], "the groups of arrays hold object"),
        ([1j, 2, 3], "hold complex128"),
    ],
)
def test_groups_in_arrays_that_cannot_be_used(groups: Any, told: str) -> None:
    with pytest.raises(DataError) as caught:
        data.from_arrays(np.eye(3), [0, 1, 0], groups=np.array(groups))
    assert told in str(caught.value)


@pytest.mark.parametrize("groups", [[7, 3, 7], [1.5, -2.0, 1.5], [True, False, True], [b"b", b"a", b"b"]])
def test_groups_are_numbered_by_appearance(groups: Any) -> None:
    rows = data.from_arrays(np.eye(3), [0, 1, 0], groups=groups)
    assert codes(rows) == [0, 1, 0]


# ---- The split -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
def test_no_group_is_on_both_sides(seed: int) -> None:
    rng = np.random.default_rng(seed)
    groups, y = rng.integers(0, 12, 400), rng.integers(0, 3, 400)
    whole = data.from_arrays(rng.normal(size=(400, 2)), y, groups=groups)
    train, test = data.split(whole, 0.25, seed)
    assert whole.groups is not None
    assert not set(codes(train)) & set(codes(test))
    assert train.rows is not None and test.rows is not None
    assert sorted([*train.rows, *test.rows]) == list(range(400))
    for part in (train, test):
        assert np.array_equal(whole.X[part.rows], part.X)
        assert whole.groups[part.rows].tolist() == codes(part)  # the numbers of the whole
    assert 0.15 < len(test.X) / 400 < 0.35
    again = data.split(whole, 0.25, seed)
    assert (again[0].sha256, again[1].sha256) == (train.sha256, test.sha256)


def test_class_shares_are_kept_where_groups_allow() -> None:
    train, test = data.split(recordings([10] * 16, ["a"] * 8 + ["b"] * 8), 0.25, seed=0)
    assert [int((test.y == label).sum()) for label in "ab"] == [20, 20]
    assert train.notes == test.notes == ()
    chosen = [set(codes(data.split(recordings([10] * 16, ["a", "b"] * 8), 0.25, seed)[1])) for seed in range(6)]
    assert any(groups != chosen[0] for groups in chosen)  # another seed, another test


def test_a_class_of_one_group_is_trained_and_the_user_is_told() -> None:
    train, test = data.split(recordings([10] * 9, ["a"] * 4 + ["b"] * 4 + ["rare"]), 0.3, seed=1)
    assert (train.y == "rare").sum() == 10
    assert (test.y == "rare").sum() == 0
    assert "toy.csv" in train.notes[0] and "'rare'" in train.notes[0] and "not tested" in train.notes[0]


def test_a_huge_group_is_not_held_out_and_neither_is_every_group() -> None:
    train, test = data.split(recordings([500, 10, 10, 10], ["a", "a", "b", "b"]), 0.1, seed=0)
    assert (len(train.X), len(test.X)) == (510, 20)
    train, test = data.split(recordings([50, 50], [0, 0]), 0.01, seed=0)
    assert (len(train.X), len(test.X)) == (50, 50)
    assert "1 group of 2" in train.notes[0]


def test_too_few_groups_say_what_to_do() -> None:
    with pytest.raises(
        DataError, match=r"all rows of toy\.csv are one group, which cannot be split; record more groups"
    ):
        data.split(recordings([10], [0]), 0.25, seed=0)
    with pytest.raises(
        DataError, match=r"no group of toy\.csv can be held out: each is the only one with rows of some"
    ):
        data.split(recordings([10, 10, 10], [0, 1, 2]), 0.25, seed=0)


def test_a_group_per_row_splits_like_rows_and_ends_soon() -> None:
    n = 5000
    whole = data.from_arrays(np.zeros((n, 1)), np.arange(n) % 4, groups=np.arange(n)[::-1])
    test = data.split(whole, 0.2, seed=0)[1]
    assert abs(len(test.X) - 1000) < 20
    assert np.ptp(np.bincount(test.y)) < 20


def test_a_group_in_both_files_is_told(tmp_path: Path) -> None:
    (tmp_path / "train.csv").write_text(TABLE)
    (tmp_path / "test.csv").write_text("recording,b,a,label\nr9,1,2,x\nr1,3,4,y\n")
    train, test = data.read_train_and_test(
        tmp_path / "train.csv", test_path=tmp_path / "test.csv", group="recording", label="label"
    )
    assert train.notes[0].startswith("1 group of test.csv is in train.csv as well")
    assert codes(test) == [2, 1]  # counted through both files
    assert test.X.tolist() == [[2.0, 1.0], [4.0, 3.0]]
