"""``model.export``, ``model.verify``, ``model.bench``: what the commands do, on arrays, from any model."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from golden_models import SMALL, rows
from sklearn.svm import SVC

import sparsegen
from sparsegen import later, verbs
from sparsegen.devices import DEVICES
from sparsegen.errors import DataError, FitError, OptionError
from sparsegen.lowering.formats import Format
from sparsegen.model import SparseModel
from sparsegen.targets import TARGETS

OF = SMALL["matern32"]
X = rows(OF)
Y = OF.predict(X)
SIDE = np.where(X[:, 0] > 0, "up", "down")

needs_m3 = pytest.mark.skipif(DEVICES["cortex-m3"].missing() is not None, reason="no emulator here")
needs_host = pytest.mark.skipif(DEVICES["host"].missing() is not None, reason="no C compiler here")


@pytest.mark.parametrize("name", later.VERBS)
def test_a_method_takes_what_its_verb_takes(name):
    """The one is written in the model's stage and the other at the end of the road: they must not drift apart."""
    method, function = (inspect.signature(getattr(of, name)) for of in (SparseModel, verbs))
    assert (next(iter(method.parameters)), next(iter(function.parameters))) == ("self", "model")
    shapes = [
        [(p.name, p.kind, p.default, p.annotation) for p in list(s.parameters.values())[1:]] for s in (method, function)
    ]
    assert shapes[0] == shapes[1]


def test_an_export_is_the_targets_and_is_written(tmp_path):
    made = OF.export("arduino", tmp_path / "gestures", name="gestures", dtype="q7", rows=X, labels=Y)
    plain = TARGETS["arduino"].export(OF, "gestures", Format("q7", rows=X, labels=Y))
    assert made.files == plain.files
    files = [path for path in (tmp_path / "gestures").rglob("*") if path.is_file()]
    found = {str(path.relative_to(tmp_path / "gestures")): path.read_bytes() for path in files}
    assert found == made.files
    text = repr(made)
    assert text.startswith("arduino export 'gestures': ") and "\n  src/gestures.c\n" in text
    assert "\nscore error: at most" in text and text.endswith(f"\nnext: {made.usage}")


def test_an_export_without_a_folder_writes_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert OF.export("onnx").files["model.onnx"]
    assert (
        OF.export(device="atmega328p", dtype="q15").files
        == TARGETS["c"].export(OF, "model", Format("q15"), "avr").files
    )
    assert not list(tmp_path.iterdir())


def test_a_targets_own_options_are_taken():
    assert OF.export("onnx", opset=9).files != OF.export("onnx").files
    with pytest.raises(OptionError, match="target c has no option 'opset'; only onnx has it"):
        OF.export(opset=9)


def test_auto_takes_the_smallest_format_that_is_accurate_enough():
    made = OF.export(dtype="auto", rows=X, labels=Y, max_loss=5.0)
    assert made.lowered.format.dtype in ("q7c8", "q7")
    assert made.lowered.agreement.loss <= 5.0


def test_integers_that_lose_too_much_are_refused_unless_forced():
    with pytest.raises(OptionError, match="would be lost in q7"):
        SMALL["binary_rbf"].export(dtype="q7", input="raw-uint8")
    forced = SMALL["binary_rbf"].export(dtype="q7", input="raw-uint8", force=True)
    assert forced.lowered.format.dtype == "q7"


@needs_host
def test_verdicts_say_what_agrees():
    found = OF.verify(X, Y, device="host", dtype="q7")
    assert found.ok and [verdict.device for verdict in found] == ["host"]
    assert repr(found).startswith("host, q7: ok: 0 of 40 rows differ, |score difference| at most 0, same labels ")
    assert sparsegen.from_sklearn(SVC(gamma=0.5).fit(X, SIDE)).verify(X.tolist(), device=["host"]).ok


@needs_host
def test_costs_say_what_a_prediction_takes():
    (cost,) = found = OF.bench(device=["host"], dtype="q15")
    assert cost.dtype == "q15" and cost.table_bytes > 0
    assert repr(found).startswith("host, q15: ") and "bytes of flash" in repr(found)


@needs_m3
def test_a_part_a_clock_and_a_budget_decide_what_a_prediction_costs():
    budget = sparsegen.Budget(flash=100)
    (cost,) = OF.bench(X, Y, part="stm32f103c8", clock="8MHz", budget=budget, dtype="auto", rows=X, labels=Y)
    assert cost.device == "cortex-m3" and cost.is_estimate and cost.judged.rows.rows == len(Y)
    assert cost.milliseconds == cost.cycles / 8000 and cost.worst_milliseconds == cost.worst_cycles / 8000
    assert "bytes of flash, and the budget is 100" in cost.problem and " estimated cycles, " in str(cost)
    assert OF.bench(X, device="cortex-m3", clock=8e6, dtype=cost.dtype)[0].profile.clock_hz == 8_000_000
    with pytest.raises(FitError, match="and the budget is 100"):
        OF.export(part="stm32f103c8", budget=budget)
    with pytest.raises(FitError, match="time: a slow-side estimate of the slowest measured row at 72 MHz"):
        OF.export(device="cortex-m3", budget=sparsegen.Budget(milliseconds=1e-4))
    assert OF.export(part="stm32f103c8", budget=sparsegen.Budget(65536, 20480, 10.0)).files


@needs_host
def test_auto_is_a_format_of_every_verb():
    for loss in (100.0, -101.0):
        given = {"dtype": "auto", "max_loss": loss, "rows": X, "labels": Y}
        chosen = OF.export(**given).lowered.format.dtype
        assert OF.bench(device="host", **given)[0].dtype == OF.verify(X, device="host", **given)[0].dtype == chosen
    assert chosen == "f32"


def test_estimators_offer_them_through_their_model():
    estimator = sparsegen.SVM(gamma=0.5).fit(X, SIDE)
    assert estimator.model_.export().files == sparsegen.from_sklearn(estimator).export().files


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: OF.export("arduin"), "did you mean 'arduino'"),
        (lambda: OF.export(dtype="q8"), "there is no number format 'q8'"),
        (lambda: OF.export(dtype="q7", input="raw"), "there is no input kind 'raw'"),
        (lambda: OF.export(max_loss=1.0), "max_loss goes with dtype='auto'"),
        (lambda: OF.export(dtype="q7", labels=Y), "give rows too, or neither"),
        (lambda: OF.export(dtype="q7", rows=X, labels=Y[1:]), r"40 calibration rows, but labels has shape \(39,\)"),
        (lambda: OF.export(device="uno"), "there is no device 'uno'"),
        (lambda: OF.verify(X, device="hosts"), "did you mean 'host'"),
        (lambda: OF.verify([["a"]]), "X of the call holds <U1, not real numbers"),
        (lambda: OF.verify(X[:0]), "there are no rows"),
        (lambda: OF.bench(X[0]), "X of the call has 1 dimension"),
        (lambda: OF.bench(y=Y), "y are the labels of X; give X too, or neither"),
        (lambda: OF.bench(part="rp2040", device="host"), "part RP2040 is measured on device cortex-m0plus; leave"),
        (lambda: OF.bench(part="rp2041"), "there is no part 'rp2041'"),
        (lambda: OF.bench(device="host", clock=8e6), "cannot be given a clock"),
        (lambda: OF.bench(device="cortex-m3", clock="quick"), "'quick' is no clock frequency"),
        (lambda: OF.bench(max_loss=1.0), "max_loss goes with dtype='auto'"),
        (lambda: OF.verify(X, max_loss=1.0), "max_loss goes with dtype='auto'"),
        (lambda: OF.export(budget=sparsegen.Budget(100)), "depends on the device; give part or device too"),
    ],
)
def test_mistakes_are_sentences(call, sentence):
    with pytest.raises((OptionError, DataError), match=sentence):
        call()


def test_a_folder_that_cannot_be_one_is_found_before_anything_is_computed(tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(sparsegen.errors.SparsegenError, match="file"):
        OF.export("c", tmp_path / "file")
    assert (tmp_path / "file").read_text() == "mine"


def test_export_takes_a_confidence_in_any_format() -> None:
    of = SMALL["temperature"]
    for dtype in ("f32", "q15", "auto"):
        exported = of.export("c", dtype=dtype, reject=0.8)
        assert b"int model_predict_or_reject(" in exported.files["model.h"]
    assert b"predict_or_reject" not in of.export("c").files["model.h"]
