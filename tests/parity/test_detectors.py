"""A detector on every device: integers bit by bit, and rows far outside called what Python calls them."""

from __future__ import annotations

import numpy as np
from golden_models import SMALL, rows

from sparsegen.lowering.formats import Format
from sparsegen.verify import verify


def test_every_device_gives_what_python_gives() -> None:
    detector = SMALL["detector"]
    X = np.vstack([rows(detector)[:12], [[100.0, -100.0, 5.0]]])
    verdicts = verify(detector, X, numbers=Format("q7"))
    assert verdicts
    assert all(verdict.ok and verdict.rows == 13 for verdict in verdicts), [str(verdict) for verdict in verdicts]
