"""The accuracy in integers that training tells is that of the export without rows to calibrate on."""

from __future__ import annotations

import numpy as np
import pytest
from golden_models import SMALL, wave
from narrowing import a

from sparsegen import data
from sparsegen.lowering import lower, preview
from sparsegen.lowering.formats import Format
from sparsegen.lowering.integer_program import IntegerProgram
from sparsegen.promised import Accuracy


def test_what_is_told_is_what_is_exported(monkeypatch: pytest.MonkeyPatch) -> None:
    of = SMALL["binary_rbf"]
    X = wave(60, of.n_features)
    y = of.predict(X).copy()
    y[::7] = 1 - y[::7]
    told = dict(preview.preview(of, data.from_arrays(X, y)))
    assert set(told) == {"q15", "q7"}
    for name, accuracy in told.items():
        program = lower(of, Format(name)).program
        assert isinstance(program, IntegerProgram)
        found = a(Accuracy, accuracy)
        assert found.correct == np.count_nonzero(program.predict_index(program.inputs(X)) == y)
        assert found.rows == 60
    monkeypatch.setattr(preview, "MOST", 20 * of.n_features * of.n_vectors)
    assert {a(Accuracy, found).rows for found in dict(preview.preview(of, data.from_arrays(X, y))).values()} == {20}
    monkeypatch.setattr(preview, "MOST_VALUES", of.vectors.size - 1)
    assert dict(preview.preview(of, data.from_arrays(X, y))) == {}
