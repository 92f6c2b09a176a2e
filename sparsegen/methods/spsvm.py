"""SpSVM, the greedy primal SVM [K06]: an SVM on few training rows, added one by one where each helps most.

    min_beta  lam/2 beta' K_JJ beta + 1/2 sum_i max(0, 1 - y_i (K_iJ beta + b))^2                    [K06, eq. 4]

for a growing set J. Try kappa random rows and add the one that lowers this most: with all coefficients re-solved
(basis selection method 1) or only its own (method 2 [K06, eq. 7], O(n) a candidate). Then Newton steps on a growing
Cholesky factor reach the optimum for the new J [K06, eq. 6]. Time O(n d_max^2), memory O(n d_max).

For the symbols, C, the bias and several classes see ``shared.greedy``.
"""

from __future__ import annotations

from sparsegen.methods import METHODS
from sparsegen.methods.shared.greedy import SHRINKING, GainClassifier


@METHODS.register("spsvm")
class SpSVM(GainClassifier):
    """Greedy primal SVM with the squared hinge loss; vectors are training rows."""

    method = "spsvm"
    summary = "greedy primal SVM: training rows chosen by what they gain [K06]"

    shrinking: bool = SHRINKING
