"""Options that say what the columns of a file are: groups, features, and what is missing."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest
from command_line import Run
from golden_models import EVERY

from sparsegen.model import SparseModel

QUICK = ("--vectors", 4, "--gamma", 0.3, "--C", 1, "--set", "max_iter=3")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Recordings of ten windows: a row number, the recording, a note, two features and the label."""
    rng = np.random.default_rng(0)
    with (tmp_path / "toy.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["row", "who, when", "note", "a", "b", "label"])
        for i in range(120):
            k = i // 10 % 3
            a, b = rng.normal(size=2) + 2 * np.array([k, k == 1])
            writer.writerow([i, f"r{i // 10}", "ok", f"{a:.3f}", f"{b:.3f}", "abc"[k]])
    return tmp_path / "toy.csv"


@pytest.mark.parametrize("options", [("--drop", "row,note"), ("--features", "a,b"), ("--drop", "0, 2")])
def test_a_model_takes_the_full_file_that_it_was_trained_on_a_part_of(
    run: Run, table: Path, tmp_path: Path, options: tuple[str, str]
) -> None:
    model = tmp_path / "m.safetensors"
    ended = run("train", table, "--group", "who, when", *options, *QUICK, "-o", model, "--json")
    assert (ended.code, ended.err) == (0, "")
    document = json.loads(ended.out)
    assert (document["features"], document["test_rows"]) == (2, 30)  # three recordings of twelve, one for each class
    assert SparseModel.load(model).card["feature_names"] == ["a", "b"]
    ended = run("predict", model, table)
    assert (ended.code, ended.out.count("\n")) == (0, 121)
    assert ended.err.startswith("of 120 rows 30 were held out in training")


def test_what_misleads_is_told_with_the_model(run: Run, table: Path, tmp_path: Path) -> None:
    ended = run("train", table, "--drop", 'note,"who, when"', *QUICK, "-o", tmp_path / "m.safetensors", "--json")
    assert ended.code == 0
    assert "column 'row' of toy.csv counts up" in json.loads(ended.out)["warnings"][0]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--drop", "note,"), "'note,' is no list of columns: it has an empty name"),
        (("--drop", '"note'), "close every quote"),
        (("--drop", "nota"), "column 'nota' is not in toy.csv (did you mean 'note'?)"),
        (("--drop", "note", "--features", "a"), "--features and --drop exclude each other"),
        (("--group", "whom"), "column 'whom' is not in toy.csv; it has 'row'"),
    ],
)
def test_columns_that_are_not_there(run: Run, table: Path, tmp_path: Path, options: tuple[str, ...], told: str) -> None:
    ended = run("train", table, *options, "-o", tmp_path / "m.safetensors")
    assert ended.code == 2
    assert told in " ".join(ended.err.split())
    assert not (tmp_path / "m.safetensors").exists()


def test_a_model_that_was_trained_on_means_fills_gaps(run: Run, table: Path, tmp_path: Path) -> None:
    gappy, model = tmp_path / "gappy.csv", tmp_path / "m.safetensors"
    lines = table.read_text().splitlines()
    gappy.write_text("\n".join([*lines[:3], f"2,r0,ok,,1.0,{lines[3][-1]}", *lines[4:]]))
    ended = run("train", gappy, "--drop", "row,1,note", *QUICK, "-o", model)
    assert ended.code == 2
    assert "row 4, column 'a' of gappy.csv is empty; fill it in or drop the row (--missing drop)" in " ".join(
        ended.err.split()
    )
    ended = run("train", gappy, "--drop", "row,1,note", "--missing", "mean", *QUICK, "-o", model, "--json")
    assert ended.code == 0
    (warning, *_) = json.loads(ended.out)["warnings"]
    assert warning.startswith(
        "1 cell without a number in 1 row, column 'a', the first in row 4, column 'a' of gappy.csv"
    )
    fill = SparseModel.load(model).card["fill"]
    assert len(fill) == 2
    assert run("export", model, "-o", tmp_path / "c").code == 0
    header = (tmp_path / "c" / "model.h").read_text()
    assert "missing values: replace each by the mean of its feature" in header
    told = [float(mean) for mean in re.findall(r"mean of x\[\d\]: (.+)\n", header)]  # as a device must fill them
    assert np.array(told, np.float32).tolist() == np.array(fill, np.float32).tolist()
    ended = run("predict", model, gappy)
    assert (ended.code, ended.out.count("\n")) == (0, 121)
    assert ended.err.startswith("warning: 1 cell without a number in 1 row, column 'a', the first in row 4")


def test_a_model_to_which_a_nan_counts_as_something_takes_empty_cells(run: Run, tmp_path: Path) -> None:
    model, gappy, whole = tmp_path / "m.safetensors", tmp_path / "gappy.csv", tmp_path / "whole.csv"
    of = EVERY["rbf_filled"]
    assert of.transform.fill is not None
    of.save(model)
    gappy.write_text("a,b,c\n1,,2\n,,\n")
    first, second, third = of.transform.fill.tolist()
    whole.write_text(f"a,b,c\n1,{second!r},2\n{first!r},{second!r},{third!r}\n")
    told = run("predict", model, gappy)
    assert (told.code, told.err) == (0, "")
    assert told.out == run("predict", model, whole).out
    assert run("verify", model, gappy, "--device", "host").code == 0
    assert json.loads(run("inspect", model, "--json").out)["nan_counts_as"] == of.transform.fill.tolist()


def test_an_unknown_way_with_gaps(run: Run, table: Path, tmp_path: Path) -> None:
    ended = run("train", table, "--missing", "skip", "-o", tmp_path / "m.safetensors")
    assert ended.code == 2
    assert "choose one of: error, drop, mean" in " ".join(ended.err.split())
