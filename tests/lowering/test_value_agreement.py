"""What integers make of a regression: differences of values, points of R2, the guarantee, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from golden_models import SMALL, model, rbf, rows
from narrowing import a

from sparsegen.errors import DataError, OptionError
from sparsegen.lowering import lower
from sparsegen.lowering.choose_format import choose_format, lower_checked, smallest_first
from sparsegen.lowering.formats import INTEGERS, Format
from sparsegen.lowering.integer_program import IntegerProgram
from sparsegen.lowering.score_size import ROUNDINGS, score_size
from sparsegen.lowering.selftest import float_selftest
from sparsegen.lowering.value_agreement import ValueAgreement, compare_values
from sparsegen.model import VALUE
from sparsegen.model.held_out import remember
from sparsegen.model.judged_values import JudgedValues
from sparsegen.promised import bound

OF = model([rbf(0.3)], 9, 4, (), decision=VALUE, task="regression")
X = rows(OF, 200)
Y = OF.predict(X) + 0.1 * np.random.default_rng(0).normal(size=200)


def r2(values, truth):
    return 1.0 - ((values - truth) ** 2).sum() / ((truth - truth.mean()) ** 2).sum()


@pytest.mark.parametrize("dtype", [numbers.name for numbers in INTEGERS])
def test_the_loss_is_counted_in_points_of_r2(dtype):
    lowered = lower(OF, Format(dtype, rows=X, labels=Y.astype(str)))
    program, found = a(IntegerProgram, lowered.program), a(ValueAgreement, lowered.agreement)
    ours = program.scores(program.inputs(X))[:, 0].astype(float) * program.unit
    real = OF.predict(X)
    assert found.loss == pytest.approx(100 * (r2(real, Y) - r2(ours, Y)), abs=1e-9)
    assert found.largest == np.abs(ours - real).max()
    judged = a(JudgedValues, found.judged)
    assert judged.rows.mae == pytest.approx(np.abs(ours - Y).mean())
    assert judged.real.rmse == pytest.approx(np.sqrt(((real - Y) ** 2).mean()))
    assert str(lowered.judged) in ("", str(judged))
    unlabelled = a(ValueAgreement, lower(OF, Format(dtype, rows=X)).agreement)
    assert unlabelled.loss == pytest.approx(100 * (1 - r2(ours, real)), rel=1e-6)
    assert "of the model's own values" in str(unlabelled) and "own values" not in str(found)


@pytest.mark.parametrize("dtype", [numbers.name for numbers in INTEGERS])
@pytest.mark.parametrize("reads", ["f32", "grid"])
def test_no_value_in_range_is_further_off_than_promised(dtype, reads):
    """An adversary: random rows all over the box, its corners, the vectors, and the worst of them moved uphill."""
    rng = np.random.default_rng(3)
    lowered = lower(OF, Format(dtype, reads, rows=X))
    program = a(IntegerProgram, lowered.program)
    assert lowered.guarantee is not None and lowered.leads is None
    promised = float(lowered.guarantee.error.max())
    low, high = X.min(axis=0), X.max(axis=0)
    tried = np.vstack([
        rng.uniform(low, high, (4000, 4)), np.array(np.meshgrid(*zip(low, high, strict=True))).reshape(4, -1).T,
        np.clip(OF.transform.inverse(OF.vectors), low, high),
    ])  # fmt: skip

    def off(at):
        if reads == "grid":  # an index stands for one value of its feature, and what it was made of is not promised for
            at = program.low + program.inputs(at).astype(float) * program.step
        at = at[program.covers(at)]
        return at, np.abs(program.scores(program.inputs(at))[:, 0] * program.unit - OF.predict(at))

    for step in (0.3, 0.1, 0.03, 0.01):
        tried, errors = off(tried)
        worst = tried[np.argsort(-errors)[:40]]
        tried = np.vstack([worst, np.clip(np.repeat(worst, 50, axis=0) + step * rng.normal(size=(2000, 4)), low, high)])
    _, errors = off(tried)
    assert 0.0 < errors.max() <= promised
    told = dict(lowered.promises)
    assert told["value error"] == f"at most {bound(promised)} for every input in range, against the real-valued model's"
    assert "label" not in told and "lead" not in told and "proved" not in told


def test_held_out_rows_are_judged_apart():
    remembered = replace(OF, card={"held_out": remember(X[:50], X[50:])})
    judged = a(JudgedValues, lower(remembered, Format("q7", rows=X, labels=Y.astype(str))).judged)
    assert judged.held_out is not None and judged.real_held_out is not None
    assert (judged.rows.rows, judged.held_out.rows) == (200, 50)
    assert judged.real_held_out.mae == pytest.approx(np.abs(OF.predict(X[:50]) - Y[:50]).mean())
    assert str(judged).startswith("of 200 rows 50 were held out in training; on those: R2 ")
    assert a(JudgedValues, lower(remembered, Format(rows=X, labels=Y.astype(str))).judged).rows.mae == judged.real.mae


def test_a_format_that_loses_too_much_is_refused_and_auto_takes_the_smallest_that_does_not():
    coarse = Format("q7", "raw-int16", rows=X)  # whole numbers cannot tell features within 1.5 apart
    with pytest.raises(
        OptionError, match=r"points of R2 would be lost in q7: values of 200 calibration rows differ by"
    ):
        lower_checked(OF, coarse)
    assert lower_checked(OF, coarse, force=True).format.dtype == "q7"
    assert choose_format(OF, Format("q7", rows=X), 100.0).lowered.format.dtype == smallest_first(OF)[0].name
    choice = choose_format(OF, Format("q7", rows=X), 1e-4)
    assert [one.loss > 1e-4 for one in choice.tried[:-1]] == [True] * (len(choice.tried) - 1)
    assert choice.lowered.format.dtype in ("q15", "f32")
    with pytest.raises(OptionError, match="no integer format loses at most 0 points "):
        choose_format(OF, coarse, 0.0)


def test_early_exit_and_rejection_mean_nothing():
    assert not lower(OF, Format("q7", early_exit=True, rows=X)).format.early_exit
    for dtype in ("f32", "q7"):
        with pytest.raises(OptionError, match="a regression has no probabilities"):
            lower(OF, Format(dtype, reject=0.9))


def test_values_that_are_all_the_same_have_no_variance():
    flat = np.full(5, 2.0)
    assert compare_values(OF, flat, flat, None, "q7").loss == 0.0
    assert compare_values(OF, flat, flat + 1e-9, None, "q7").lost is not None
    assert compare_values(OF, flat, flat, flat.astype(str), "q7").judged.rows.r2 is None  # type: ignore[union-attr]
    with pytest.raises(DataError, match="label 1 of the data is 'tap', which is no number"):
        compare_values(OF, flat, flat, np.array(["tap"] * 5), "q7")


@pytest.mark.parametrize("factor", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("level", [0.0, 1e4])
def test_tolerances_follow_the_spread_of_values_not_their_level(factor, level):
    """A device that is off by a hundredth of the spread computes something else, whatever the unit of the target."""
    of = replace(OF, coef=factor * OF.coef, intercept=factor * (OF.intercept + level))
    scores, spread = of.scores(X), float(np.ptp(OF.scores(X)))
    size = score_size(of, scores)
    assert size <= factor * (2 * spread + 1.01 * ROUNDINGS * level + 2)
    assert size >= factor * spread / 2
    selftest = lower(of, Format()).selftest
    assert 0.0 < selftest.tolerance < 0.01 * factor * spread
    assert score_size(replace(of, card={"target": {"mean": 0.0, "deviation": 1e9}}), scores) >= 1e9
    assert score_size(SMALL["binary_rbf"], np.array([[0.1]])) == 1.0


def test_a_level_that_float32_cannot_hold_is_refused():
    of = replace(OF, intercept=OF.intercept + 1e9)
    with pytest.raises(Exception, match="in float32 the model's scores are off by"):
        float_selftest(lower(OF, Format()).program, of)  # type: ignore[arg-type]
