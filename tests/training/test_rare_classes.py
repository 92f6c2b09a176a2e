"""Classes with few rows are told of, and their weights may be given by the text of their labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sparsegen import SVM, data
from sparsegen.errors import OptionError
from sparsegen.training import train as training
from sparsegen.training.rare_classes import few_row_warnings, weights_by_label

BALANCED = ", and set class_weight to balanced where missing a rare class costs more than a false alarm"


def labels(**counts: int) -> NDArray[Any]:
    return np.repeat(list(counts), list(counts.values()))


def told(train: NDArray[Any], test: NDArray[Any], class_weight: object = None) -> list[str]:
    return list(few_row_warnings(train, test, class_weight))


def test_enough_rows_are_no_news() -> None:
    assert told(labels(ok=300, fault=10), labels(ok=100, fault=3)) == []


def test_few_rows_of_a_class_are_told_with_what_they_mean() -> None:
    train, test = labels(ok=672, fault=4), labels(ok=224, fault=2)
    sentence = (
        "few rows: class 'fault' has 4 to train on and 2 to test on; one test row more or less recognised moves "
        "a class's recall by up to 50 points; collect more rows of it"
    )
    assert told(train, test) == [sentence + BALANCED]
    assert told(train, test, "balanced") == [sentence]
    assert told(train, test, {"fault": 3.0}) == [sentence]


def test_even_classes_with_few_rows_need_rows_not_weights() -> None:
    (sentence,) = told(labels(a=9, b=9), labels(a=3, b=3))
    assert "class 'a' has 9 to train on and 3 to test on, 'b' has 9 to train on and 3 to test on;" in sentence
    assert sentence.endswith("by up to 34 points; collect more rows of them")


def test_many_classes_are_one_sentence() -> None:
    train = labels(**{f"c{k}": 5 for k in range(26)})
    (sentence,) = told(train, train[:100])
    assert "and 21 more classes have as few; one test row more or less recognised moves" in sentence


def test_weights_are_found_by_the_text_of_a_label() -> None:
    y = np.array([1, 2, 2, -3])
    assert weights_by_label({"1": 2.0, -3: 4.0}, y) == {1: 2.0, 2: 1.0, -3: 4.0}
    assert weights_by_label({"a": 2.0}, np.array(["a", "b"])) == {"a": 2.0, "b": 1.0}
    with pytest.raises(OptionError, match="class_weight names a class '4' that no row has"):
        weights_by_label({"1": 2.0, "4": 3.0}, y)
    assert weights_by_label("balanced", y) == "balanced"
    assert weights_by_label(None, y) is None


def test_a_fold_without_a_class_that_has_a_weight_is_trained() -> None:
    y = np.repeat(["a", "b", "c"], 10)
    X = np.random.default_rng(0).normal(size=(30, 2))
    machine = SVM(class_weight=weights_by_label({"c": 5.0}, y))  # type: ignore[arg-type]
    assert machine.fit(X[:20], y[:20]).class_weight_.tolist() == [1.0, 1.0]
    with pytest.raises(OptionError, match="no row has"):
        SVM(class_weight={"c": 5.0}).fit(X[:20], y[:20])


def test_train_weighs_classes_and_tells_of_few_rows() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([1, 7], [150, 8])
    X = rng.normal(size=(158, 3)) + 1.2 * (y == 7)[:, None]
    sets = data.split(data.from_arrays(X, y), 0.25, seed=0)
    plain = training.train(*sets, method="svm")
    weighed = training.train(*sets, method="svm", parameters={"class_weight": {"7": 20}})
    assert weighed.model.card["class_weights"] == {"1": 1.0, "7": 20.0}
    assert weighed.warnings[-1].startswith("few rows: class 7 has 6 to train on and 2 to test on; ")
    assert not weighed.warnings[-1].endswith(BALANCED)
    assert plain.warnings[-1].endswith(BALANCED)
    found, found_weighed = (np.count_nonzero(one.model.predict(X) == 7) for one in (plain, weighed))
    assert found < found_weighed
    with pytest.raises(OptionError, match="class_weight names a class '8' that no row has"):
        training.train(*sets, method="svm", parameters={"class_weight": {"8": 20}})
    with pytest.raises(OptionError, match="class_weight is 'even', but must be"):
        training.train(*sets, method="svm", parameters={"class_weight": "even"})
