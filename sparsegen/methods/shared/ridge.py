"""The ridge on K(Z, Z): ``RIDGE`` times its mean diagonal, so that vectors may meet without dividing by zero."""

from __future__ import annotations

import numpy as np

from sparsegen.arrays import Array

RIDGE = 1e-6


def with_ridge(Kz: Array) -> Array:
    """Return a copy of Kz with the ridge added."""
    ridged = Kz.copy()
    ridged[np.diag_indices_from(ridged)] += RIDGE * (float(np.mean(np.diag(Kz))) or 1.0)
    return ridged


def weights_with_ridge(beta: Array, factor: float) -> Array:
    """Return the weights of K(Z, Z) in the gradient of ``factor/2 beta' Kz beta``, of which the ridge is a part."""
    weights = factor * (beta.T @ beta)
    weights[np.diag_indices_from(weights)] += factor * RIDGE * np.mean(np.sum(beta**2, axis=0))
    return np.asarray(weights)
