"""Classes with few rows: weights by their labels, and a sentence where their figures say little."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen.methods.shared.row_weights import class_weights

MIN_TRAIN_ROWS, MIN_TEST_ROWS = 10, 3
RARE_SHARE = 0.5  # of the rows a class would have if all had as many
MOST_NAMED = 5


def weights_by_label(class_weight: object, y: NDArray[Any]) -> object:
    """Return the weights of all classes by the labels of ``y``, which text files and JSON know as text: ``"1"`` for 1.

    With a weight for every class, a fold of a cross-validation may lack some.
    """
    if not isinstance(class_weight, Mapping):
        return class_weight
    classes, index = np.unique(y, return_inverse=True)
    labels = {str(label): label for label in classes.tolist()}
    given = {labels.get(str(label), label): weight for label, weight in class_weight.items()}
    return dict(zip(classes.tolist(), class_weights(given, classes, index, None).tolist(), strict=True))


def few_row_warnings(y: NDArray[Any], y_test: NDArray[Any], class_weight: object) -> Iterator[str]:
    """Yield the sentence that the figures of some classes rest on very few rows, if they do, with what to do."""
    yield from few_counted(*np.unique(y, return_counts=True), y_test, class_weight)


def few_counted(
    classes: NDArray[Any], counts: NDArray[np.int64], y_test: NDArray[Any], class_weight: object
) -> Iterator[str]:
    """Yield the same where the training rows of each class were counted."""
    tested = np.array([np.count_nonzero(y_test == label) for label in classes])
    few = np.flatnonzero((counts < MIN_TRAIN_ROWS) | (tested < MIN_TEST_ROWS))
    if len(few) == 0:
        return
    shown = [f"{classes[k].item()!r} has {counts[k]} to train on and {tested[k]} to test on" for k in few[:MOST_NAMED]]
    more = f", and {len(few) - MOST_NAMED} more classes have as few" if len(few) > MOST_NAMED else ""
    least = min((int(n) for n in tested[few] if n), default=0)
    moved = ""
    if least:
        moved = f"; one test row more or less recognised moves a class's recall by up to {-(-100 // least)} points"
    advice = "collect more rows of it" if len(few) == 1 else "collect more rows of them"
    if class_weight is None and counts[few].min() < RARE_SHARE * counts.mean():
        advice += ", and set class_weight to balanced where missing a rare class costs more than a false alarm"
    yield f"few rows: class {', '.join(shown)}{more}{moved}; {advice}"
