"""Every example runs as it is, in an empty folder, and prints what its text promises."""

import subprocess
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
def test_example(name, tmp_path):
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / f"{name}.py")], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert PROMISES[name] in done.stdout
