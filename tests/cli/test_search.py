"""sparsegen search: parse, search, print; the library does the rest."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from command_line import Run
from made_up_costs import MadeUpCosts

from sparsegen.devices import DEVICES
from sparsegen.model import SparseModel
from sparsegen.search import find

if DEVICES["cortex-m0plus"].missing() is not None:
    pytest.skip(str(DEVICES["cortex-m0plus"].missing()), allow_module_level=True)


@pytest.fixture
def rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(find, "CostModel", lambda device, rows, labels, profile: MadeUpCosts())
    rng = np.random.default_rng(1)
    X = np.round(30 * rng.normal(size=(120, 4))).astype(int)
    path = tmp_path / "ring.csv"
    lines = [",".join(map(str, row)) + (",<b>out" if abs(row[0]) + abs(row[1]) > 45 else ",in") for row in X.tolist()]
    path.write_text("\n".join(["a,b,c,d,where", *lines, ""]))
    return path


BUDGET = ("--device", "cortex-m0plus", "--flash", "1.5K", "--latency", "1ms", "--dtypes", "q7", "--kernels", "rbf")


def test_a_search_writes_a_model_and_says_what_it_is_worth(rows, run: Run):
    place = rows.with_name("best.safetensors")
    command = ["search", rows, *BUDGET, "--trials", 2, "-o", place, "--plot", rows.with_name("front.png")]
    ended = run(*command)
    assert ended.code == 0
    assert "of 1,536 bytes" in ended.out
    assert "were held out in training; accuracy on those" in ended.out
    assert "next: sparsegen export" in ended.out
    assert rows.with_name("front.png").read_bytes().startswith(b"\x89PNG")
    document = json.loads(run(*command, "--json").out)
    assert document["picked"] == document["front"]["picked"]
    assert len(document["front"]["candidates"]) == 2
    assert document["cost"]["flash"] <= 1536
    model = SparseModel.load(place)
    assert model.card["export"] == {"dtype": "q7", "input": "raw-int16", "device": "cortex-m0plus"}
    other = rows.with_name("other.safetensors")
    picked = json.loads(run("search", rows, *BUDGET, "--pick", 1, "-o", other, "--json").out)
    assert picked["picked"] == 1
    assert len(picked["front"]["candidates"]) == 2
    for number in (0, 1):
        assert "pick" in run("search", rows, *BUDGET, "--pick", number, "-o", other).out.partition("costs are")[0]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ([], "--device"),
        (["--device", "cortex-m0plus", "--part", "stm32f103c8"], "leave --device out"),
        (["--device", "cortex-m0plus", "--flash", "4Q"], "--flash: '4Q' is no number of bytes"),
        (["--device", "cortex-m0plus", "--latency", "soon"], "--latency: 'soon'"),
        (["--device", "cortex-m0plus", "--time", "soon"], "'soon' is no length of time"),
        (["--device", "cortex-m0plus", "--methods", ","], "--methods names nothing"),
        (["--device", "cortex-m0plus", "--study", "redis://u:pw@h/0"], "redis://h/0 is of a kind"),
        (["--device", "cortex-m0plus", "--study", "postgresql://u:pw@[h/0"], "is no file and no URL"),
        (["--device", "cortex-m0plus", "--engine", "dask://u:pw@h:1"], "its host and its port"),
        (["--device", "cortex-m0plus", "--engine", "http://u:pw@h:1"], "'http' is no engine"),
        (["--device", "cortex-m0plus", "--engine", "u:pw@h:1"], "an engine is a URL"),
        (["--device", "cortex-m0plus", "--trials", "0"], "needs a trial at least"),
    ],
)
def test_mistakes_get_one_sentence(rows, run: Run, options, told):
    ended = run("search", rows, "-o", rows.with_name("best.safetensors"), *options)
    assert ended.code == 2
    assert ended.err.count("\n") == 1
    assert told in ended.err
    assert "pw" not in ended.err
    assert not rows.with_name("best.safetensors").exists()


def test_one_file_is_not_written_twice(rows, run: Run):
    place = rows.with_name("best")
    for flag in ("--report", "--plot", "--study"):
        ended = run("search", rows, *BUDGET, "-o", place, flag, place)
        assert (ended.code, ended.err.count("\n")) == (2, 1)
        assert f"-o and {flag} are both" in ended.err
        assert not place.exists()


def test_a_search_of_measurements_is_told_what_trains_on_them(tmp_path: Path, run: Run):
    rng = np.random.default_rng(0)
    for values in (rng.integers(0, 400, 120), rng.normal(size=120)):
        path = tmp_path / "values.csv"
        path.write_text("\n".join(["a,y", *(f"{i},{value}" for i, value in enumerate(values)), ""]))
        ended = run("search", path, *BUDGET, "-o", tmp_path / "best.safetensors")
        assert (ended.code, ended.err.count("\n")) == (2, 1)
        assert "train a regression" in ended.err
        assert ended.err.endswith(": sparsegen train --task regress (--label)\n")
        assert list(tmp_path.iterdir()) == [path]


def test_a_search_without_optuna_says_what_to_install(rows, run: Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    ended = run("search", rows, *BUDGET, "-o", rows.with_name("best.safetensors"))
    assert (ended.code, ended.err.count("\n")) == (2, 1)
    assert "pip install 'sparsegen[search]'" in ended.err
    assert list(rows.parent.iterdir()) == [rows]
