"""Firmware around a model: it runs in every board's emulator, and every way in which flashing fails is a sentence."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from golden_models import SMALL

from sparsegen import cli
from sparsegen.devices import DEVICES
from sparsegen.errors import FitError, OptionError, ToolError
from sparsegen.firmware import make, program
from sparsegen.firmware.boards import BOARDS
from sparsegen.firmware.build import Firmware, build
from sparsegen.firmware.emulate import emulate, succeeded
from sparsegen.firmware.flash import check_access
from sparsegen.firmware.program import MAX_EXAMPLES, make_firmware, support_folder
from sparsegen.kernels import KERNELS
from sparsegen.lowering.formats import FLOAT32, Format
from sparsegen.model import SparseModel, Transform
from sparsegen.targets import TARGETS

Main = Callable[..., tuple[int, str, str]]
LABELS = ("rest", "walk", 'one, "two" \\ %s')


def model_of(n_vectors: int = 5, n_features: int = 4) -> SparseModel:
    rng = np.random.default_rng(5)
    return SparseModel(
        vectors=rng.normal(size=(n_vectors, n_features)),
        coef=rng.normal(size=(len(LABELS), 1, n_vectors)),
        intercept=np.zeros(len(LABELS)),
        kernels=(KERNELS["rbf"].bind(gamma=0.2),),
        transform=Transform.identity(n_features),
        classes=LABELS,
    )


@pytest.fixture
def main(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Main:
    """Return a function that runs ``sparsegen flash`` on a small model."""
    model_of().save(tmp_path / "m.safetensors")

    def run(*arguments: object) -> tuple[int, str, str]:
        command = ["sparsegen", "flash", tmp_path / "m.safetensors", *arguments]
        monkeypatch.setattr(sys, "argv", [str(argument) for argument in command])
        try:
            cli.main()
        except SystemExit as ended:
            printed = capfd.readouterr()
            return int(ended.code or 0), printed.out, printed.err
        printed = capfd.readouterr()
        return 0, printed.out, printed.err

    return run


def tools_of(board: str, *, emulate: bool = True) -> None:
    reason = BOARDS[board].missing(emulate=emulate)
    if reason is not None:
        pytest.skip(reason)


# ---- Emulated --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("board", list(BOARDS))
@pytest.mark.parametrize(
    "numbers", [FLOAT32, Format(dtype="q7"), Format(dtype="q15", input="raw-int16")], ids=["f32", "q7", "q15-raw"]
)
def test_firmware_runs_and_agrees_with_python(board: str, numbers: Format, tmp_path: Path) -> None:
    tools_of(board)
    model = model_of()
    rows = np.rint(2.0 * np.random.default_rng(1).normal(size=(40, 4)))
    files = make_firmware(TARGETS["c"].lower(model, replace(numbers, rows=rows)), BOARDS[board], rows)
    built = build(files, BOARDS[board], tmp_path)
    assert 500 < built.flash < BOARDS[board].flash_bytes
    assert 0 < built.ram < BOARDS[board].ram_bytes
    lines = emulate(built)
    assert succeeded(lines), lines
    assert f"sparsegen: model on {board}" in lines
    said = [line.partition(": ")[2] for line in lines if line.startswith("example ")]
    assert len(said) == MAX_EXAMPLES
    chosen = rows[np.linspace(0, 39, MAX_EXAMPLES).astype(int)]
    assert said == [LABELS[i] for i in model.predict_index(chosen)]
    assert len(set(said)) > 1


@pytest.mark.parametrize("numbers", [FLOAT32, Format(dtype="q7")], ids=["f32", "q7"])
def test_firmware_of_a_regression_prints_values(
    numbers: Format, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools_of("uno")
    lowered = TARGETS["c"].lower(SMALL["value"], numbers)
    rows = np.random.default_rng(1).normal(size=(3, 3))
    lines = emulate(build(make_firmware(lowered, BOARDS["uno"], rows), BOARDS["uno"], tmp_path / "right"))
    assert succeeded(lines), lines
    assert any(line.startswith("3 of 3 values as in Python, ") for line in lines)
    said = [float(line.partition(": ")[2]) for line in lines if line.startswith("example ")]
    expected = lowered.reference(rows)
    assert said == pytest.approx(expected.scores[:, 0] * expected.unit, abs=2e-4)
    monkeypatch.setattr(
        program,
        "expected_values",
        lambda lowered, examples: np.array([-0.25, 3e9, 20.0]) if numbers is FLOAT32 else np.arange(3),
    )
    wrong = emulate(build(make_firmware(lowered, BOARDS["uno"], rows), BOARDS["uno"], tmp_path / "wrong"))
    assert not succeeded(wrong)
    if numbers is FLOAT32:
        python = [line.partition("(Python: ")[2] for line in wrong if line.startswith("example ")]
        assert python == ["-0.2500)", "more than 2000000000)", "20.0000)"]


def test_the_command_shows_what_the_firmware_says(main: Main, tmp_path: Path) -> None:
    tools_of("uno")
    code, out, err = main("--board", "uno", "--emulate", "--dtype", "q7", "-o", tmp_path / "kept")
    assert (code, err) == (0, "")
    assert "self-test ok\n" in out
    assert "4 of 4 labels as in Python" in out
    assert "bytes of flash" in out
    assert (tmp_path / "kept" / "build" / "firmware.hex").is_file()
    code, out, _ = main("--board", "uno", "--emulate", "--dtype", "auto", "--json")
    document = json.loads(out)
    assert code == 0
    assert document["board"] == "uno"
    assert document["serial"][0] == "sparsegen: model on uno"


def test_the_same_model_gives_the_same_files() -> None:
    first, second = (make_firmware(TARGETS["c"].lower(model_of(), Format("q7")), BOARDS["uno"]) for _ in range(2))
    assert first == second
    assert {"main.c", "model.c", "model.h", "Makefile", "support/avr/board.mk"} <= set(first)
    assert not [name for name in first if "cortex" in name]


def test_firmware_that_disagrees_is_told_and_is_no_success(main: Main, monkeypatch: pytest.MonkeyPatch) -> None:
    tools_of("sifive_e")
    monkeypatch.setattr(program, "expected_classes", lambda lowered, examples: [2 for _ in examples])
    code, out, _ = main("--board", "sifive_e", "--emulate")
    assert code == 1
    assert f"(Python: {LABELS[2]})" in out


def test_firmware_that_does_not_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("make") is None:
        pytest.skip("make not found")
    monkeypatch.setattr(make, "MAX_SECONDS", 1)
    (tmp_path / "Makefile").write_text("emulate:\n\tsleep 3; touch survived\n")
    built = Firmware(BOARDS["uno"], tmp_path, 0, 0)
    with pytest.raises(ToolError, match="board uno: make emulate did not end within 1 s"):
        emulate(built)
    time.sleep(2.5)
    assert not (tmp_path / "survived").exists()


def test_an_emulator_that_stops_early_is_told(tmp_path: Path) -> None:
    if shutil.which("make") is None:
        pytest.skip("make not found")
    (tmp_path / "Makefile").write_text("emulate:\n\techo self-test ok\n")
    with pytest.raises(ToolError, match="did not reach its end in simavr, which says: self-test ok"):
        emulate(Firmware(BOARDS["uno"], tmp_path, 0, 0))


# ---- Every way in which it fails -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--board", "unu", "--emulate"), "there is no board 'unu' (did you mean 'uno'?)"),
        (("--board", "uno"), "board uno is flashed over a serial port; name it ("),
        (("--board", "uno", "--port", "/dev/nothing"), "there is no port /dev/nothing"),
        (("--board", "uno", "--port", "x; rm y"), "'x; rm y' is not the name of a serial port"),
        (("--board", "uno", "--port", "/dev/null", "--emulate"), "--emulate needs no board and --port names one"),
        (
            ("--board", "mps2-an385"),
            "board mps2-an385 has no tool that flashes it; run the firmware in its emulator (--emulate)\n",
        ),
        (
            ("--board", "microbit", "--port", "/dev/null"),
            "board microbit is flashed over its own USB debugger; leave the port out (--port)\n",
        ),
    ],
)
def test_a_way_that_does_not_exist_is_a_sentence(main: Main, arguments: tuple[str, ...], sentence: str) -> None:
    code, out, err = main(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"error: {sentence}")
    assert err.count("\n") == 1


def test_the_flags_that_help_stand_at_the_end(main: Main) -> None:
    _, _, err = main("--board", "uno")
    assert err.endswith(", or run the firmware in the emulator (--port /dev/ttyACM0, --emulate)\n")
    _, _, err = main("--board", "uno", "--port", "/dev/nothing")
    assert err.endswith("; plug the board in, or run the firmware in the emulator (--emulate)\n")


def test_the_library_says_it_without_flags() -> None:
    for board, port, emulated in (("uno", None, False), ("mps2-an385", None, False), ("uno", "COM3", True)):
        with pytest.raises(OptionError) as refused:
            check_access(BOARDS[board], port, emulated=emulated)
        assert "--" not in str(refused.value)
        assert refused.value.change


@pytest.mark.parametrize("board", list(BOARDS))
def test_a_missing_tool_is_a_sentence(main: Main, board: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    entry = BOARDS[board]
    code, _, err = main("--board", board, "--emulate")
    assert code == 2
    assert err.startswith(
        f"error: board {board} cannot be emulated here: make and {entry.compiler} and {entry.emulator} not found; "
        "install them (Debian: apt-get install make "
    )
    if entry.flashers:
        code, _, err = main("--board", board, *(("--port", "/dev/null") if entry.serial_flash else ()))
        assert code == 2
        assert f"board {board} cannot be flashed here: " in err
        assert " or ".join(entry.flashers) in err


@pytest.fixture
def avrdude(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Return a function that puts an avrdude on the path which runs the given shell lines."""
    for tool in ("make", "avr-gcc"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} not found")
    folder = tmp_path / "bin"
    folder.mkdir()

    def put(lines: str) -> Path:
        script = folder / "avrdude"
        script.write_text(f"#!/bin/sh\n{lines}\n")
        script.chmod(0o755)
        return folder

    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return put


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            "avrdude: stk500_getsync() attempt 10 of 10: not in sync: resp=0x00",
            "it does not answer on port {port}: check the cable, the port, and that it is this board; the tool says: ",
        ),
        ("avrdude: ser_open(): can't open device: Device or resource busy", "port {port} cannot be opened: is another"),
        ("avrdude: ser_open(): can't open device: Permission denied", "you may not open port {port}: add yourself to"),
        ("avrdude: verification error, first mismatch at byte 0x0000", "verification error, first mismatch"),
    ],
)
def test_a_board_that_does_not_take_the_firmware_is_a_sentence(
    main: Main, avrdude: Callable[[str], Path], tmp_path: Path, said: str, told: str
) -> None:
    avrdude(f'echo "{said}" >&2; exit 1')
    port = tmp_path / "ttyFAKE"
    port.touch()
    code, out, err = main("--board", "uno", "--port", port)
    assert (code, out) == (2, "")
    assert err.startswith("error: board uno was not flashed")
    assert told.format(port=port) in err
    assert said in err
    assert err.count("\n") == 1


def test_flashing_hands_the_image_and_the_port_to_the_tool(
    main: Main, avrdude: Callable[[str], Path], tmp_path: Path
) -> None:
    heard = tmp_path / "heard"
    avrdude(f'echo "$@" > {heard}; cp build/firmware.hex {tmp_path}')
    port = tmp_path / "ttyFAKE"
    port.touch()
    code, out, err = main("--board", "uno", "--port", port)
    assert (code, err) == (0, "")
    assert f"flashed; its serial line ({port}, 115200 baud)" in out
    assert heard.read_text() == f"-p m328p -c arduino -P {port} -b 115200 -D -U flash:w:build/firmware.hex:i\n"
    assert (tmp_path / "firmware.hex").read_text().startswith(":10")


@pytest.mark.parametrize(
    ("n_vectors", "n_features", "board", "sentence"),
    [
        (250, 24, "uno", r"it needs [\d,]+ bytes of flash more than the 32,256 there are"),
        (800, 24, "uno", "it has a table of more than 32,767 bytes"),
        (2, 300, "uno", "its data and its stack need more than the 2,048 bytes of RAM there are"),
        (2, 2000, "microbit", "its data and its stack need more than the 16,384 bytes of RAM there are"),
        (2, 2000, "sifive_e", "its data and its stack need more than the 16,384 bytes of RAM there are"),
        (1500, 64, "microbit", r"it needs [\d,]+ bytes of flash more than the 262,144 there are"),
    ],
)
def test_an_image_that_is_too_large_is_a_sentence(
    n_vectors: int, n_features: int, board: str, sentence: str, tmp_path: Path
) -> None:
    tools_of(board)
    files = make_firmware(TARGETS["c"].lower(model_of(n_vectors, n_features)), BOARDS[board])
    with pytest.raises(FitError, match=rf"the firmware is too large for board {board}: {sentence}; use fewer vectors"):
        build(files, BOARDS[board], tmp_path)


def test_what_does_not_compile_is_told(tmp_path: Path) -> None:
    tools_of("uno")
    made = make_firmware(TARGETS["c"].lower(model_of()), BOARDS["uno"])
    files = {**made, "main.c": b"int main(void) { return nothing; }\n"}
    with pytest.raises(ToolError, match=r"the firmware does not build; .*'nothing' undeclared"):
        build(files, BOARDS["uno"], tmp_path)


# ---- The registry ----------------------------------------------------------------------------------------------------


def test_every_board_names_a_device_and_has_its_files() -> None:
    assert {"microbit", "mps2-an385", "mps2-an386", "sifive_e", "uno"} <= set(BOARDS)
    for name, board in BOARDS.items():
        assert board.name == name
        assert board.device in DEVICES
        assert (support_folder() / board.family / "board.mk").is_file()
    with pytest.raises(OptionError, match="there is no board"):
        BOARDS["toaster"]


def test_the_memory_of_the_uno_is_that_of_its_device_without_the_boot_loader() -> None:
    profile = DEVICES["atmega328p"].profile
    assert profile is BOARDS["uno"].part
    assert (BOARDS["uno"].flash_bytes, BOARDS["uno"].ram_bytes) == (32_256, 2_048)


@pytest.mark.parametrize("board", list(BOARDS))
def test_make_and_python_agree_on_a_boards_memory(board: str, tmp_path: Path) -> None:
    """The demos are built by make alone, so board.mk says a board's memory too."""
    if shutil.which("make") is None:
        pytest.skip("make not found")
    entry = BOARDS[board]
    show = "show: ; @echo $$(($(strip $(FLASH_BYTES)))) $$(($(strip $(RAM_BYTES)))) $(DEVICE)"
    (tmp_path / "Makefile").write_text(f"MODULES :=\ninclude {support_folder()}/{entry.family}/board.mk\n{show}\n")
    command = ["make", "-s", "-C", str(tmp_path), f"BOARD={board}", "show"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert said == [f"{entry.flash_bytes} {entry.ram_bytes} {entry.device}"]


def test_boards_are_listed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["sparsegen", "list", "boards", "--json"])
    with pytest.raises(SystemExit):
        cli.main()
    boards = json.loads(capsys.readouterr().out)
    assert [board["name"] for board in boards] == list(BOARDS)
    assert [board["device"] for board in boards] == [BOARDS[name].device for name in BOARDS]
