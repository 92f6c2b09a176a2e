"""A data scientist: tables with rare classes, leaks and gaps, and figures by class that can be believed."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np

from benchmarks._roles import arrays, rows
from benchmarks._roles.visit import Skip, Visit

QUICK = "--vectors 4 --gamma 0.1 --C 1 --set max_iter=5"


def visit(scientist: Visit) -> None:
    """From what misleads to what is converted."""
    rows.write(Path("rare.csv"), ["a", "b", "c", "state"], rows.rare(scientist.seed))
    _rare(scientist)
    _misleading(scientist)
    _missing(scientist)
    _formats(scientist)
    _values(scientist)
    arrays.visit(scientist)


def _values(scientist: Visit) -> None:
    rng = np.random.default_rng(scientist.seed)
    X = rng.normal(size=(300, 3))
    y = 20 + 5 * np.sin(X[:, 0]) + X[:, 1]
    rows.write(Path("heat.csv"), ["a", "b", "c", "degrees"], [[*np.round(x, 4), v] for x, v in zip(X, y, strict=True)])
    train = "train heat.csv --vectors 8 --set max_iter=10"
    scientist.types("labels that are measurements", train, r"train a regression .*--task regress", code=2)
    scientist.types(
        "a regression, and its error on new rows",
        f"{train} --task regress -o heat.safetensors",
        r"mean error: estimated 95 % interval [\d.]+ to [\d.]+ if rows are independent",
        r"the mean alone mean error [\d.]+",
    )
    scientist.types(
        "which rows count later",
        "inspect heat.safetensors",
        r"R2 [\d.]+, mean error [\d.]+, RMSE [\d.]+ on 75 rows",
    )


def _rare(scientist: Visit) -> None:
    train = "train rare.csv --vectors 4 --set max_iter=5"
    scientist.types(
        "98 % accurate, but the fault is missed",
        f"{train} --gamma 0.3 --C 0.1 -o r.safetensors",
        r"the accuracy hides how often some classes are missed: 'fault' \(\d+ of its \d+ test rows\)",
        r"fault 4 - 0\.00 % 0 4",
    )
    scientist.types(
        "an interval with every accuracy",
        f"{train} --gamma 0.3 --C 0.1 -o r.safetensors",
        r"test accuracy [\d.]+ % of 150 rows \(95 % interval [\d.]+ to [\d.]+ % if rows are independent\)",
        r"balanced 50\.00 %: the mean recall of the classes",
    )
    for given in ("balanced", "fault=30,ok=1"):
        scientist.types(
            f"--class-weight {given}",
            f"{train} --gamma 0.1 --C 1 --class-weight {given} -o r.safetensors",
            r"balanced ([6-9]\d|100)\.\d\d %: the mean recall of the classes",
        )
    for metric in ("balanced", "f1"):
        scientist.types(
            f"--metric {metric}",
            f"{train} --metric {metric} --gamma 0.3 -o m.safetensors",
            rf"chosen C \S+ \(best of \d by {metric}, \d-fold cross-validation on 450 rows\)",
        )
    scientist.types(
        "train on all rows, after the test",
        f"train rare.csv {QUICK} --final -o final.safetensors",
        "at last on 600 rows, test rows included; the accuracies are those before",
    )
    scientist.types(
        "and no row counts as held out afterwards",
        "inspect final.safetensors",
        "trained .*test rows included; the accuracy is that before|all 600 rows, test rows included[^│]*before",
    )


def _misleading(scientist: Visit) -> None:
    X, y = rows.blobs(scientist.seed, 160)
    numbers, labels = np.round(X, 3).tolist(), [("low", "middle", "high")[k] for k in y]
    names = list("abcd")
    heat = [[*row, round(float(sum(row)), 1)] for row in numbers]
    rows.write(Path("heat.csv"), [*names, "celsius"], heat)
    rows.write(
        Path("code.csv"),
        [*names, "code", "level"],
        [[*r, 7 * k, la] for r, k, la in zip(numbers, y, labels, strict=True)],
    )
    rows.write(
        Path("id.csv"),
        ["sample_id", *names, "level"],
        [[997 * i % 1601, *r, la] for i, (r, la) in enumerate(zip(numbers, labels, strict=True))],
    )
    twice = [[*row, label] for row, label in zip(numbers, labels, strict=True)]
    rows.write(Path("twice.csv"), [*names, "level"], [*twice, *twice[:60]])
    few = [*twice, *([[*numbers[k], "other"] for k in range(4)])]
    rows.write(Path("few.csv"), [*names, "level"], few)
    scientist.types(
        "a label that is a temperature", f"train heat.csv {QUICK}",
        "the labels of heat.csv look like measurements and not like classes: .*", code=2,
    )  # fmt: skip
    for asked, file, says in (
        (
            "a column made from the label",
            "code.csv",
            "columns? [^;]*'code' of code.csv (each )?alone tell.*?drop (it|them)",
        ),
        ("an id", "id.csv", "column 'sample_id' of id.csv .*?; drop it"),
        (
            "rows that are there twice",
            "twice.csv",
            r"\d+ of \d+ test rows \([\d.]+ %\) are exact copies of training rows",
        ),
        ("a class with four rows", "few.csv", r"few rows: class 'other' has \d to train on and \d to test on[^:]*"),
    ):
        scientist.types(asked, f"train {file} {QUICK} -o l.safetensors", says)


def _missing(scientist: Visit) -> None:
    X, y = rows.blobs(scientist.seed, 120)
    table = [[*map(str, np.round(row, 3).tolist()), f"class {k}"] for row, k in zip(X, y, strict=True)]
    table[3][0], table[7][1], table[7][2], table[40][3] = "", "NA", "?", "inf"
    rows.write(Path("gaps.csv"), ["a", "b", "c", "d", "class"], table)
    for way, says, code in (
        ("error", r"4 cells without a number in 3 rows, columns 'a', 'b', 'c', 'd'\); fill them in.*", 2),
        ("drop", "3 rows of 120 of gaps.csv dropped for 4 cells without a number", 0),
        ("mean", "filled with the mean of the training rows, as a device must do before it predicts", 0),
    ):
        scientist.types(
            f"--missing {way}", f"train gaps.csv --missing {way} {QUICK} -o gaps.safetensors", says, code=code
        )
    scientist.types(
        "predict rows with gaps", "predict gaps.safetensors gaps.csv -o gaps-out.csv", "4 cells without a number.*?row"
    )


def _formats(scientist: Visit) -> None:
    for name, magic in (("Parquet", b"PAR1PAR1"), ("Feather", b"ARROW1")):
        asked, file = f"{name}, by pyarrow", f"rare.{name.lower()}"
        with scientist.wish(asked):
            import pandas

            if importlib.util.find_spec("pyarrow") is None:
                Path(file).write_bytes(magic)
                scientist.types(
                    f"{name} without pyarrow says what to install", f"train {file} {QUICK}", "pyarrow.*", code=2
                )
                raise Skip("pyarrow is not installed")
            getattr(pandas.read_csv("rare.csv"), f"to_{name.lower()}")(file)
            scientist.types(asked, f"train {file} {QUICK} -o p.safetensors", "test accuracy [^(]*")
