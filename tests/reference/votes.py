"""LIBSVM's svm_predict_values, as it stands there: one vote per pair of classes, and the first with the most wins."""

from __future__ import annotations

import numpy as np


def libsvm_class(scores: np.ndarray, n_classes: int) -> int:
    vote = [0] * n_classes
    p = 0
    for i in range(n_classes):
        for j in range(i + 1, n_classes):
            if scores[p] > 0:
                vote[i] += 1
            else:
                vote[j] += 1
            p += 1
    best = 0
    for i in range(1, n_classes):
        if vote[i] > vote[best]:
            best = i
    return best
