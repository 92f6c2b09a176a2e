from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import _report
from benchmarks.peers import PEERS, CPeer, PeerModel, _ours, c_export, emlearn_forest
from benchmarks.peers import __main__ as program
from benchmarks.peers._draw import draw
from benchmarks.peers._problem import Problem, prepare
from benchmarks.peers._row import Row
from benchmarks.peers._stage import Stage
from benchmarks.peers._table import ratio, table
from sparsegen.devices import DEVICES
from sparsegen.devices._emulated import EmulatedDevice
from sparsegen.report.baselines.peer_code import hosted
from sparsegen.targets import TARGETS

M4F = "cortex-m4f"
STUB = rb"""
#include <math.h>
#include "peer.h"
int peer_predict(const PEER_INPUT *x) { return pow(x[0], 2.0) > 1.0; }
"""


DIFFERS = rb"""
#include "peer.h"
int peer_predict(const PEER_INPUT *x)
{
#ifdef __arm__
    (void)x;
    return 2;
#else
    return x[0] > 9e9f;
#endif
}
"""


class Stub(CPeer):
    """A peer without a package: its C says class 1 where the first feature is far from 0."""

    name = "stub"
    module = package = "sparsegen"

    def __init__(self, code: bytes = STUB) -> None:
        self.code = code

    def models(self, problem: Problem) -> Iterator[PeerModel]:
        export = c_export(problem, ("scores.c",), {"stub.c": self.code})
        X = problem.scaled[1]
        labels = (X[:, 0] ** 2 > 1.0).astype(np.int64)
        yield PeerModel("one rule", replace(export, sources=("stub.c", "scores.c")), X, labels)


@pytest.fixture(scope="module")
def wine() -> Problem:
    return prepare("wine", None, 0)


def able(*devices: str) -> list[str]:
    for name in devices:
        if DEVICES[name].missing():
            pytest.skip(str(DEVICES[name].missing()))
    return list(devices)


def test_a_peer_is_labelled_on_this_computer_and_measured_on_the_device(wine: Problem) -> None:
    stage = Stage(able("host", M4F))
    host, device = Stub().rows(wine, stage)
    expected = float(np.mean((wine.scaled[1][:, 0] ** 2 > 1.0) == wine.test_labels))
    assert host.accuracy == device.accuracy == expected
    assert host.agreement == device.agreement == 1.0
    assert device.remark == ""
    assert device.flash is not None
    assert device.cost is not None
    # pow(x, 2.0) is a product, as in a firmware's own build, not a call of a libm
    assert device.flash < 2000
    assert device.cost < 1000


def test_what_does_not_compile_does_not_run_or_is_wrong_is_a_row_that_says_so(wine: Problem) -> None:
    stage = Stage(able("host", M4F))
    for row in Stub(b"int peer_predict(const float *x) { return x; } }").rows(wine, stage):
        assert row.accuracy is row.flash is row.cost is None
        assert "does not compile" in row.remark
    _, device = Stub(DIFFERS).rows(wine, stage)
    assert device.remark == "16 of 16 labels differ from this computer's"


def test_a_device_too_small_for_the_tables_says_so(wine: Problem) -> None:
    (device,) = able("atmega328p")
    stage = Stage([device])
    (model,) = Stub().models(wine)
    large = replace(model.export, table_bytes=40_000)
    cost = stage.costs(lambda _: large, model.inputs, [device])[device]
    assert cost.value is None
    assert cost.remark.startswith("does not fit the ATmega328P with its row: needs at least 40,000 bytes of flash")


def test_one_compiler_and_the_same_flags_give_our_usual_figures(wine: Problem) -> None:
    (name,) = able(M4F)
    device = DEVICES[name]
    assert isinstance(device, EmulatedDevice)
    model = _ours._train(wine, wine.train, wine.test, 4, 1.0).model
    export = TARGETS["c"].export(model, "model")
    X = wine.test.X[:8].astype(np.float32)
    assert hosted(device).measure(export, X) == device.measure(export, X)


def test_our_size_is_the_smallest_that_reaches_the_mark_on_held_out_rows(
    wine: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[tuple[int, float]] = []

    def accuracy(problem: Problem, m: int, C: float) -> float:
        tried.append((m, C))
        return problem.svc_held_out_accuracy - 0.004 if (m, C) == (6, 3.0) else 0.5

    monkeypatch.setattr(_ours, "_held_out_accuracy", accuracy)
    assert _ours.choose(wine) == _ours.Choice(6, 3.0)
    assert {m for m, _ in tried} == {2, 3, 4, 6}
    monkeypatch.setattr(_ours, "_held_out_accuracy", lambda *_: 0.5)
    assert _ours.choose(wine).n_vectors == _ours.SIZES[-1]


def test_folds_cover_the_training_rows_once_and_no_test_row(wine: Problem) -> None:
    held = np.concatenate([held.X for _, held in wine.folds])
    assert sorted(map(tuple, held)) == sorted(map(tuple, wine.train.X))
    assert all(len(fit.X) + len(held.X) == len(wine.train.X) for fit, held in wine.folds)


def test_integers_of_a_forest_use_the_range_of_the_training_rows() -> None:
    train, test = emlearn_forest.spread(np.array([[0.0, 5.0], [2.0, 5.0]]), np.array([[1.0, 5.0], [9.0, 6.0]]))
    assert train.tolist() == [[0, 0], [30_000, 0]]
    assert test.tolist() == [[15_000, 0], [32_767, 30_000]]


def test_ratios_are_to_our_chosen_model_of_the_same_problem_and_device() -> None:
    base = Row(
        "wine", "sparsegen", "SLMC q7, 4 vectors (chosen)", M4F, 1.0, 1.0, 500, 90, 1000.0, "instructions", "", True
    )
    peer = Row("wine", "m2cgen", "SVC, 54 vectors", M4F, 1.0, 1.0, 50_000, 800, 4e5, "instructions")
    failed = Row("wine", "libsvm", "SVC, 54 vectors", M4F, remark="needs a heap | files")
    assert ratio(peer, base, "flash") == 100.0
    assert ratio(failed, base, "flash") is None
    assert ratio(peer, None, "cost") is None
    title, text = table([base, peer, failed])
    assert title == f"{M4F} (cost in instructions)"
    lines = text.splitlines()
    assert lines[3].split(" | ")[6:10] == ["800", "400,000", "100", "400"]
    assert lines[4].endswith("| needs a heap / files |")


def test_earlier_runs_are_shown_and_drawn_again(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    blank = Row("wine", "sparsegen", "", M4F, agreement=1.0, ram=90, unit="instructions")
    rows = [
        replace(blank, setting=f"SLMC q7, {m} vectors", accuracy=0.9 + m / 100, flash=500 * m, cost=900.0 * m)
        for m in (2, 4)
    ]
    path = tmp_path / "rows.json"
    path.write_text(json.dumps([vars(row) for row in rows]))
    shown = program.main(["--load", str(path), str(path), "--draw", str(tmp_path / "pictures")])
    assert shown.count("SLMC q7") == 2
    assert [made.name for made in (tmp_path / "pictures").iterdir()] == [f"wine-{M4F}.png"]
    assert draw([], tmp_path) == []


def test_a_file_that_is_no_run_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "rows.json"
    path.write_text('[{"problem": 1}]')
    assert _report.run(program.main, ["--load", str(path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_missing_package_is_one_sentence_and_the_rest_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    able("host")
    monkeypatch.setattr(_ours, "choose", lambda _: _ours.Choice(2, 1.0))
    monkeypatch.setattr(_ours, "CURVE", ())
    monkeypatch.setattr(type(PEERS["m2cgen"]), "module", "no_such_package")
    shown = program.main(["--problems", "wine", "--devices", "host", "--peers", "m2cgen"])
    assert "m2cgen: no_such_package not found; install it with: pip install m2cgen" in shown
    assert shown.count("| wine | sparsegen |") == 2


@pytest.mark.parametrize("name", list(PEERS))
def test_an_installed_peer_agrees_with_its_own_python(
    name: str, wine: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    peer: Any = PEERS[name]
    if peer.missing():
        pytest.skip(peer.missing())
    if name == "emlearn-forest":
        monkeypatch.setattr(emlearn_forest, "TREES", (3,))
    stage = Stage(able("host"))
    model = _ours._train(wine, wine.train, wine.test, 4, 1.0).model
    stage.models["wine"] = [(model, True)]
    errors = np.geterr()
    rows = list(peer.rows(wine, stage))
    assert rows
    assert np.geterr() == errors  # emlearn would make every later underflow an error
    assert all(row.agreement is not None and row.agreement >= 0.95 for row in rows), rows
