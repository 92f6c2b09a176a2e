"""KMP, kernel matching pursuit [K06, 4] (Vincent and Bengio, 2002): SpSVM's greedy choice with the squared loss.

    min_beta  lam/2 beta' K_JJ beta + 1/2 sum_i (y_i - K_iJ beta - b)^2

for a growing set J. KMP-R has the regulariser, KMP-NR (``regularize=False``), the original, has none.

For the symbols, C, the bias and several classes see ``shared.greedy``.

Note: without regulariser lam is 1e-5, as in [K06, 4] for SpSVM-NR, not 0: nearly equal rows must not blow up.
"""

from __future__ import annotations

from sparsegen.methods import METHODS
from sparsegen.methods.shared.greedy import GainClassifier


@METHODS.register("kmp")
class KMP(GainClassifier):
    """Kernel matching pursuit: greedy kernel least squares; vectors are training rows."""

    method = "kmp"
    summary = "kernel matching pursuit: training rows chosen for the squared loss [K06]"
    loss = "squared"
