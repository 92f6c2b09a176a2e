"""What emlearn's forests and networks share: its headers, and the function that the shim calls."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers import c_export
from benchmarks.peers._problem import Problem
from sparsegen.targets import Export

SHIM = ("emlearn.c", "scores.c")
PREFIX = "model"


def load_emlearn() -> Any:
    """Return the package; importing it makes NumPy raise an error at every underflow, which is undone."""
    with np.errstate():
        return importlib.import_module("emlearn")


def emlearn_export(problem: Problem, converted: Any, input_dtype: np.dtype[Any]) -> Export:
    """Return what emlearn generates, with the headers that it includes."""
    emlearn = load_emlearn()
    headers = {path.name: path.read_bytes() for path in Path(emlearn.includedir).glob("eml_*.h")}
    code = converted.save(name=PREFIX).encode()
    return c_export(problem, SHIM, {**headers, "generated.h": code}, input_dtype=input_dtype)
