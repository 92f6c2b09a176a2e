"""Every example runs as it is, in an empty folder, and prints what its text promises."""

import runpy
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
PROMISES = {
    "draw_vectors": "vectors are in digit-vectors.png",
    "onnx_inference": "labels that differ from scikit-learn: 0 of 38",
    "pipeline_grid_search": "same labels as scikit-learn: True",
    "train_and_export": "bytes of tables",
    "two_models_in_c": "flower: setosa\nbottle: class_0",
}


def test_every_example_is_listed():
    assert sorted(PROMISES) == sorted(path.stem for path in EXAMPLES.glob("*.py"))


@pytest.mark.parametrize("name", sorted(PROMISES))
def test_example(name, tmp_path, monkeypatch, capfd):
    """As ``python NAME.py`` does, without starting a Python, which takes longer than most of them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", [str(EXAMPLES / f"{name}.py")])
    runpy.run_path(sys.argv[0], run_name="__main__")
    assert PROMISES[name] in capfd.readouterr().out
