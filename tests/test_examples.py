"""Every example runs as it is, in an empty folder, and prints what its text promises."""

import json
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
PROMISES = {
    "decision_regions": "regions of 5 vectors are in iris-regions.png",
    "draw_vectors": "vectors are in digit-vectors.png",
    "onnx_inference": "labels that differ from scikit-learn: 0 of 38",
    "pipeline_grid_search": "same labels as scikit-learn: True",
    "train_and_export": "bytes of tables\nfiles in train-and-export: cancer.c, cancer.h, example_main.c\n",
    "two_models_in_c": "flower: setosa\nbottle: class_0",
}
NOTEBOOKS = {"digits": "every row as in Python: True"}


def test_every_example_is_listed():
    assert sorted(PROMISES) == sorted(path.stem for path in EXAMPLES.glob("*.py"))
    assert sorted(NOTEBOOKS) == sorted(path.stem for path in EXAMPLES.glob("*.ipynb"))


@pytest.mark.parametrize("name", sorted(PROMISES))
def test_example(name, tmp_path, monkeypatch, capfd):
    """As ``python NAME.py`` does, without starting a Python, which takes longer than most of them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", [str(EXAMPLES / f"{name}.py")])
    runpy.run_path(sys.argv[0], run_name="__main__")
    assert PROMISES[name] in capfd.readouterr().out


@pytest.mark.parametrize("name", sorted(NOTEBOOKS))
def test_notebook(name, tmp_path, monkeypatch, capsys):
    """Its cells run in order, as in Jupyter but without it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    names: dict[str, Any] = {"__name__": "__main__"}
    for k, cell in enumerate(_cells(name)):
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), f"{name}, cell {k}", "exec"), names)  # noqa: S102 - our own
    assert NOTEBOOKS[name] in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []
    names["plt"].close("all")


@pytest.mark.parametrize("name", sorted(NOTEBOOKS))
def test_a_committed_notebook_was_run_in_order_and_holds_nothing_of_a_computer(name):
    cells = [cell for cell in _cells(name) if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    assert all(cell["metadata"] == {} for cell in _cells(name))
    outputs = [output for cell in cells for output in cell["outputs"]]
    assert not [output for output in outputs if output["output_type"] == "error" or output.get("name") == "stderr"]
    text = (EXAMPLES / f"{name}.ipynb").read_text()
    assert NOTEBOOKS[name] in text and "image/png" in text
    assert len(text) < 60_000 and not any(folder in text for folder in ("/home/", "/root/", "/Users/"))


def _cells(name):
    return json.loads((EXAMPLES / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
