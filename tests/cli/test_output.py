"""What ``-o`` may name: nothing but regular files that sparsegen wrote is ever replaced."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from command_line import Run
from golden_models import SMALL

ROWS = "a,b,label\n" + "".join(f"{i % 7},{i % 5},{'yes' if i % 7 > 3 else 'no'}\n" for i in range(60))
PACKAGE_FILES = {
    "c": ("model.h", "example_main.c"),
    "cmake": ("CMakeLists.txt", "src/model.c"),
    "onnx": ("model.onnx",),
}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data.csv"
    path.write_text(ROWS)
    return path


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "m.safetensors"
    SMALL["binary_rbf"].save(path)
    return path


@pytest.fixture
def device(tmp_path: Path) -> Path:
    path = tmp_path / "device"
    try:
        os.mknod(path, 0o020600, os.makedev(1, 3))
    except PermissionError:
        os.mkfifo(path)
    return path


def test_a_device_is_never_replaced(run: Run, tmp_path: Path, data: Path, model: Path, device: Path) -> None:
    mode = device.lstat().st_mode
    rows = tmp_path / "rows.csv"
    rows.write_text("x0,x1,x2\n1,2,3\n")
    for arguments in (
        ("train", data, "--vectors", "4", "-o", device),
        ("predict", model, rows, "-o", device),
        ("inspect", model, "--image", "1x3", "-o", device),
        ("export", model, "-o", device),
        ("flash", model, "--board", "lm3s6965evb", "--emulate", "-o", device),
        ("demo", "-o", device),
    ):
        ended = run(*arguments, "--force")
        assert ended.code == 2 and ended.err.startswith("error: ") and ended.err.count("\n") == 1, ended.err
        assert "Traceback" not in ended.err and ended.out == ""
        assert device.lstat().st_mode == mode, arguments


@pytest.mark.parametrize("target", PACKAGE_FILES)
def test_a_users_file_is_kept_unless_the_user_insists(run: Run, tmp_path: Path, model: Path, target: str) -> None:
    for name in PACKAGE_FILES[target]:
        folder = tmp_path / name.replace("/", "_")
        mine = folder / name
        mine.parent.mkdir(parents=True)
        mine.write_text("mine\n")
        ended = run("export", model, "--target", target, "-o", folder)
        assert ended.code == 2 and "was not written by sparsegen" in ended.err and "--force" in ended.err
        assert mine.read_text() == "mine\n" and [path for path in folder.rglob("*") if path.is_file()] == [mine]
        assert run("export", model, "--target", target, "-o", folder, "--force").code == 0
        assert mine.read_bytes() != b"mine\n"
        assert run("export", model, "--target", target, "-o", folder).code == 0  # now it is ours


def test_data_are_not_overwritten_by_what_is_made_of_them(run: Run, tmp_path: Path, data: Path) -> None:
    model = tmp_path / "m.safetensors"
    ended = run("train", data, "--vectors", "4", "-o", data)
    assert ended.code == 2 and "data.csv exists and was not written by sparsegen" in ended.err
    for _ in range(2):
        assert run("train", data, "--vectors", "4", "-o", model).code == 0
    ended = run("predict", model, data, "-o", data)
    assert ended.code == 2 and "data.csv exists and was not written by sparsegen" in ended.err
    for _ in range(2):
        assert run("predict", model, data, "-o", tmp_path / "labels.csv").code == 0
    assert data.read_text() == ROWS


def test_a_drawing_replaces_a_drawing_and_no_other_picture(run: Run, tmp_path: Path, model: Path) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / "picture.png"
    for _ in range(2):
        assert run("inspect", model, "--image", "1x3", "-o", picture).code == 0
    picture.write_bytes(b"\x89PNG\r\n\x1a\n")
    assert run("inspect", model, "--image", "1x3", "-o", picture).code == 2
    assert run("inspect", model, "--image", "1x3", "-o", picture, "--force").code == 0
