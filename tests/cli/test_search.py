"""sparsegen search: parse, search, print; the library does the rest."""

from __future__ import annotations

import json
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


def test_measurements_are_refused_with_advice_that_a_search_can_follow(rows, run: Run):
    for digits in (6, 1):  # each of its own, and some alike
        lines = [f"{k % 7},{k % 5},{(k * 0.37) % 9:.{digits}f}" for k in range(120)]
        path = rows.with_name("heat.csv")
        path.write_text("\n".join(["a,b,heat", *lines, ""]))
        ended = run("search", path, *BUDGET, "--trials", 1, "-o", rows.with_name("no.safetensors"))
        assert (ended.code, ended.out, len(ended.err.splitlines())) == (2, "", 1)
        assert "look like measurements and not like classes, and a search looks for classifiers only" in ended.err
        assert "--task" not in ended.err and ended.err.endswith("without a search (--label)\n")
    assert sorted(path.name for path in rows.parent.iterdir()) == ["heat.csv", "ring.csv"]
