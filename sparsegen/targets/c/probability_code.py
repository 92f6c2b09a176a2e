"""What the templates print of probabilities, where a model has them."""

from __future__ import annotations

import numpy as np

from sparsegen.lowering.curves import FRACTION_BITS, INTERVALS, PLACE_BITS
from sparsegen.lowering.lowered import Lowered
from sparsegen.lowering.probabilities import ONE, TABLE, FloatProbabilities, IntegerProbabilities
from sparsegen.promised import bound
from sparsegen.targets.c.code import Table, c_type


def probability_values(lowered: Lowered) -> dict[str, object]:
    """Return what the templates print of probabilities, and whether there are any."""
    found = lowered.probabilities
    if found is None:
        return {"has_probabilities": False, "rejects": False}
    own = _integer_values(found) if isinstance(found, IntegerProbabilities) else _float_values(found, lowered)
    return {
        "has_probabilities": True,
        "rejects": found.rejects_below is not None,
        "confidence": "none" if found.rejects_below is None else f"{found.rejects_below!r}",
        "probability_type": c_type(found.dtype),
        "probability_bound": bound(found.bound),
        "probability_sum_error": bound(found.sum_error),
        "probabilities_agree": found.is_agreed,
        "selftest_probabilities": found.of(lowered.selftest.scores).ravel(),
        **own,
    }


def probability_tables(lowered: Lowered) -> list[Table]:
    """Return the tables that integer programs need for probabilities."""
    if not isinstance(lowered.probabilities, IntegerProbabilities):
        return []
    return [Table("weights", "2^15 * 2^-f for f from 0 to 1, for probabilities", np.dtype(np.uint16), TABLE)]


def probability_bytes(lowered: Lowered) -> int:
    """Return the bytes of all probabilities of one row; 0 for a model that has none."""
    found = lowered.probabilities
    return 0 if found is None else found.dtype.itemsize * found.n_classes


def _float_values(found: FloatProbabilities, lowered: Lowered) -> dict[str, object]:
    return {
        "probability_slope": found.slope,
        "probability_offset": found.offset,
        "probabilities_have_offset": found.offset != 0.0,
        "probability_tolerance": found.reached(lowered.selftest.tolerance),
        "reject_below": 0.0 if found.rejects_below is None else found.rejects_below,
    }


def _integer_values(found: IntegerProbabilities) -> dict[str, object]:
    return {
        "probability_one": ONE,
        "probability_model_bound": bound(found.model_bound),
        "probability_zero": found.zero,
        "weight_limit": found.limit,
        "weight_left": found.left,
        "weight_multiplier": found.multiplier,
        "weight_shift": found.shift,
        "reject_below": found.rejects_below_units,
        "place_bits": PLACE_BITS,
        "fraction_bits": FRACTION_BITS,
        "interval_mask": INTERVALS - 1,
        "place_mask": (1 << PLACE_BITS) - 1,
    }
