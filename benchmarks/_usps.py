"""USPS: 7,291 digits of 16 x 16 pixels for training, 2,007 for testing."""

from __future__ import annotations

from pathlib import Path

from benchmarks import _ida, _report

NAME = "usps"
PARAMETERS = _ida.Parameters(C=10.0, width=128.0)  # [W05, 7.3]


def split(folder: Path | None) -> _ida.Split:
    """Return its training and test rows."""
    arrays = _report.arrays(folder, NAME)
    X, X_test = (arrays[f"X_{part}"].astype(float) for part in ("train", "test"))
    return _ida.Split(X, arrays["y_train"], X_test, arrays["y_test"])
