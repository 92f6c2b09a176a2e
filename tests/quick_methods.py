"""Parameters with which methods train in a moment."""

from __future__ import annotations

from typing import Any

DESCENT = {"n_vectors": 4, "max_iter": 5}
TWO_KERNELS = {**DESCENT, "n_kernels": 2}
QUICK: dict[str, dict[str, Any]] = {
    "slmc": DESCENT,
    "rs": {**DESCENT, "n_init": 1},
    "mrs": {**DESCENT, "n_init": 1},
    "smkc1": TWO_KERNELS,
    "smkc2": TWO_KERNELS,
    "rvm": {"n_init": 1},
}
