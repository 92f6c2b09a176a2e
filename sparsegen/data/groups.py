"""Groups of rows that belong together, such as the windows of one recording: a split must not tear them apart."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen.data.checks import Labels, check_text, count, listed, short
from sparsegen.errors import DataError

ORDERS = 10
"""Orders in which groups are dealt to the test, of which the one that keeps the classes' shares best is taken."""
MAX_DEALT = 100_000  # groups dealt in all orders together; a group is dealt in some ten microseconds
FEW_TEST_GROUPS = 3  # below which a test says little about groups that nobody has seen

Codes = NDArray[np.int64]


def checked_groups(groups: NDArray[Any], n_rows: int, source: str) -> Labels:
    """Return one group per row as whole numbers or texts, or raise an error that says which row has none."""
    if groups.ndim == 2 and groups.shape[1] == 1:
        groups = groups[:, 0]
    if groups.shape != (n_rows,):
        raise DataError(f"{source} has {count(n_rows, 'row')} but groups of shape {groups.shape}; give one per row")
    kind = groups.dtype.kind
    if kind in "biu":
        return groups
    if kind == "f" and np.isfinite(groups).all():
        return groups
    if kind == "f":
        row = int(np.flatnonzero(~np.isfinite(groups))[0])
        raise DataError(f"the group of row {row + 1} of {source} is not a finite number; fill it in")
    if kind not in "US" and not (kind == "O" and all(isinstance(group, str) for group in groups)):
        raise DataError(f"the groups of {source} hold {groups.dtype}; give whole numbers or strings")
    texts = np.char.decode(groups, "utf-8", "replace") if kind == "S" else groups.astype(np.str_)
    for text in np.unique(texts).tolist():
        check_text(text, f"group {short(text)} of {source}")
    return texts


def group_codes(*parts: Labels) -> list[Codes]:
    """Return for the groups of each part their numbers by first appearance, counted through all parts."""
    alike = parts if len({part.dtype.kind for part in parts}) == 1 else tuple(part.astype(np.str_) for part in parts)
    whole = np.concatenate(alike)
    _, first, codes = np.unique(whole, return_index=True, return_inverse=True)
    by_appearance = np.empty(len(first), dtype=np.int64)
    by_appearance[np.argsort(first)] = np.arange(len(first))
    return np.split(by_appearance[codes], np.cumsum([len(part) for part in parts[:-1]]))


def held_out_groups(
    y: Labels, groups: Codes, test_size: float, seed: int, source: str
) -> tuple[NDArray[np.bool_], tuple[str, ...]]:
    """Return which rows are held out, whole groups only and of every class a share if possible, and what to know.

    Every class keeps a training row. The same seed gives the same groups.
    """
    classes, labels = np.unique(y, return_inverse=True)
    present, members = np.unique(groups, return_inverse=True)
    if len(present) < 2:
        raise DataError(
            f"all rows of {source} are one group, which cannot be split; record more groups or split without them"
        )
    n_classes = len(classes)
    counts = np.bincount(members * n_classes + labels, minlength=len(present) * n_classes)
    counts = counts.reshape(len(present), n_classes)
    lonely = (counts > 0).sum(axis=0) == 1
    free = np.flatnonzero(~(counts[:, lonely] > 0).any(axis=1))
    if not len(free):
        raise DataError(
            f"no group of {source} can be held out: each is the only one with rows of some class; record every class "
            "in at least two groups"
        )
    chosen = _deal(counts, free, test_size, np.random.default_rng(seed))
    notes = []
    if lonely.any():
        notes.append(
            f"of some classes of {source} all rows are one group, so they are trained but not tested: "
            f"{listed(classes[lonely].tolist())}; record them in a second group"
        )
    if len(chosen) < FEW_TEST_GROUPS:
        notes.append(
            f"the test rows of {source} are {count(len(chosen), 'group')} of {len(present)}, which says little about "
            "new groups; record more"
        )
    return np.isin(members, chosen), tuple(notes)


def _deal(
    counts: NDArray[np.int64], free: NDArray[np.intp], test_size: float, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Return groups whose rows are nearly ``test_size`` of every class and leave each class a row."""
    totals = counts.sum(axis=0)
    # The last column counts rows of any class, so that the test is about as large as asked for.
    shares = np.column_stack([counts / totals, counts.sum(axis=1) / totals.sum()])
    best, best_cost = free[:1], (len(totals) + 1, 0.0)
    for _ in range(max(1, min(ORDERS, MAX_DEALT // len(free)))):
        missing, left, taken = np.full(shares.shape[1], test_size), totals.copy(), []
        for group in rng.permutation(free):
            has = counts[group] > 0
            is_new = (left == totals)[has].any()
            lowers = shares[group] @ (2 * missing - shares[group]) > 0  # what is missing, squared and summed
            if (is_new or lowers) and (left > counts[group])[has].all():
                missing, left = missing - shares[group], left - counts[group]
                taken.append(group)
        cost = (int((left == totals).sum()), float(missing @ missing))  # a class without a test is worst
        if cost < best_cost:
            best, best_cost = np.array(taken), cost
    return best
