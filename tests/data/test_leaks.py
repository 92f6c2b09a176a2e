"""What looks better in a test than on a device: told where it is so, and not told of honest data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sparsegen import data
from sparsegen.arrays import Array
from sparsegen.data import Dataset

N = 300
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 2))
Y = np.where(X[:, 0] > 0.5, "east", np.where(X[:, 1] > 0, "west", "calm"))
ORDER = RNG.permutation(N)


def told(rows: Dataset, seed: int = 0) -> tuple[str, ...]:
    return data.leaks(*data.split(rows, 0.25, seed))


def with_column(column: Any, name: str) -> Dataset:
    return data.from_arrays(np.column_stack([X, column]), Y, ["a", "b", name], "toy.csv")


@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer", "digits"])
@pytest.mark.parametrize("seed", range(3))
def test_honest_data_raise_no_alarm(name: str, seed: int) -> None:
    from sklearn import datasets

    bunch = getattr(datasets, f"load_{name}")()
    rows = data.from_arrays(bunch.data, bunch.target, [f"{word} [1]" for word in bunch.feature_names], name)
    sentences = told(rows, seed)
    if name == "iris":  # two of its rows are equal
        sentences = tuple(sentence for sentence in sentences if "exact cop" not in sentence)
    assert sentences == ()


HONEST = [
    (RNG.integers(0, 10, N), "level"),
    (RNG.integers(-32768, 32768, N), "raw"),
    (np.sort(RNG.integers(0, 20, N)), "age"),
    (RNG.choice([0, 1], N), "switch"),
    (RNG.normal(size=N) * 1e300, "huge"),
    (np.ones(N), "id"),
    (RNG.normal(size=N), "idle time"),
    (np.where(RNG.random(N) < 0.1, RNG.permutation(Y), Y) == "east", "nearly"),
]


@pytest.mark.parametrize(("column", "name"), HONEST, ids=[name for _, name in HONEST])
def test_an_honest_column_raises_no_alarm(column: Any, name: str) -> None:
    assert told(with_column(column, name)) == ()


SUSPICIOUS = [
    (np.arange(N), "n", "counts up"),
    (5000 - 0.01 * np.arange(N), "t", "counts up"),
    (np.cumsum(RNG.random(N)), "t", "counts up"),
    (np.arange(N) % 7, "window", "counts up"),
    (0.02 * (np.arange(N) % 50), "ms", "counts up"),
    (ORDER + 1000, "code", "number that was given to each row"),
    (RNG.integers(0, 9, N), "user_id", "by its name says whose or which recording"),
    (RNG.integers(0, 9, N), "Subject", "by its name says whose or which recording"),
    (RNG.integers(0, 9**9, N), "sample-id", "number that was given to each row"),
    (1_700_000_000 + 5.5 * ORDER, "when", "looks like a timestamp"),
    ((1_700_000_000 + ORDER) * 1e9, "when", "looks like a timestamp"),
    (RNG.normal(size=N), "timestamp", "looks like a timestamp"),
    (np.unique(Y, return_inverse=True)[1], "result", "alone tells the label"),
    (np.unique(Y, return_inverse=True)[1] + 0.4 * RNG.random(N), "score", "alone tells the label"),
]


@pytest.mark.parametrize(
    ("column", "name", "words"), SUSPICIOUS, ids=[f"{name} {words}" for _, name, words in SUSPICIOUS]
)
def test_a_column_that_knows_too_much_is_named_once(column: Any, name: str, words: str) -> None:
    (sentence,) = told(with_column(column, name))
    assert sentence.startswith(f"column {name!r} of toy.csv ")
    assert words in sentence
    assert sentence.count("drop it") == 1


def test_several_columns_share_a_sentence() -> None:
    rows = data.from_arrays(np.column_stack([X, np.arange(N), -2.0 * np.arange(N)]), Y, ["a", "b", "i", "j"], "toy.csv")
    (sentence,) = told(rows)
    assert sentence.startswith("columns 'i', 'j' of toy.csv count up")


def test_two_classes_told_apart_by_a_measurement_are_honest_but_not_by_a_copy() -> None:
    y, rng = np.arange(N) % 2, np.random.default_rng(1)
    noise = rng.normal(size=(N, 1))
    measured, copied = (y + 0.5 * rng.random(N))[:, None], y[:, None] * 3.0
    assert told(data.from_arrays(np.hstack([noise, measured]), y)) == ()
    assert "alone tells the label" in told(data.from_arrays(np.hstack([noise, copied]), y))[0]


def test_a_rare_class_does_not_make_every_column_a_copy_of_the_label() -> None:
    y = (np.arange(900) < 9).astype(int)
    assert told(data.from_arrays(np.random.default_rng(2).integers(0, 5, (900, 3)) + 3 * y[:, None], y)) == ()


def test_a_few_rows_are_no_evidence() -> None:
    assert told(data.from_arrays(np.arange(20.0)[:, None], [0, 1] * 10)) == ()


# ---- Copies ----------------------------------------------------------------------------------------------------------


def test_copies_of_training_rows_are_counted() -> None:
    train, test = data.split(data.from_arrays(X, Y, ["a", "b"], "toy.csv"), 0.25, 0)
    mixed = np.vstack([train.X[:6], test.X[6:]])
    (sentence,) = data.leaks(train, data.from_arrays(mixed, test.y, ["a", "b"], "other.csv"))
    assert sentence.startswith("6 of 75 test rows (8.00 %) are exact copies of training rows")
    (sentence,) = data.leaks(train, data.from_arrays(mixed[5:], test.y[5:]))
    assert sentence.startswith("1 of 70 test rows (1.42 %) is an exact copy of a training row")


def test_a_zero_has_no_sign() -> None:
    first, second = np.vstack([X, [0.0, 1.0]]), np.vstack([X + 9, [-0.0, 1.0]])
    y = [*Y, "east"]
    assert data.leaks(data.from_arrays(first, y), data.from_arrays(second, y))[0].startswith("1 of 301 test rows")


def test_rows_of_a_few_switches_are_copies_by_nature() -> None:
    rows = np.random.default_rng(3).integers(0, 2, (N, 4))
    y = np.random.default_rng(4).integers(0, 3, N)
    assert told(data.from_arrays(rows, y)) == ()


# ---- Windows of recordings, and samples ------------------------------------------------------------------------------


def recordings(n: int = 24, samples: int = 400) -> tuple[Array, Any]:
    """Return recordings of a moving arm, (n, samples, 3), each with its own speed and its own sensor position."""
    rng = np.random.default_rng(5)
    kinds = np.repeat(["idle", "swing", "turn"], n // 3)
    time = np.arange(samples) / 50
    speed = rng.uniform(0.8, 1.2, n) * np.repeat([0.1, 1.0, 2.0], n // 3)
    waves = np.sin(2 * np.pi * speed[:, None] * time)[:, :, None] * rng.normal(size=(n, 1, 3))
    return waves + rng.normal(size=(n, 1, 3)) + 0.05 * rng.normal(size=(n, samples, 3)), kinds


def windows(step: int) -> tuple[Array, Any, Any]:
    whole, kinds = recordings()
    rows, y, groups = [], [], []
    for i, (recording, kind) in enumerate(zip(whole, kinds, strict=True)):
        for start in range(0, len(recording) - 50, step):
            part = recording[start : start + 50]
            rows.append([*part.mean(axis=0), *part.std(axis=0), *np.abs(np.diff(part, axis=0)).mean(axis=0)])
            y.append(kind)
            groups.append(i)
    return np.array(rows), y, groups


@pytest.mark.parametrize("step", [25, 50])
def test_windows_of_recordings_without_groups_are_told(step: int) -> None:
    rows, y, groups = windows(step)
    (sentence,) = told(data.from_arrays(rows, y, source="arm.csv"))
    assert sentence.startswith("neighbouring rows of arm.csv are far more alike than others of their class")
    assert "name the column of the recording as group" in sentence
    assert told(data.from_arrays(rows, y, groups=groups)) == ()
    whole = data.from_arrays(rows, y)
    assert data.leaks(whole, data.from_arrays(rows + 1, y)) == ()  # the test is of another file
    shuffled = np.random.default_rng(6).permutation(len(rows))
    assert told(data.from_arrays(rows[shuffled], np.array(y)[shuffled])) == ()  # nothing is left to be seen


def test_a_time_column_does_not_hide_windows() -> None:
    rows, y, _ = windows(25)
    first, second = told(data.from_arrays(np.column_stack([1e6 * np.arange(len(rows)), rows]), y))
    assert "counts up" in first
    assert "far more alike" in second


def test_single_samples_of_a_series_are_told_what_a_window_is() -> None:
    whole, kinds = recordings()
    rows = data.from_arrays(whole.reshape(-1, 3), np.repeat(kinds, whole.shape[1]), source="arm.csv")
    (sentence,) = told(rows)
    assert sentence.startswith("rows of arm.csv look like single samples of a time series")
    assert "window of samples" in sentence
