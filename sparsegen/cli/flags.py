"""What the command line calls the library's parameters: the one place that turns its errors into advice on flags."""

from __future__ import annotations

from sparsegen.errors import SparsegenError

FLAGS = {
    "C": "--C",
    "class_weight": "--class-weight",
    "drop": "--drop",
    "dtype": "--dtype",
    "emulated": "--emulate",
    "force": "--force",
    "input": "--input",
    "label": "--label",
    "labels": "--labels",
    "max_loss": "--max-loss",
    "missing": "--missing",
    "normal": "--normal",
    "output": "-o",
    "port": "--port",
    "probability": "--probability",
    "projection": "--projection",
    "ratio": "--ratio",
    "rows": "--calibrate",
    "target": "--target",
    "task": "--task",
    "vectors": "--vectors",
}
"""By the names in ``SparsegenError.change``."""


def sentence(error: SparsegenError) -> str:
    """Return the message on one line, followed by the flags that would help."""
    told = " ".join(str(error).split())
    flags = [f"{FLAGS[name]} {value}".strip() for name, value in error.change.items() if name in FLAGS]
    return f"{told} ({', '.join(flags)})" if flags else told
