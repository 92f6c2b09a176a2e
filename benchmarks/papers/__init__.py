"""One module per paper; each table or figure is a function of the lab and of the folder for its plots."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from benchmarks.papers._lab import Lab
from benchmarks.papers._results import Section
from sparsegen.registry import Registry

TABLES: Registry[Callable[[Lab, Path], Section]] = Registry("table", "benchmarks.papers")
