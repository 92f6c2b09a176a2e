"""Descent on a smooth function by L-BFGS-B, with a stopping rule that suits uneven iterations."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from scipy.optimize import Bounds, OptimizeResult, minimize

from sparsegen import progress
from sparsegen.arrays import Array

WINDOW = 10
MEMORY = 20  # pairs of steps and gradients that L-BFGS-B keeps
SMALLEST_GRADIENT = 1e-100  # a smaller one is zero once it is squared, and L-BFGS-B would divide by its length


@dataclass(frozen=True)
class Minimum:
    """Where a descent ended, the value there, and the iterations it took."""

    x: Array
    value: float
    iterations: int


def lbfgs(
    function: Callable[[Array], tuple[float, Array]],
    start: Array,
    unit: float | Array,
    *,
    max_iter: int,
    tol: float,
    advance: progress.Advance,
    lower: Array | None = None,
) -> Minimum:
    """Return the end of a descent on a function that returns its value and its gradient, of the shape of ``start``.

    ``unit`` is the length in which each coordinate is counted: the first step is about that long, and scaled data take
    the same path. No coordinate falls below ``lower``, of the shape of ``start``; ``-inf`` leaves one free.
    """

    def in_units(theta: Array) -> tuple[float, Array]:
        value, gradient = function(unit * theta.reshape(start.shape))
        return value, (unit * gradient).ravel()

    result = minimize(
        in_units,
        (start / unit).ravel(),
        jac=True,
        method="L-BFGS-B",
        bounds=None if lower is None else Bounds((lower / unit).ravel()),
        callback=StopBelow(tol, advance),
        options={"maxiter": max_iter, "ftol": 0.0, "gtol": SMALLEST_GRADIENT, "maxcor": MEMORY},
    )
    return Minimum(unit * result.x.reshape(start.shape), float(result.fun), int(result.nit))


class StopBelow:
    """A callback that ends a descent once ``WINDOW`` iterations together gain less than a share ``tol``.

    Note: L-BFGS-B's own ``ftol`` looks at single iterations, which are uneven, and is a share of at least 1, so it
    would stop at once where the objective is small.
    """

    def __init__(self, tol: float, advance: progress.Advance) -> None:
        self.tol, self.advance = tol, advance
        self.values: deque[float] = deque(maxlen=WINDOW + 1)

    def __call__(self, intermediate_result: OptimizeResult) -> None:
        """Look at one iteration; raise StopIteration, as SciPy asks, where the descent has come far enough."""
        now = float(intermediate_result.fun)
        self.values.append(now)
        self.advance(f"objective {now:.5g}")
        if len(self.values) > WINDOW and self.values[0] - now <= self.tol * now:
            raise StopIteration
