"""Which methods do not end where they would if rows of weight k were k equal rows, to the last digits, and why."""

from __future__ import annotations

from sparsegen.methods.shared.estimator import SparseClassifier

LIBSVM = "LIBSVM ends anywhere within its tolerance, and another set of rows leads it elsewhere"
DRAWS = "rows are drawn at random, heavy ones more often, and one seed draws others from another set of rows"
DEFAULT = "there are no more vectors than rows by default, and repeated rows are more"
WHY_NOT = {
    "gsvc": DRAWS,
    "minimal": LIBSVM,
    "mksvm": LIBSVM,
    "mrs": LIBSVM,
    "mrsvm": DRAWS,
    "rs": LIBSVM,
    "rsvm": DRAWS,
    "svm": LIBSVM,
}
"""By the name of the method."""


def expected_failures(estimator: SparseClassifier) -> dict[str, str]:
    """Return scikit-learn's checks that must fail for a method: its data are fifteen rows, compared to 1e-7."""
    reason = WHY_NOT.get(estimator.method)
    if reason is None and estimator.method == "slmc" and estimator.get_params()["n_vectors"] is None:
        reason = DEFAULT
    return {} if reason is None else {"check_sample_weight_equivalence_on_dense_data": reason}
