"""The guarantee is the bound it says, neither smaller nor larger: against its twin, and against every input."""

from __future__ import annotations

import numpy as np
import pytest
from integer_models import INTEGERS, READS, quantized
from reference import guarantee as twin

from benchmarks.trust._together import make_integer_case
from sparsegen.lowering.guarantee import SLACK, Guarantee, _length, guarantee, intervals, reading_error
from sparsegen.lowering.read_integers import WholeReader


@pytest.mark.parametrize("name", ["rbf", "laplacian", "cauchy", "linear"])
@pytest.mark.parametrize("projected", [False, True])
@pytest.mark.parametrize("reads", ["f32", "raw-int16", "grid"])
@pytest.mark.parametrize(("dtype", "n_classes"), [("q7", 3), ("q15", 2)])
def test_the_bound_equals_its_twin(name, projected, reads, dtype, n_classes):
    case = make_integer_case(4, name, d=6, m=4, n_classes=n_classes, projected=projected, raw=True)
    program = quantized(case.model, dtype, reads, case.rows)
    proof = guarantee(program, case.model)
    expected = np.array(twin.error(program, case.model))
    largest = max(map(abs, proof.intervals["score"])) * program.unit
    expected += SLACK * (expected + largest)
    np.testing.assert_allclose(proof.error, expected, rtol=1e-5, atol=1e-6)  # float64 loses some of 1e-8


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("reads", READS)
def test_the_reading_error_is_reached(dtype, reads):
    """Some input is as far from its index as the bound says; a float may lose a little less than it could."""
    case = make_integer_case(3, d=4, raw=True)
    program = quantized(case.model, dtype, reads, case.rows)
    low, high = program.range.low, program.range.high
    share = np.linspace(0.0, 1.0, 20_001)[:, None]
    inputs = low + share * (high - low)
    inputs = np.clip(inputs, low, high) if program.reader.kind.is_float else np.rint(inputs)
    inputs = inputs.astype(program.input_dtype)
    inputs = inputs[program.in_range(inputs)]
    meant = inputs.astype(np.float64)
    exact = meant if program.reader.kind.is_grid else (meant - program.low) / program.step
    off = np.abs(program.reader(inputs) - exact).max(axis=0)
    bound = reading_error(program)
    may_lose = 2.0 / 32.0 if program.reader.kind.is_float else 1e-12
    assert np.all(off <= bound)
    assert np.all(bound <= off + may_lose + (1.0 if dtype == "q15" and reads == "f32" else 0.05))
    np.testing.assert_allclose(bound, [twin.reading_error(program, j) for j in range(4)], rtol=1e-9)


@pytest.mark.parametrize("name", ["rbf", "laplacian", "linear"])
def test_intervals_are_those_of_the_types_and_tables(name):
    case = make_integer_case(5, name, d=3, m=2, projected=name == "rbf", raw=True)
    program = quantized(case.model, "q7", "raw-int16", case.rows)
    found = intervals(program)
    reader = program.reader
    assert isinstance(reader, WholeReader)
    ends = [
        x * int(m) + int(b) for m, b in zip(reader.multiplier, reader.bias, strict=True) for x in (-(2**15), 2**15 - 1)
    ]
    assert found["scaled feature"] == (min(ends), max(ends))
    corners = np.array(np.meshgrid(*[[0, reader.levels]] * 3)).reshape(3, -1).T
    if program.projection is not None:
        sums = corners @ program.projection.weights.T
        bias = program.projection.bias
        low, high = found["projected value"]
        assert low == int((np.minimum(bias, 0) + sums.min(axis=0)).min())
        assert high == int((np.maximum(bias, 0) + sums.max(axis=0)).max())
    seen = np.array(np.meshgrid(*[[0, program.levels]] * program.n_seen)).reshape(program.n_seen, -1).T
    if name == "rbf":
        v = program.vectors
        assert found["unsigned sum of squares and norm"] == (
            0,
            int((seen**2).sum(axis=1).max() + (v**2).sum(axis=1).max()),
        )
        assert found["unsigned twice the dot product"] == (0, int(2 * (seen @ v.T).max()))
    if not program.is_linear:
        assert found["distance"] == (0, int(program.distances(seen).max()))
    else:
        assert "distance" not in found
    largest = reader.levels if program.is_linear else 2**15 - 1
    up = largest * np.maximum(program.coef, 0).sum(axis=(1, 2)) + np.maximum(program.intercept, 0)
    down = largest * np.minimum(program.coef, 0).sum(axis=(1, 2)) + np.minimum(program.intercept, 0)
    assert found["score"] == (int(down.min()), int(up.max()))


def test_the_sentences_say_the_bounds():
    one = Guarantee(np.array([0.12341]), {"score": (-7, 9)})
    assert [text for _, text in one.sentences()] == [
        "at most 0.1235 for every input in range",
        "the real-valued model's for every input in range for which that model's score is further than 0.1235 from 0",
        "ruled out for every input; scores stay within -7 and 9",
    ]
    three = Guarantee(np.array([0.25, 1.0, 0.5]), {"score": (0, 9)}, largest_index=254)
    said = dict(three.sentences())
    assert said["score error"].startswith("at most 1 ")
    assert said["label"].endswith("lead is more than 1.5")
    assert said["overflow"] == "ruled out for indices up to 254; scores stay within 0 and 9"


@pytest.mark.parametrize("dtype", INTEGERS)
def test_indices_beyond_the_grid_are_named_where_the_type_has_them(dtype):
    case = make_integer_case(1)
    program = quantized(case.model, dtype, "grid", case.rows)
    beyond = guarantee(program, case.model).largest_index
    assert beyond == (program.reader.levels if program.reader.levels < np.iinfo(program.input_dtype).max else None)
    assert guarantee(quantized(case.model, dtype, "f32", case.rows), case.model).largest_index is None


def test_what_float64_loses_of_a_gram_matrix_is_counted_whatever_the_signs_of_the_weights():
    """Each entry may be off by ``lost`` in any direction, so the signs of the weights do not cancel."""
    weights, lost = np.array([1.0, -1.0, 2.0]), 0.25
    products = np.outer(weights, weights)
    worst = float(np.sum(products * lost * np.sign(products)))
    assert _length(weights, np.zeros((3, 3)), lost) == pytest.approx(np.sqrt(worst))
    assert _length(weights, np.eye(3), 0.0) == pytest.approx(np.sqrt(6.0))
    assert _length(weights, -np.eye(3), 0.0) == 0.0
