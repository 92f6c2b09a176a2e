"""Lines through probes: exact where costs are what they say they are."""

from __future__ import annotations

import numpy as np
import pytest

from sparsegen.budget.probe import Figures, Line, Probe, near_values


def probe(m, near):
    cost = 100 + m * (30 + 8 * near)
    return Probe(m, near, Figures(flash=500 + 9 * m, ram=64, instructions=cost, worst_instructions=cost + 5))


@pytest.mark.parametrize("near", [0.0, 0.4, 1.0])
def test_three_probes_give_back_every_cost(near):
    line = Line(probe(12, 0.9), probe(48, 0.8), probe(48, 0.1))
    assert vars(line.at(200, near)) == pytest.approx(vars(probe(200, near).figures))


def test_two_probes_are_enough_where_as_many_values_are_near_zero():
    line = Line(probe(12, 1.0), probe(48, 1.0))
    assert vars(line.at(77, 1.0)) == pytest.approx(vars(probe(77, 1.0).figures))


def test_what_a_device_cannot_tell_stays_unknown():
    plain = Figures(flash=10.0, ram=5.0)
    found = Line(Probe(1, 1.0, plain), Probe(1, 1.0, plain)).at(3, 1.0)
    assert found == plain
    assert not found.is_timed


def test_values_near_zero_are_counted_per_vector():
    values = np.array([[[1.0, 0.0], [0.5, 0.2]], [[0.0, 0.0], [0.0, 0.3]]])  # two rows, two kernels, two vectors
    assert near_values(values, 0.25) == pytest.approx(3 / 4)
