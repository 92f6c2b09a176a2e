"""Plain, slow twins of the fast code: loops and SciPy, written from the formulas."""

import numpy as np
from numpy.typing import NDArray

Rows = tuple[NDArray[np.float64], NDArray[np.int64]]  # X and y
