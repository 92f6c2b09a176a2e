"""How the guarantee compares with typical leads: counted like a plain twin, and never better than proved."""

from __future__ import annotations

import re

import numpy as np
import pytest
from golden_models import SMALL, model, rbf, rows

from sparsegen.lowering import lower
from sparsegen.lowering.formats import Format
from sparsegen.lowering.integer_program import IntegerProgram
from sparsegen.model.decision import DECISIONS
from sparsegen.promised import bound

CASES = {
    "binary": (SMALL["binary_rbf"], Format("q7", "grid")),
    "several": (SMALL["laplacian_text"], Format("q15", "f32")),
    "narrow": (model([rbf(0.5)], 12, 5, (0, 1, 2)), Format("q15c8", "f32")),
}


def plain_lead(scores: list[float]) -> float:
    if len(scores) == 1:
        return abs(scores[0])
    second, first = sorted(scores)[-2:]
    return first - second


@pytest.mark.parametrize(("of", "numbers"), CASES.values(), ids=CASES)
@pytest.mark.parametrize("n", [39, 40])
def test_leads_are_counted_like_a_plain_twin_and_prove_labels(of, numbers, n):
    near = rows(of)[:n]
    X = np.vstack([near[: n // 2], 3.0 * near[n // 2 :]])  # the twin must see rows out of range too
    lowered = lower(of, Format(numbers.dtype, numbers.input, rows=near))
    program, found, proof = lowered.program, lowered.leads, lowered.guarantee
    assert isinstance(program, IntegerProgram) and found is not None and proof is not None
    assert (found.rows, found.calibrated, found.margin) == (n, True, bound(proof.margin))
    expected = [plain_lead(scores) for scores in of.scores(near).tolist()]
    assert np.allclose(DECISIONS[of.decision].leads(of.scores(near)), expected)
    assert 2 * sum(lead >= found.typical for lead in expected) >= n > 2 * sum(lead > found.typical for lead in expected)
    covered = program.covers(near)
    assert found.proved == sum(lead > float(found.margin) and ok for lead, ok in zip(expected, covered, strict=True))
    sure = (DECISIONS[of.decision].leads(of.scores(X)) > float(found.margin)) & program.covers(X)
    assert 0 < np.count_nonzero(sure) < len(X)
    assert np.array_equal(program.predict_index(program.inputs(X))[sure], of.predict_index(X)[sure])


@pytest.mark.parametrize(("of", "numbers"), CASES.values(), ids=CASES)
def test_what_is_printed_is_true_of_every_row_as_printed(of, numbers):
    """The numbers in the sentence, taken at their word, against the rows and the simulator."""
    near = rows(of, 37)
    lowered = lower(of, Format(numbers.dtype, numbers.input, rows=near))
    program, said = lowered.program, dict(lowered.promises)
    assert isinstance(program, IntegerProgram)
    lead = re.search(r"at least (\S+) .*on half of 37 calibration rows$", said["lead"])
    proof = re.match(r"the labels of (\S+) % of 37 .* (?:is|are all) \w+ than (\S+)", said["proved"])
    assert lead is not None and proof is not None
    typical, share, margin = float(lead[1]), float(proof[1]), float(proof[2])
    found = DECISIONS[of.decision].leads(of.scores(near))
    assert 2 * np.count_nonzero(found >= typical) >= 37
    proved = (found > margin) & program.covers(near)
    assert 100 * np.count_nonzero(proved) >= 37 * share > 0
    assert np.array_equal(program.predict_index(program.inputs(near))[proved], of.predict_index(near)[proved])


def test_what_is_said_names_the_rows_and_the_condition():
    of = SMALL["laplacian_text"]
    for given, named in ((rows(of), "40 calibration rows"), (None, "4015 points near the vectors")):
        said = dict(lower(of, Format("q15", "f32", rows=given)).promises)
        assert said["lead"].endswith(f"on half of {named}")
        assert f" % of {named}: they are in range and their lead is more than" in said["proved"]
