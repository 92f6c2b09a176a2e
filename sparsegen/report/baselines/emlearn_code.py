"""emlearn: its package, and what it generates as an export."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np

from sparsegen.devices._toolchain import absent
from sparsegen.report.baselines.peer_code import EMLEARN, FLOAT, SCORES, peer_export
from sparsegen.targets import Export

PREFIX = "model"


def has_emlearn() -> bool:
    """Return whether the package is installed."""
    return not absent(["emlearn"])


def load_emlearn() -> Any:
    """Return the package; importing it makes NumPy raise an error at every underflow, which is undone."""
    with np.errstate():
        return importlib.import_module("emlearn")


def emlearn_export(shape: tuple[int, int], code: str, input_dtype: np.dtype[Any] = FLOAT) -> Export:
    """Return what emlearn generated with ``PREFIX`` as its name, for (features, classes), with emlearn's headers."""
    emlearn = load_emlearn()
    headers = {path.name: path.read_bytes() for path in Path(emlearn.includedir).glob("eml_*.h")}
    return peer_export(shape, (EMLEARN, SCORES), {**headers, "generated.h": code.encode()}, input_dtype=input_dtype)
