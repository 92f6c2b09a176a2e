"""Models whose projection weighs groups of features alike: blocks of images and series, and groups without order."""

from __future__ import annotations

import numpy as np

from benchmarks.trust._together import IntegerCase
from sparsegen.kernels import KERNELS
from sparsegen.lowering.group_features import Blocks
from sparsegen.model import SparseModel, Transform

IMAGE = Blocks(12, 12, 2, 2)


def grouped_case(label, p: int = 5, *, dropped=(), n_classes: int = 2, seed: int = 1, m: int = 4) -> IntegerCase:
    """Return a model of pixels whose projection has one random column for each label, and 0 for dropped features.

    Some pixels are always 0 in its rows, as at the border of an image.
    """
    rng = np.random.default_rng(seed)
    label = np.asarray(label)
    d = len(label)
    projection = rng.normal(size=(p, int(label.max()) + 1))[:, label] / np.sqrt(d)
    projection[:, list(dropped)] = 0.0
    rows = np.clip(np.rint(110.0 + 70.0 * rng.normal(size=(40, d))), 0, 255)
    rows[:, rng.random(d) < 0.1] = 0.0
    rows[:2] = [[0.0], [255.0]]
    rows[:2, : d // 8] = 0.0  # always
    transform = Transform(np.full(d, 100.0), np.full(d, 1 / 64.0), projection)
    coef = rng.normal(size=(1 if n_classes == 2 else n_classes, 1, m))
    kernel = KERNELS["rbf"].bind(gamma=0.3 / p)
    made = SparseModel(
        transform(rows[5 : 5 + m]), coef, coef[:, 0, 0] / 3.0, (kernel,), transform, tuple(range(n_classes))
    )
    return IntegerCase(made, rows)


SHUFFLED = np.random.default_rng(3).permutation(Blocks(12, 10, 2, 5).of_feature)
POOLED = {
    "image": grouped_case(IMAGE.of_feature),
    "ragged": grouped_case(Blocks(11, 13, 2, 3).of_feature, n_classes=3),
    "series": grouped_case(Blocks(1, 130, 1, 4).of_feature, p=6),
    "channels": grouped_case(Blocks(48, 3, 4, 1).of_feature, seed=2),
    "table": grouped_case(SHUFFLED, p=12),
    "table_dropped": grouped_case(SHUFFLED, p=12, dropped=range(0, 60, 7), n_classes=3, seed=4),
    "blocks_dropped": grouped_case(IMAGE.of_feature, p=12, dropped=np.flatnonzero(IMAGE.of_feature % 6 > 2)),
    "chosen": grouped_case(np.arange(90), p=12, dropped=np.flatnonzero(np.arange(90) % 9 > 3)),
}
"""One for every way to find the group of a feature."""
