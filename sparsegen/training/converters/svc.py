"""LIBSVM's machines: SVC and NuSVC, and SVR and NuSVR for values.

Several classes decide by one-vs-one votes: a machine per pair of classes, all on the same table of vectors.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.svm import SVC, SVR, NuSVC, NuSVR

from sparsegen.arrays import Array
from sparsegen.errors import OptionError
from sparsegen.kernels import KERNELS, BoundKernel
from sparsegen.methods.shared.sklearn_private import fitted_gamma, fitted_platt
from sparsegen.model import LARGEST, VOTES, Calibration, SparseModel
from sparsegen.model.one_vs_one import pair_coefficients
from sparsegen.training.converters import CONVERTERS, Converter, model_of, value_model_of, warn_of_lost_probabilities
from sparsegen.training.converters.linear import linear
from sparsegen.training.fitted import dense, name_of


def _svc(machine: Any) -> SparseModel:
    kernel = kernel_of(machine)
    if len(machine.classes_) == 2:
        model = linear(machine) if kernel.is_linear else _expansion(machine, dense(machine.dual_coef_), kernel)
        return _with_probabilities(machine, model)
    if machine.break_ties:
        raise OptionError(
            f"{name_of(machine)}(break_ties=True) settles equal votes by confidences, which no export computes; fit it "
            "with break_ties=False, where the first class wins"
        )
    if machine.probability is True:
        warn_of_lost_probabilities(machine, "are coupled from all pairs of classes by an iteration")
    if kernel.is_linear:
        return linear(machine, VOTES)
    return _expansion(machine, pair_coefficients(dense(machine.dual_coef_), machine.n_support_), kernel, VOTES)


def _svr(machine: Any) -> SparseModel:
    kernel, intercept = kernel_of(machine), float(np.ravel(machine.intercept_)[0])
    return value_model_of(machine, dense(machine.support_vectors_), dense(machine.dual_coef_)[0], intercept, kernel)


def _expansion(machine: Any, coef: Array, kernel: BoundKernel, decision: str = LARGEST) -> SparseModel:
    vectors = dense(machine.support_vectors_)
    return model_of(machine, vectors, coef[:, None, :], machine.intercept_, kernel, decision)


def _with_probabilities(machine: Any, model: SparseModel) -> SparseModel:
    """Return the model with LIBSVM's probabilities; the label is that of the score, as LIBSVM has it."""
    fitted = fitted_platt(machine)
    if fitted is None:
        return model
    # LIBSVM's score is positive for the first class, whose probability is 1 / (1 + exp(A f + B))
    A, B = fitted
    if A >= 0.0:  # of rows that tell nothing, such as few or random ones
        warn_of_lost_probabilities(machine, "fall where the score rises; train on more rows")
        return model
    return replace(model, calibration=Calibration("platt", -A, B))


def kernel_of(machine: Any) -> BoundKernel:
    """Return the kernel of a machine of LIBSVM, or raise an OptionError for one that has no export."""
    families = {family.libsvm_name: family for family in KERNELS.values() if family.libsvm_name is not None}
    family = families.get(machine.kernel) if isinstance(machine.kernel, str) else None
    if family is None:
        shown = repr(machine.kernel) if isinstance(machine.kernel, str) else "that is a Python function"
        known = ", ".join(sorted(families))
        raise OptionError(f"{name_of(machine)} has a kernel {shown}, which has no export; choose one of: {known}")
    values = {name: float(getattr(machine, name)) for name in ("coef0", "degree") if name in family.parameters}
    if family.scale_parameter is not None:
        values[family.scale_parameter] = _gamma(machine)
    return family.bind(**values)


def _gamma(machine: Any) -> float:
    """Return the number behind gamma; only the fit knows what ``"scale"`` came to."""
    known = fitted_gamma(machine)
    if known is not None:
        return known
    if machine.gamma == "auto":
        return 1.0 / int(machine.n_features_in_)
    if isinstance(machine.gamma, str):
        raise OptionError(
            f"{name_of(machine)} does not tell what gamma='scale' came to; fit it with a number for gamma"
        )
    return float(machine.gamma)


CONVERTERS.register("svc")(Converter((SVC, NuSVC), _svc))
CONVERTERS.register("svr")(Converter((SVR, NuSVR), _svr))
