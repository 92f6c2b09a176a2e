"""Nystroem's approximation in front of a linear classifier: a kernel expansion on its components, exactly.

    f(x) = w . (N k(x)) + b = (N' w) . k(x) + b,    k(x) = (K(x, z_1), ..., K(x, z_m))

with N its normalization.
"""

from __future__ import annotations

from dataclasses import replace

from sklearn.kernel_approximation import Nystroem

from sparsegen.errors import OptionError
from sparsegen.kernels import KERNELS, BoundKernel
from sparsegen.model import SparseModel, Transform
from sparsegen.training.fitted import dense
from sparsegen.training.folds import FOLDS, Fold

KERNEL_NAMES = {"rbf": "rbf", "laplacian": "laplacian", "linear": "linear", "poly": "poly", "polynomial": "poly"}
"""Our names of the kernels that scikit-learn computes as we do."""


class _Expansion(Fold):
    def into(self, step: Nystroem, model: SparseModel) -> SparseModel:
        """Return the expansion on the components; what stands behind them must be linear."""
        if len(model.kernels) != 1 or not model.kernels[0].is_linear:
            raise OptionError(
                f"Nystroem must stand in front of a linear classifier, but the kernel behind it is "
                f"{model.kernels[0].name!r}; use LinearSVC or LogisticRegression, or leave Nystroem out"
            )
        T = model.transform
        weights = model.coef[:, 0, :] @ model.vectors
        weights = (weights if T.projection is None else weights @ T.projection) * T.scale
        components = dense(step.components_)
        return replace(
            model,
            vectors=components,
            coef=(weights @ step.normalization_)[:, None, :],
            intercept=model.intercept - weights @ T.offset,
            kernels=(_kernel(step),),
            transform=Transform.identity(components.shape[1]),
        )


def _kernel(step: Nystroem) -> BoundKernel:
    name = KERNEL_NAMES.get(step.kernel) if isinstance(step.kernel, str) else None
    if name is None:
        shown = repr(step.kernel) if isinstance(step.kernel, str) else "that is a Python function"
        known = ", ".join(KERNEL_NAMES)
        raise OptionError(f"Nystroem has a kernel {shown}, which has no export; choose one of: {known}")
    family = KERNELS[name]
    defaults = {"gamma": 1.0 / int(step.n_features_in_), "coef0": 1.0, "degree": 3.0}  # scikit-learn's, of all kernels
    given = {key: getattr(step, key) for key in defaults if getattr(step, key) is not None}
    values = {**defaults, **(step.kernel_params or {}), **given}
    return family.bind(**{key: float(values[key]) for key in family.parameters})


FOLDS.register("nystroem")(_Expansion((Nystroem,)))
