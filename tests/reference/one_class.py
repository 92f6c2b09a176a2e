"""The one-class machine by brute force: SciPy on its dual, and W(Z) of SLMO by it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from reference import kernels

Array = NDArray[np.float64]


def optimum(Phi: Array, C: Array) -> float:
    """The least objective: ``max -1/2 |Phi' alpha|^2`` over ``0 <= alpha <= C`` with sum 1, as found by SLSQP."""
    start = C / C.sum()
    sums_to_one: Any = {"type": "eq", "fun": lambda alpha: alpha.sum() - 1.0, "jac": np.ones_like}
    minimizer: Any = minimize
    found = minimizer(
        lambda alpha: 0.5 * float((alpha @ Phi) @ (alpha @ Phi)),
        start,
        jac=lambda alpha: Phi @ (alpha @ Phi),
        bounds=[(0.0, cost) for cost in C],
        constraints=sums_to_one,
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-15},
    )
    return -float(found.fun)


def objective(v: Array, rho: float, Phi: Array, C: Array) -> float:
    """The primal objective, row by row."""
    total = 0.5 * float(v @ v) - rho
    for phi, cost in zip(Phi, C, strict=True):
        total += cost * max(0.0, rho - float(phi @ v))
    return total


def objective_of_vectors(name: str, params: dict[str, float], X: Array, Z: Array, C: Array, ridge: float) -> float:
    """W(Z): the inner optimum, with ``ridge`` times the mean diagonal added to Kz."""
    Kz = kernels.gram(name, params, Z, Z)
    Kz += ridge * np.mean(np.diag(Kz)) * np.eye(len(Z))
    Phi = np.linalg.solve(np.linalg.cholesky(Kz), kernels.gram(name, params, Z, X)).T  # [W05, eq. 29]
    return optimum(Phi, C)
