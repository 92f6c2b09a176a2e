"""GSVC, the growing support vector classifier [K06, eq. 8] (Parrado-Hernandez et al., 2003).

The next row is the active one that is least like the chosen rows, whatever it gains:

    j* = argmin_{j in I, j not in J} max_{l in J} |K_jl|

For the symbols, C, the bias and several classes see ``shared.greedy``.

Note: the first row is a random active one. The machine is SpSVM's, with the squared hinge, as [K06] compares it.
"""

from __future__ import annotations

import numpy as np

from sparsegen.methods import METHODS
from sparsegen.methods.shared.greedy import ActiveRowClassifier
from sparsegen.methods.shared.growth import Growth


@METHODS.register("gsvc")
class GSVC(ActiveRowClassifier):
    """Greedy SVM that adds the active training row least like those it has."""

    method = "gsvc"
    summary = "growing SVC: active rows least like the chosen ones [K06]"

    def _choose(self, growth: Growth, rng: np.random.RandomState) -> tuple[int, float | None] | None:
        rows, at = growth.active()
        if len(rows) == 0:
            return None
        if not growth.chosen:
            w = growth.machine.weights
            return int(rng.choice(rows, p=None if w is None else w[at] / w[at].sum())), None
        likeness = np.abs(growth.machine.A[growth.machine.first :, at]).max(axis=0)  # [K06, eq. 8]
        return int(rows[np.argmin(likeness)]), None
