"""Models whose numbers no program can hold: a sentence, never a traceback."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from golden_models import SMALL

from sparsegen.errors import SparsegenError
from sparsegen.lowering import lower
from sparsegen.lowering.formats import Format
from sparsegen.model import Transform
from sparsegen.model.card import LARGEST

MODEL = SMALL["binary_rbf"]
N = MODEL.n_features
TRANSFORMS = {
    "wide": Transform(np.full(N, -1e308), np.full(N, 1e308)),
    "narrow": Transform(np.full(N, 1e300), np.full(N, 1e-300)),
    "zero": Transform(np.zeros(N), np.zeros(N)),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", ["f32", "q15", "q7"])
@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("limit", [LARGEST, 1e-45, None])
def test_numbers_out_of_range_are_one_sentence(dtype: str, transform: str, limit: float | None) -> None:
    card = {} if limit is None else {"ranges": {"low": [-limit] * N, "high": [limit] * N}}
    with pytest.raises(SparsegenError) as refused:
        lower(replace(MODEL, transform=TRANSFORMS[transform], card=card), Format(dtype))
    assert len(str(refused.value)) < 400
