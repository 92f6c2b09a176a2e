"""Which rows are held out and which make up the sample: as many of each class as its share, each with equal chance."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from sparsegen.data.streams import Stream
from sparsegen.data.streams.draw import MIN_OF_CLASS, draw, held_out_rows
from sparsegen.errors import DataError, OptionError


class Labels(Stream):
    """A stream of labels only."""

    def __init__(self, y: np.ndarray, step: int = 50) -> None:
        self.y, self.step, self.n_rows = y, step, len(y)
        self.source, self.feature_names = "labels", ("x0",)

    def label_blocks(self) -> Iterator[np.ndarray]:
        for first in range(0, len(self.y), self.step):
            yield self.y[first : first + self.step]

    def row_blocks(self) -> Iterator[np.ndarray]:
        raise AssertionError("labels are enough")


def test_every_class_has_its_share_in_the_test_and_in_the_sample() -> None:
    y = np.repeat(["a", "b", "c"], [600, 300, 100])
    drawn = draw(Labels(y), test_rows=100, sample_rows=200, seed=0)
    assert drawn.classes.tolist() == ["a", "b", "c"]
    assert drawn.of_class.tolist() == [600, 300, 100]
    assert np.unique(y[drawn.test], return_counts=True)[1].tolist() == [60, 30, 10]
    assert np.unique(y[drawn.sample], return_counts=True)[1].tolist() == [120, 60, MIN_OF_CLASS]
    assert not np.intersect1d(drawn.test, drawn.sample).size
    assert (np.diff(drawn.test) > 0).all()


def test_a_rare_class_keeps_a_row_to_train_on() -> None:
    y = np.array([0] * 99 + [1])
    drawn = draw(Labels(y), test_rows=50, sample_rows=10, seed=0)
    assert 99 not in drawn.test
    assert 99 in drawn.sample


def test_the_draw_depends_on_the_seed_and_not_on_the_cuts_of_blocks() -> None:
    y = np.random.RandomState(0).randint(2, size=500)
    one, two, other = (
        draw(Labels(y, step), test_rows=50, sample_rows=50, seed=seed).test
        for step, seed in ((50, 0), (500, 0), (50, 1))
    )
    np.testing.assert_array_equal(one, two)
    assert not np.array_equal(one, other)


def test_every_row_has_the_same_chance() -> None:
    y = np.repeat([0, 1], 40)
    hits = np.zeros(80)
    for seed in range(300):
        hits[draw(Labels(y, 7), test_rows=8, sample_rows=0, seed=seed).test] += 1
    # 300 draws of one in ten: 30 +- 5.2; the largest of 80 deviations stays within four of these
    assert np.abs(hits - 30).max() < 4 * np.sqrt(300 * 0.1 * 0.9)


def test_a_reservoir_keeps_no_more_rows_than_could_be_needed() -> None:
    from sparsegen.data.streams.draw import _Reservoir

    reservoir = _Reservoir(10)
    rng = np.random.default_rng(0)
    keys = rng.random(5000)
    for first in range(0, 5000, 100):
        reservoir.add(keys[first : first + 100], np.arange(first, first + 100))
        assert len(reservoir._places) <= 30
    np.testing.assert_array_equal(reservoir.sorted(), np.argsort(keys)[:10])


BAD = {
    "one class": (np.zeros(30, np.int64), "has one class only"),
    "too many": (np.arange(5000), "more than 1000 different labels"),
}


@pytest.mark.parametrize(("y", "sentence"), BAD.values(), ids=BAD)
def test_labels_that_are_no_classes_are_one_sentence(y: np.ndarray, sentence: str) -> None:
    with pytest.raises(DataError, match=sentence):
        draw(Labels(y, 2000), test_rows=5, sample_rows=5, seed=0)


def test_numbers_here_and_texts_there_are_an_error() -> None:
    class Mixed(Labels):
        def label_blocks(self) -> Iterator[np.ndarray]:
            yield np.array([1, 2])
            yield np.array(["1", "x"])

    with pytest.raises(DataError, match="some labels of labels are whole numbers and others texts"):
        draw(Mixed(np.zeros(4)), test_rows=1, sample_rows=1, seed=0)


def test_a_share_is_held_out_up_to_a_number_of_rows() -> None:
    assert held_out_rows(1000, 0.25, 5000) == 250
    assert held_out_rows(10**9, 0.25, 5000) == 5000
    with pytest.raises(OptionError, match="between 0 and 1"):
        held_out_rows(10, 1.0, 5)
