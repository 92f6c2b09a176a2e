"""Which columns are features: those kept, or all but those dropped, in every format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sparsegen import data
from sparsegen.errors import DataError, OptionError

TABLE = "id,a,note,b,label,when\n1,2,hi,3,x,noon\n4,5,ho,6,y,dusk\n"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    (tmp_path / "toy.csv").write_text(TABLE)
    return tmp_path / "toy.csv"


@pytest.mark.parametrize(
    ("options", "names", "X"),
    [
        ({"drop": ("id", "note", "when")}, ("a", "b"), [[2, 3], [5, 6]]),
        ({"drop": ["0", 2, -1]}, ("a", "b"), [[2, 3], [5, 6]]),
        ({"drop": ["note", "when", "note"], "group": "id"}, ("a", "b"), [[2, 3], [5, 6]]),
        ({"keep": ("b", "a"), "label": "label"}, ("b", "a"), [[3, 2], [6, 5]]),
        ({"keep": (1, "id"), "label": "label"}, ("a", "id"), [[2, 1], [5, 4]]),
        ({"keep": ("a",), "label": -2, "group": 2}, ("a",), [[2], [5]]),
    ],
)
def test_columns_are_kept_or_dropped_whatever_they_hold(
    table: Path, options: dict[str, Any], names: tuple[str, ...], X: list[list[float]]
) -> None:
    rows = data.read(table, **options)
    assert rows.feature_names == names
    assert rows.X.tolist() == X
    assert rows.y.tolist() == ["x", "y"]  # without a name, the last column that is left


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"drop": ("nota",)}, "column 'nota' is not in toy.csv (did you mean 'note'?)"),
        ({"keep": (6,)}, "column 6 is not in toy.csv"),
        ({"drop": ("label",), "label": "label"}, "column 'label' of toy.csv is label or group, so it is no feature"),
        ({"keep": ("a", "id"), "group": "id"}, "column 'id' of toy.csv is label or group"),
        ({"drop": ("id", "a", "note", "b", "when")}, "no feature of toy.csv is left; drop fewer"),
        ({"keep": ("id", "a", "note", "b", "label", "when")}, "no column of toy.csv is left to be the label"),
    ],
)
def test_columns_that_cannot_be_chosen(table: Path, options: dict[str, Any], told: str) -> None:
    with pytest.raises(DataError) as caught:
        data.read(table, **options)
    assert told in str(caught.value)


def test_keeping_and_dropping_exclude_each_other(table: Path) -> None:
    for read in (data.read, data.read_train_and_test):
        with pytest.raises(OptionError, match="name those to keep or those to drop"):
            read(table, keep=("a",), drop=("b",))


def test_columns_of_arrays_have_names_too(tmp_path: Path) -> None:
    X, y = np.arange(12.0).reshape(3, 4), [0, 1, 0]
    np.savez(tmp_path / "plain.npz", X=X, y=y)
    np.savez(tmp_path / "named.npz", X=X, y=y, feature_names=list("pqrs"))
    (tmp_path / "toy.svm").write_text("0 1:0 2:1 3:2 4:3\n1 1:4 2:5 3:6 4:7\n0 1:8 2:9 3:10 4:11\n")
    for file, dropped, names in (
        ("plain.npz", ("x1", 3), ("x0", "x2")),
        ("named.npz", ("s", 1), ("p", "r")),
        ("toy.svm", ("x2", -1), ("x1", "x3")),
    ):
        rows = data.read(tmp_path / file, drop=dropped)
        assert rows.feature_names == names
        assert rows.X.tolist() == X[:, [0, 2]].tolist()
        assert data.read(tmp_path / file, keep=names[::-1]).X.tolist() == X[:, [2, 0]].tolist()
        with pytest.raises(DataError, match="is not in"):
            data.read(tmp_path / file, drop=("y",))
        full, labels = data.read_features(tmp_path / file, names)  # a model finds its features in the full file
        assert full.tolist() == X[:, [0, 2]].tolist()
        assert labels is not None


def test_a_model_finds_the_numbered_features_of_libsvm_text(tmp_path: Path) -> None:
    (tmp_path / "toy.svm").write_text("0 2:5\n")
    assert data.read_features(tmp_path / "toy.svm", ("x0", "x2"))[0].tolist() == [[0.0, 5.0]]
    assert data.read_features(tmp_path / "toy.svm", ("x2", "x7"))[0].tolist() == [[5.0, 0.0]]


def test_a_test_file_may_lack_what_is_dropped(table: Path, tmp_path: Path) -> None:
    (tmp_path / "test.csv").write_text("b,extra,a,label\n8,?,7,x\n")
    train, test = data.read_train_and_test(table, "label", test_path=tmp_path / "test.csv", drop=("id", "note", "when"))
    assert train.feature_names == test.feature_names == ("a", "b")
    assert test.X.tolist() == [[7.0, 8.0]]
