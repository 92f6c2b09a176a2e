"""Signs that an accuracy will not hold on a device: columns that know too much, test rows that training saw.

Each is a suspicion and not an error, told in a sentence: what was seen, why it misleads, what to do.
"""

from __future__ import annotations

from sparsegen.data.alike_rows import copied_rows, neighbours
from sparsegen.data.checks import count, listed
from sparsegen.data.dataset import Dataset
from sparsegen.data.telling_columns import TOLD, telling_columns
from sparsegen.promised import percent


def leaks(train_set: Dataset, test_set: Dataset, *, has_classes: bool = True) -> tuple[str, ...]:
    """Return what makes the test easier than use will be, as far as the rows show it, most serious first.

    Where labels are values and no classes, neighbouring rows are not compared with others of their class.
    """
    told = []
    suspects = telling_columns(train_set, has_classes=has_classes)
    for kind, names in suspects.items():
        one = len(names) == 1
        columns = f"column{'' if one else 's'} {listed(names)} of {train_set.source}"
        told.append(f"{columns} {TOLD[kind].one if one else TOLD[kind].many}")
    usable = set(train_set.feature_names) - {name for names in suspects.values() for name in names}
    found = neighbours(train_set, usable) if has_classes else None
    is_one_file = train_set.rows is not None and test_set.rows is not None and train_set.source == test_set.source
    if found is not None and found.are_samples:
        told.append(
            f"rows of {train_set.source} look like single samples of a time series: few features, neighbours nearly "
            "equal, labels in long runs; one sample rarely tells what goes on, so make each row from a window of "
            "samples (mean, standard deviation and mean step of every channel over a second, say), and name the column "
            "of the recording as group, or the test holds near copies of training rows"
        )
    elif found is not None and found.are_alike and is_one_file and train_set.groups is None:
        told.append(
            f"neighbouring rows of {train_set.source} are far more alike than others of their class, as overlapping or "
            "consecutive windows of one recording are; split between training and test they make the accuracy look "
            "better than it is on new recordings, so name the column of the recording as group"
        )
    if copies := copied_rows(train_set, test_set):
        are = "is an exact copy of a training row" if copies == 1 else "are exact copies of training rows"
        what = "accuracy" if has_classes else "test"
        share = percent(copies / len(test_set.X))
        told.append(
            f"{copies} of {count(len(test_set.X), 'test row')} ({share}) {are}, so the {what} "
            "counts in part what was learned by heart; remove the copies, or give copies one group"
        )
    return tuple(told)
