"""When a descent has come far enough."""

from __future__ import annotations

from collections import deque

from scipy.optimize import OptimizeResult

from sparsegen import progress

WINDOW = 10
FLAT = 1e-100  # a smaller gradient is zero once it is squared, and L-BFGS-B would divide by its length


class StopBelow:
    """A callback that ends a descent once ``WINDOW`` iterations together gain less than a share ``tol``.

    Note: L-BFGS-B's own ``ftol`` looks at single iterations, which are uneven, and is a share of at least 1, so it
    would stop at once where C, hence W, is small.
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
