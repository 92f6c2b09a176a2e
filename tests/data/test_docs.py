"""The recipe for windows in the documentation makes rows that the library takes for windows."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from sparsegen import data

TEXT = (Path(__file__).parents[2] / "docs" / "data.md").read_text(encoding="utf-8")


def test_the_recipe_for_windows_runs() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    names: dict[str, Any] = {}
    exec(code, names)  # noqa: S102 - our own document
    rows = names["windows"](np.random.default_rng(0).normal(size=(500, 3)), width=100, step=50)
    assert rows.shape == (9, 9)
    assert data.from_arrays(rows, np.arange(9) % 2, groups=np.zeros(9)).groups is not None
