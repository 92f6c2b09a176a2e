"""verify: passes what is right, and notices every way in which an export can be wrong."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from golden_models import SMALL, model, rows
from narrowing import known

from benchmarks.trust._together import integer_program
from sparsegen.devices import DEVICES, Device, Outputs
from sparsegen.errors import DataError, FitError, FitWarning, ModelError, OptionError, ToolError
from sparsegen.kernels import KERNELS
from sparsegen.lowering.formats import Format
from sparsegen.lowering.program import as_float32
from sparsegen.lowering.score_size import TOLERANCE
from sparsegen.model import SparseModel, Transform
from sparsegen.targets import PORTABLE, TARGETS, Target
from sparsegen.verify import Verdict, devices_for, verify

MODEL = SMALL["binary_rbf"]
X = rows(MODEL)


class Perturbing(Target):
    """Exports a model that is not the one it was given."""

    name = "c"
    description = "wrong"

    def __init__(self, target, change):
        self.target, self.change = target, change
        self.runs_as, self.base_two = target.runs_as, target.base_two

    def write(self, lowered, name, loops=PORTABLE):
        model = lowered.model
        coef = model.coef.copy()
        coef[0, 0, 0] += self.change
        wrong = SparseModel(model.vectors, coef, model.intercept, model.kernels, model.transform, model.classes)
        return self.target.export(wrong, name, lowered.format, loops)


class Fixed(Device):
    """Gives what it is told to."""

    name = "fixed"
    description = "test"
    runs = "c"

    def __init__(self, scores, labels):
        self.outputs = Outputs(np.asarray(scores, np.float32), np.asarray(labels, np.int32))

    def missing(self):
        return None

    def made_by(self, *, measuring=False):
        return "a test"

    def run(self, export, X):
        return self.outputs

    def measure(self, export, X):
        raise NotImplementedError


@pytest.fixture
def fixed(monkeypatch):
    def verdict(scores, labels, y=None, of=MODEL):
        monkeypatch.setitem(DEVICES._entries, "fixed", Fixed(scores, labels))
        return verify(of, X, y, devices=["fixed"])[0]

    return verdict


def test_a_right_export_is_ok_everywhere():
    verdicts = verify(MODEL, X, MODEL.predict(X))
    assert {v.device for v in verdicts} == {d.name for d in devices_for("c", None)}
    assert all(v.ok and v.rows == len(X) and v.accuracy == 1.0 for v in verdicts)


def test_without_labels_there_is_no_accuracy():
    assert verify(MODEL, X, devices=["host"])[0].accuracy is None


@pytest.mark.parametrize(("target", "device"), [("c", "host"), ("onnx", "onnxruntime")])
def test_a_wrong_coefficient_is_noticed(target, device, monkeypatch):
    monkeypatch.setitem(TARGETS._entries, target, Perturbing(TARGETS[target], 3e-3))
    (verdict,) = verify(MODEL, X, target=target, devices=[device])
    assert not verdict.ok
    assert verdict.relative_difference > TOLERANCE


def test_nan_is_never_ok(fixed):
    scores = MODEL.scores(X).copy()
    scores[3] = np.nan
    verdict = fixed(scores, MODEL.predict_index(X))
    assert verdict.max_difference == np.inf
    assert not verdict.ok


def test_one_wrong_label_is_not_ok(fixed):
    labels = MODEL.predict_index(X)
    labels[5] = 1 - labels[5]
    verdict = fixed(MODEL.scores(X), labels, MODEL.predict(X))
    assert verdict.mismatches == 1
    assert verdict.accuracy == pytest.approx(1 - 1 / len(X))
    assert not verdict.ok


def test_an_index_without_a_label_is_a_mismatch(fixed):
    labels = MODEL.predict_index(X)
    labels[:2] = [99, -7]
    verdict = fixed(MODEL.scores(X), labels, MODEL.predict(X))
    assert verdict.mismatches == 2
    assert verdict.accuracy == pytest.approx(1 - 2 / len(X))


def test_labels_may_come_as_text():
    assert verify(MODEL, X, MODEL.predict(X).astype(str), devices=["host"])[0].accuracy == 1.0


def test_tolerance_is_relative_to_the_largest_score():
    verdict = Verdict("c", "host", 1, 0, 0.5, TOLERANCE, None)
    assert verdict.ok
    assert not replace(verdict, relative_difference=1.01 * TOLERANCE).ok


@pytest.mark.parametrize(
    ("rows", "error", "sentence"),
    [
        (np.zeros((0, 3)), DataError, "no rows to verify on"),
        (np.zeros((2, 4)), ModelError, r"rows must have shape \(n, 3\)"),
        (
            np.array([[0, 0, 0], [0, 1e39, 0]]),
            DataError,
            "row 2, feature 2 holds a value beyond float32, .* rescale it",
        ),
        (np.array([[0, 0, np.nan]]), DataError, "row 1, feature 3 is not a finite number"),
    ],
)
def test_rows_that_cannot_be_verified_are_one_sentence(rows, error, sentence):
    with pytest.raises(error, match=sentence):
        verify(MODEL, rows, devices=["host"])


def test_devices_that_do_not_fit_are_one_sentence():
    with pytest.raises(OptionError, match=r"there is no device 'cortex-m4' \(did you mean 'cortex-m4f'"):
        verify(MODEL, X, devices=["cortex-m4"])
    with pytest.raises(OptionError, match="device onnxruntime does not run c exports; choose from: atmega328p"):
        verify(MODEL, X, devices=["onnxruntime"])
    with pytest.raises(OptionError, match="there is no target 'C'"):
        verify(MODEL, X, target="C")


def test_a_named_device_that_cannot_run_says_what_to_install(monkeypatch):
    monkeypatch.setattr(DEVICES["cortex-m4f"], "missing", lambda: "unicorn not found; install it")
    with pytest.raises(ToolError, match="device cortex-m4f cannot run here: unicorn not found; install it"):
        verify(MODEL, X, devices=["cortex-m4f"])
    assert "cortex-m4f" not in [d.name for d in devices_for("c", None)]


class Small(Fixed):
    """A device that no model fits."""

    def run(self, export, X):
        raise FitError("model does not fit device small")


def test_a_device_the_model_does_not_fit_is_left_out_unless_it_is_named(monkeypatch):
    devices = [Fixed(MODEL.scores(X), MODEL.predict_index(X)), Small([], [])]
    monkeypatch.setattr("sparsegen.verify.devices_for", lambda runs_as, names: devices)
    with pytest.warns(FitWarning, match="left out: model does not fit device small"):
        verdicts = verify(MODEL, X)
    assert [v.device for v in verdicts] == ["fixed"]
    with pytest.raises(FitError, match="does not fit device small"):
        verify(MODEL, X, devices=["fixed", "small"])
    del devices[0]
    with pytest.raises(FitError, match="does not fit device small"):
        verify(MODEL, X)


def test_no_device_at_all_is_an_error_not_a_pass(monkeypatch):
    for device in DEVICES.values():
        monkeypatch.setattr(device, "missing", lambda: "not installed", raising=False)
    with pytest.raises(ToolError, match="no device can run c exports here; "):
        verify(MODEL, X)


@pytest.mark.parametrize("dtype", ["q7", "q15"])
def test_integers_are_compared_with_their_simulator_to_the_bit(dtype, monkeypatch):
    numbers = Format(dtype, "f32", rows=X)
    (verdict,) = verify(MODEL, X, MODEL.predict(X), devices=["host"], numbers=numbers)
    assert verdict.ok
    assert (verdict.dtype, verdict.mismatches, verdict.max_difference) == (dtype, 0, 0.0)
    assert verdict.same_labels == verdict.accuracy
    export = TARGETS["c"].export(MODEL, "model", numbers)
    program = integer_program(export)
    scores = program.scores(program.inputs(X))
    scores[7] += 1
    device = Fixed([[0]], program.predict_index(program.inputs(X)))
    device.outputs = Outputs(scores, device.outputs.labels)
    monkeypatch.setitem(DEVICES._entries, "fixed", device)
    (verdict,) = verify(MODEL, X, devices=["fixed"], numbers=numbers)
    assert not verdict.ok
    assert verdict.mismatches == 1
    assert verdict.max_difference == pytest.approx(program.unit)


WHOLE = np.array(list(itertools.product([-1.0, 0.0, 1.0, 2.0, 3.0], repeat=3)))


def few_values(weights: list[list[float]]) -> SparseModel:
    """Return a linear model of few discrete features, as titanic has: many of its scores are all but ties."""
    coef = np.array(weights)[:, None, :]
    classes = tuple(range(max(2, len(weights))))
    return SparseModel(
        np.eye(3), coef, np.zeros(len(coef)), (KERNELS["linear"].bind(),), Transform.identity(3), classes
    )


TIED = {
    "binary": few_values([[0.1, 0.2, -0.3]]),
    "multi-class": few_values([[0.1, 0.2, -0.3], [0.3, -0.1, -0.2], [-0.1, -0.1, 0.2]]),
}


@pytest.mark.parametrize("name", TIED)
@pytest.mark.parametrize(("target", "device"), [("c", "host"), ("c", "cortex-m0plus"), ("onnx", "onnx-reference")])
def test_labels_that_only_rounding_decides_are_counted_apart(name, target, device):
    if DEVICES[device].missing() is not None:
        pytest.skip(str(DEVICES[device].missing()))
    (verdict,) = verify(TIED[name], WHOLE, TIED[name].predict(WHOLE), target=target, devices=[device])
    assert verdict.ok
    assert verdict.mismatches == 0
    assert verdict.undecided > 0
    assert verdict.undecided == round((1 - known(verdict.same_labels)) * len(WHOLE))
    assert verdict.largest_tie < 1e-15
    assert known(verdict.accuracy) < known(verdict.real_accuracy) == 1.0  # what the device answers is not touched up


def test_a_float32_export_of_a_trained_model_of_few_values_is_ok():
    """Three discrete features, many rows alike, as in titanic: the machine's scores are ties or nearly so."""
    from sklearn.svm import SVC

    from sparsegen.training.from_sklearn import from_sklearn

    rng = np.random.default_rng(5)
    rows = rng.choice([-1.0, 0.0, 1.0], size=(200, 3))
    labels = rng.integers(0, 2, 200)
    for kernel in ("linear", "rbf"):
        of = from_sklearn(SVC(kernel=kernel, gamma=0.5, C=1.0).fit(rows, labels))
        (verdict,) = verify(of, rows, labels, devices=["host"])
        assert verdict.ok, verdict


def test_a_tie_is_no_excuse_for_a_label_that_contradicts_the_scores(fixed):
    labels = MODEL.predict_index(X)
    scores = MODEL.scores(X).copy()
    labels[5] = 1 - labels[5]
    assert fixed(scores, labels).undecided == 0  # far from a tie, and against its own score
    scores[5] = -scores[5]
    verdict = fixed(scores, labels)
    assert (verdict.undecided, verdict.mismatches, verdict.ok) == (0, 1, False)


@pytest.mark.parametrize(("share", "undecided"), [(0.5, 1), (1.5, 0)])
def test_a_tie_is_as_wide_as_the_tolerance_of_scores(fixed, share, undecided):
    allowed = TOLERANCE * max(1.0, np.abs(MODEL.scores(X)).max())
    of = replace(MODEL, intercept=MODEL.intercept - MODEL.scores(X)[5] + share * allowed)
    given, labels = of.scores(X).copy(), of.predict_index(X)
    given[5], labels[5] = -0.1 * allowed, 0
    verdict = fixed(given, labels, of=of)
    assert (verdict.undecided, verdict.mismatches, verdict.ok) == (undecided, 1 - undecided, bool(undecided))


IN_G = model([("rbf", {"gamma": 4.0})], 8, 3, ("still", "moving"))
WAVES = np.sin(np.arange(1, 1201) ** 1.5).reshape(400, 3)


def test_integers_that_lose_accuracy_are_not_ok():
    """Bit by bit the device does what its simulator does; that is worth nothing where the simulator is useless."""
    numbers = Format("q7", "raw-int16", rows=WAVES)
    (verdict,) = verify(IN_G, WAVES, IN_G.predict(WAVES), devices=["host"], numbers=numbers)
    assert verdict.agrees and verdict.mismatches == 0
    assert not verdict.ok
    assert known(verdict.accuracy) < 0.95 < known(verdict.real_accuracy) == 1.0
    assert known(verdict.lost).endswith((" points", "'still'", "'moving'"))
    (verdict,) = verify(IN_G, WAVES, IN_G.predict(WAVES), devices=["host"], numbers=Format("q7", rows=WAVES))
    assert verdict.ok and verdict.lost is None


def test_labels_of_something_else_are_one_sentence():
    with pytest.raises(DataError, match=r"none of the labels \('a', 'b'\) is a class of the model \('0', '1'\)"):
        verify(MODEL, X, np.array(["a", "b"] * 20), devices=["host"])


def test_a_verdict_names_what_made_it(fixed):
    assert fixed(MODEL.scores(X), MODEL.predict_index(X)).made_by == "a test"
    (verdict,) = verify(MODEL, X, devices=["host"])
    assert verdict.made_by == DEVICES["host"].made_by()


def test_as_float32_keeps_what_fits():
    assert as_float32(np.array([[1.5, -3e38]])).dtype == np.float32
