"""IntegerProgram: a model as the integer loops a device runs, and a simulator that is exact to the bit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen.expression import Array


@dataclass(frozen=True)
class IntegerProgram:
    """What an integer export computes."""

    input_dtype: np.dtype[Any]

    def inputs(self, X: Array) -> NDArray[Any]:
        """Return raw rows in the type that the export reads."""
        return X.astype(self.input_dtype)
