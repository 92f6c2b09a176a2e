"""The cost model against the emulator: a quick version of ``python -m benchmarks.cost_model``."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sklearn.datasets import load_iris

from sparsegen import data
from sparsegen.bench import bench
from sparsegen.budget.budget import Budget
from sparsegen.budget.cost_model import CostModel, Predicted
from sparsegen.budget.plan import Plan
from sparsegen.devices import DEVICES
from sparsegen.errors import OptionError
from sparsegen.kernels import KERNELS
from sparsegen.lowering.formats import FLOAT32, Format
from sparsegen.training.train import train

DEVICE = "cortex-m0plus"
pytestmark = pytest.mark.skipif(DEVICES[DEVICE].missing() is not None, reason="needs the emulator")
RBF = (KERNELS["rbf"].bind(),)


@pytest.fixture(scope="module")
def rows():
    return load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def predictor(rows):
    return CostModel(DEVICE, *rows)


@pytest.fixture(scope="module")
def measured(rows):
    """Return what a device measures, by plan."""

    def measure(method, parameters, numbers):
        X, y = rows
        model = train(data.from_arrays(X, y), data.from_arrays(X, y), method=method, parameters=parameters).model
        (cost,) = bench(model, X, devices=[DEVICE], numbers=numbers)
        return Plan.of(model, numbers), cost

    return measure


@pytest.mark.parametrize(
    ("method", "parameters", "dtype"),
    [
        ("slmc", {"n_vectors": 9, "C": 1.0, "gamma": 0.3}, "q7"),
        ("slmc", {"n_vectors": 70, "C": 10.0, "gamma": 0.1}, "q7"),
        ("spsvm", {"n_vectors": 33, "C": 10.0, "gamma": 2.0}, "q7"),
        ("slmc", {"n_vectors": 20, "C": 1.0, "gamma": 0.3}, "f32"),
    ],
)
def test_a_prediction_is_as_close_as_it_promises(predictor, measured, rows, method, parameters, dtype):
    numbers = FLOAT32 if dtype == FLOAT32.dtype else Format(dtype, rows=rows[0])
    plan, cost = measured(method, parameters, numbers)
    first = predictor.predict(plan)
    flash, instructions = cost.measurement.flash, cost.measurement.instructions
    close = [
        abs(one.flash / flash - 1.0) <= first.flash_within
        and abs(one.instructions / instructions - 1.0) <= first.time_within
        for one in (first, *first.others)
    ]
    assert any(close), f"{first} and {cost}"
    if close[0]:
        assert abs(first.ram - cost.ram_with_input) <= 8
        assert first.cycles == pytest.approx(cost.cycles, rel=first.time_within + 0.01)


def test_the_most_vectors_fit_and_one_more_does_not(predictor):
    plan = Plan(4, 3, 1, RBF, gamma=1.0, dtype="q7")
    budget = Budget(flash=1024)
    most = predictor.most_vectors(plan, budget)
    fits, fails = (predictor.predict(replace(plan, n_vectors=m)) for m in (most, most + 1))
    assert 12 < most < 150
    assert fits.shortage(budget, surely=True) is None
    assert fails.shortage(budget, surely=True) is not None
    assert predictor.most_vectors(plan, Budget(flash=1 << 20)) == 150, "never more than rows"
    assert predictor.most_vectors(plan, Budget(flash=64)) == 0


def test_what_is_known_is_not_measured_again(predictor, monkeypatch):
    plan = Plan(4, 3, 40, RBF, gamma=1.0, dtype="q7")
    first = predictor.predict(plan)

    def refuse(*_):
        raise AssertionError("it measured again")

    monkeypatch.setattr(predictor, "_probe", refuse)
    assert predictor.predict(plan) == first
    assert predictor.predict(replace(plan, n_vectors=90)).flash > first.flash
    assert predictor.predict(replace(plan, probability=True)).flash == first.flash


def test_a_linear_kernel_costs_the_same_with_any_number_of_vectors(predictor):
    plan = Plan(4, 3, 40, (KERNELS["linear"].bind(),), dtype="q7")
    assert predictor.predict(plan) == predictor.predict(replace(plan, n_vectors=90))


def test_kernels_without_integers_are_refused_as_an_export_refuses_them(predictor):
    with pytest.raises(OptionError, match="has no integer form"):
        predictor.predict(Plan(4, 3, 20, (KERNELS["poly"].bind(),), dtype="q7"))


def test_other_code_that_training_may_lead_to_must_fit_as_well():
    likely = Predicted(1000, 100, 50.0, 60.0, 0.1, 0.1)
    careful = replace(likely, flash=1500)
    doubtful = replace(likely, others=(careful,))
    assert doubtful.shortage(Budget(flash=1200)) is None
    assert doubtful.shortage(Budget(flash=1200), surely=True) == "needs 1,530 bytes of flash, and the budget is 1,200"
    assert likely.shortage(Budget(flash=1010)) is None
    assert likely.shortage(Budget(flash=1010), surely=True) is not None, "it may be 2 % more"
    assert likely.shortage(Budget(milliseconds=0.102), surely=True) is not None
