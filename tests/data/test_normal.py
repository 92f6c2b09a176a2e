"""Normal rows: which label is theirs, files without labels, and splits that keep no anomaly from the test."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sparsegen import data
from sparsegen.data.holdout import split_normal_rows
from sparsegen.data.normal import (
    labels_of_detector,
    normal_label,
    normal_or_not,
    part_of,
    require_normal_rows,
    teller,
    told_apart,
)
from sparsegen.errors import DataError, OptionError

ROWS = "a,b,state\n" + "".join(f"{i},{i * i},ok\n" for i in range(12)) + "90,1,leak\n91,2,leak\n"
BARE = "a,b\n" + "".join(f"{i},{i * i}\n" for i in range(8))


@pytest.mark.parametrize(
    ("labels", "wanted", "normal"),
    [
        (["ok", "leak"], "ok", "ok"),
        (["normal", "leak", "dry"], None, "normal"),
        ([1, -1, 1], None, "1"),
        ([1, -1, 1], "-1", "-1"),
        (["fine"], None, "fine"),
    ],
)
def test_label_of_normal_rows(labels: list[object], wanted: str | None, normal: str) -> None:
    assert normal_label(np.array(labels), "x.csv", wanted) == normal


@pytest.mark.parametrize(
    ("wanted", "sentence"),
    [
        (None, "which of the labels of x.csv is that of normal rows is not clear: 'leak', 'ok'; name it"),
        ("okay", "no row of x.csv has the label 'okay' (did you mean 'ok'?), which normal rows should have"),
    ],
)
def test_label_that_is_not_clear(wanted: str | None, sentence: str) -> None:
    with pytest.raises(DataError) as caught:
        normal_label(np.array(["ok", "leak"]), "x.csv", wanted)
    assert str(caught.value).startswith(sentence)
    assert "normal" in caught.value.change


def test_labels_become_normal_and_anomaly() -> None:
    assert normal_or_not(np.array([3, 1, 2, 1]), "1").tolist() == ["anomaly", "normal", "anomaly", "normal"]
    dataset = data.from_arrays(np.eye(3), ["x", "y", "x"], groups=[1, 1, 2])
    apart = told_apart(dataset, "x")
    assert apart.y.tolist() == ["normal", "anomaly", "normal"]
    part = part_of(apart, apart.y == "normal")
    assert part.groups is not None
    assert (part.X.tolist(), part.groups.tolist(), part.rows) == ([[1, 0, 0], [0, 0, 1]], [0, 1], None)
    assert part.sha256 == part_of(replace_anomaly(apart), apart.y == "normal").sha256
    with pytest.raises(DataError, match="1 normal row of arrays is there to train on, but 4 are needed"):
        require_normal_rows(told_apart(dataset, "y"), 4)


def replace_anomaly(dataset: data.Dataset) -> data.Dataset:
    """Return the rows with another anomaly."""
    X = dataset.X.copy()
    X[1] = 7.0
    return data.from_arrays(X, dataset.y, groups=dataset.groups)


@pytest.mark.parametrize(
    ("labels", "normal", "found"),
    [
        (["ok", "leak"], "ok", ["normal", "anomaly"]),
        (["normal", "anomaly"], "ok", ["normal", "anomaly"]),
        (["anomaly", "anomaly"], "ok", ["anomaly", "anomaly"]),
        ([1, -1], None, ["normal", "anomaly"]),
    ],
)
def test_labels_of_a_file_for_a_detector(labels: list[object], normal: str | None, found: list[str]) -> None:
    assert labels_of_detector(np.array(labels), "x.csv", normal).tolist() == found


@pytest.mark.parametrize("normal", ["ok", None])
def test_labels_that_a_detector_does_not_know(normal: str | None) -> None:
    with pytest.raises(DataError, match=r"no row of x.csv has .*the label 'normal'; its labels are 'fine', 'leak'"):
        labels_of_detector(np.array(["fine", "leak"]), "x.csv", normal)


# ---- Splits ----------------------------------------------------------------------------------------------------------


def test_both_kinds_are_split_one_by_one() -> None:
    is_normal = np.arange(120) < 100
    train, test, notes = split_normal_rows(is_normal, None, 0.25, 3, "x")
    assert sorted([*train, *test]) == list(range(120))
    assert (is_normal[test].sum(), (~is_normal[test]).sum(), notes) == (25, 5, ())
    again = split_normal_rows(is_normal, None, 0.25, 3, "x")
    assert np.array_equal(train, again[0])
    assert np.array_equal(test, again[1])


@pytest.mark.parametrize("seed", range(5))
def test_groups_stay_whole_and_a_lonely_anomaly_is_tested(seed: int) -> None:
    groups = np.repeat(np.arange(14), 10)
    is_normal = groups < 12
    is_normal[::10] = False  # some anomalies in every group as well
    is_normal[groups == 13] = False
    train, test, _ = split_normal_rows(is_normal, groups, 0.25, seed, "x")
    assert not set(groups[train]) & set(groups[test])
    assert sorted([*train, *test]) == list(range(140))
    assert is_normal[test].any()
    one = np.flatnonzero(groups < 13)  # the only recording without normal rows is in the test
    _, test, _ = split_normal_rows(is_normal[one], groups[one], 0.25, seed, "x")
    assert 12 in groups[one][test]


# ---- Files -----------------------------------------------------------------------------------------------------------


def test_a_file_without_labels(tmp_path: Path) -> None:
    (tmp_path / "good.csv").write_text(BARE)
    train, test = data.read_train_and_test(tmp_path / "good.csv", label_of_all="normal")
    assert train.feature_names == ("a", "b")
    assert {*train.y.tolist(), *test.y.tolist()} == {"normal"}
    assert (len(train.X), len(test.X)) == (6, 2)
    with pytest.raises(OptionError, match="a label column is named of rows that have no labels"):
        data.read_train_and_test(tmp_path / "good.csv", "b", label_of_all="normal")


def test_a_test_file_may_have_labels(tmp_path: Path) -> None:
    (tmp_path / "good.csv").write_text(BARE)
    (tmp_path / "mixed.csv").write_text("b,state,a\n1,ok,2\n3,leak,4\n")
    (tmp_path / "more.csv").write_text("b,a\n1,2\n")
    train, test = data.read_train_and_test(tmp_path / "good.csv", test_path=tmp_path / "mixed.csv", label_of_all="ok")
    assert (set(train.y.tolist()), test.y.tolist(), test.X.tolist()) == ({"ok"}, ["ok", "leak"], [[2, 1], [4, 3]])
    _, test = data.read_train_and_test(tmp_path / "good.csv", test_path=tmp_path / "more.csv", label_of_all="ok")
    assert (test.y.tolist(), test.X.tolist()) == (["ok"], [[2, 1]])


def test_archives_and_libsvm_text_without_labels(tmp_path: Path) -> None:
    X = np.arange(24.0).reshape(8, 3)
    np.savez(tmp_path / "bare.npz", X=X)
    np.savez(tmp_path / "labelled.npz", X=X, y=np.arange(8))
    (tmp_path / "rows.svm").write_text("".join(f"0 1:{i} 2:1\n" for i in range(8)))
    for name in ("bare.npz", "labelled.npz", "rows.svm"):
        train, _ = data.read_train_and_test(tmp_path / name, label_of_all="normal")
        assert set(train.y.tolist()) == {"normal"}
    with pytest.raises(DataError, match="no array 'y'"):
        data.read_train_and_test(tmp_path / "bare.npz")


def test_parquet_without_labels(tmp_path: Path) -> None:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(arrow.table({"a": [1.0, 2.0, 3.0, 4.0], "b": [0.5, 1.0, 1.5, 0.0]}), tmp_path / "x.parquet")
    train, _ = data.read_train_and_test(tmp_path / "x.parquet", label_of_all="normal")
    assert (train.feature_names, set(train.y.tolist())) == (("a", "b"), {"normal"})


def test_missing_cells_are_filled_with_means_of_normal_rows_only(tmp_path: Path) -> None:
    rows = ROWS.replace("3,9,ok", "3,,ok")
    for name, text in (("few.csv", rows), ("many.csv", rows.replace("90,1,", "1e6,1e7,").replace("91,2,", "1e6,1e7,"))):
        (tmp_path / name).write_text(text)
    (tmp_path / "test.csv").write_text("a,b,state\n1,2,ok\n")
    for test_path in (None, tmp_path / "test.csv"):
        fills = [
            data.read_train_and_test(
                tmp_path / name, missing="mean", is_normal=teller(name, "ok"), test_path=test_path
            )[0].fill
            for name in ("few.csv", "many.csv")
        ]
        assert fills[0] is not None
        assert fills[1] is not None
        assert np.array_equal(fills[0], fills[1])
