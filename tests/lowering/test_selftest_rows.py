"""The rows of a self-test: chosen one after the other by what they notice, against plain twins and real damage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from golden_models import EVERY, wave
from integer_models import quantized

from benchmarks.trust._together import make_integer_case
from sparsegen.lowering import float_road
from sparsegen.lowering.curves import HalfPower, SampledCurve
from sparsegen.lowering.selftest_rows import choose_rows, noticed_in_floats, noticed_in_integers


def chosen_by_hand(noticed: list[list[float]], classes: list[int], most: int) -> list[int]:
    """Take the row that adds most to what is seen; a class not seen before counts as its share of half of all."""
    n_constants = len(noticed[0])
    seen = [0.0] * n_constants
    chosen: list[int] = []
    while len(chosen) < min(most, len(noticed)):
        best, most_gain = -1, -1.0
        for i, row in enumerate(noticed):
            gain = sum(max(0.0, new - old) for new, old in zip(row, seen, strict=True))
            if classes[i] not in [classes[j] for j in chosen]:
                gain += 0.5 * n_constants / len(set(classes))
            if i not in chosen and gain > most_gain + 1e-12:
                best, most_gain = i, gain
        chosen.append(best)
        seen = [max(new, old) for new, old in zip(noticed[best], seen, strict=True)]
    return chosen


@pytest.mark.parametrize("most", [1, 4, 9])
@pytest.mark.parametrize("n_classes", [1, 2, 5])
def test_each_row_adds_most_to_what_is_seen(n_classes, most):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        noticed = rng.random((7, 6)) ** 3
        classes = rng.integers(0, n_classes, 7)
        assert choose_rows(noticed, classes, most).tolist() == chosen_by_hand(noticed.tolist(), classes.tolist(), most)


def test_a_new_class_counts_as_its_share_of_half_of_all_constants():
    """With 8 constants and 2 classes: as much as 2 constants, no more and no less."""
    rows = np.zeros((3, 8))
    rows[0], rows[1, :], rows[2, :] = 0.5, 0.5, 0.5
    for extra, expected in ((0.4, [0, 2]), (0.6, [0, 1])):  # the second row adds 4 x extra, the third a class
        rows[1, :4] = 0.5 + extra
        rows[0, 7] = 1.0 + 4 * extra
        assert choose_rows(rows, np.array([0, 0, 1]), 2).tolist() == expected


def damaged_tables(part):
    """Yield the part with each constant larger by a relative 1e-6, in the order coefficients, shift, vectors."""
    step = 1.0 + 1e-6
    for k, u in np.ndindex(part.coef.shape[1:]):
        coef = part.coef.copy()
        coef[:, k, u] *= step
        yield replace(part, coef=coef)
    if part.form == "dot":
        for u in range(len(part.shift)):
            yield replace(part, shift=np.where(np.arange(len(part.shift)) == u, part.shift * step, part.shift))
    for u, j in np.ndindex(part.vectors.shape):
        vectors = part.vectors.copy()
        vectors[u, j] *= step
        yield replace(part, vectors=vectors)


@pytest.mark.parametrize(
    "name", ["binary_rbf", "laplacian_text", "poly", "linear", "cauchy", "rbf_projected", "rbf_powers", "differences"]
)
def test_what_floats_notice_is_what_damage_of_one_percent_does(name):
    """By damaging every constant; what is allowed counts as 1, and no more than 1 is noticed."""
    of = EVERY[name]
    program = float_road(of, base_two=True)
    near = of.vectors[[0, 1, 0, 1, 0, 1]] if name == "differences" else 0.0  # it is 0 elsewhere
    rows = near + wave(6, of.n_features, step=0.37, size=0.02 if name == "differences" else 1.0)
    allowed = 0.01 * (1.0 + np.arange(6.0))
    scores = program.scores(rows)
    found = [
        np.abs(replace(program, parts=(*program.parts[:i], damaged, *program.parts[i + 1 :])).scores(rows) - scores)
        for i, part in enumerate(program.parts)
        for damaged in damaged_tables(part)
    ]
    expected = np.minimum(0.01 * np.array(found).max(axis=2).T / 1e-6 / allowed[:, None], 1.0)
    np.testing.assert_allclose(noticed_in_floats(program, rows, allowed), expected, rtol=1e-3, atol=1e-3)
    assert 0.0 < expected.mean() < 1.0


def test_what_is_no_number_or_infinite_is_not_noticed():
    """There the self-test could not tell damage from what is computed anyway."""
    program = float_road(EVERY["poly_64"], base_two=True)
    rows = np.full((1, program.n_features), 1e30)
    with np.errstate(all="ignore"):
        assert not noticed_in_floats(program, rows, np.array([1e-30])).any()


@pytest.mark.parametrize(("name", "octaves"), [("rbf", (0, 2)), ("laplacian", (0,)), ("cauchy", (0,))])
def test_integers_notice_vectors_that_count_and_intervals_that_they_visit(name, octaves):
    case = make_integer_case(3, name, octaves=octaves, m=4, d=3)
    program = quantized(case.model, "q7", "grid", case.rows)
    q = program.inputs(3.0 * case.rows[:12]).astype(np.int64)
    d = program.distances(q)
    curves: Sequence[HalfPower | SampledCurve] = program.curves
    expected = []
    for row in range(len(q)):
        used = [[int(curve(d[row, u])) > 0 for u in range(4)] for curve in curves]
        visited = [{int(curve.interval(d[row, u])) for u in range(4) if used[k][u]}
                   for k, curve in enumerate(curves)]  # fmt: skip
        widths = [int(curve.interval(d).max()) + 1 for curve in curves]
        marks = [float(i in visited[k]) for k, width in enumerate(widths) for i in range(width)]
        expected.append([float(mark) for kernel in used for mark in kernel] + marks)
    found = noticed_in_integers(program, q)
    assert found.tolist() == expected
    assert 0.0 < found.mean() < 1.0


def test_a_weight_of_a_linear_program_is_noticed_unless_its_index_is_0():
    case = make_integer_case(3, "linear", d=3)
    program = quantized(case.model, "q7", "grid", case.rows)
    q = np.array([[0, 1, 255], [7, 0, 0]])
    assert noticed_in_integers(program, q).tolist() == [[0.0, 1.0, 1.0], [1.0, 0.0, 0.0]]
