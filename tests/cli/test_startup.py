"""What a command imports before it answers: the quick ones must not wait for what they do not use."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from sparsegen.cli import COMMANDS
from sparsegen.cli.list import LISTS

HEAVY = {"numba", "scipy", "sklearn", "onnx", "pandas", "matplotlib", "jinja2", "safetensors"}
SMALL_THINGS = {"arrays", "cli", "compiled", "errors", "files", "later", "promised", "progress", "registry", "version"}
REPORT = "import json; print(json.dumps(sorted(sys.modules)))\n"


def modules_after(script: str) -> set[str]:
    """Return the modules that are loaded once a script has run; its own output is left out."""
    command = [sys.executable, "-c", f"import sys\n{script}\n{REPORT}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    return set(json.loads(done.stdout.splitlines()[-1]))


def modules_of(*arguments: str) -> set[str]:
    """Return the modules that a run of the command loads."""
    return modules_after(
        f"from sparsegen import cli\nsys.argv = ['sparsegen', *{arguments!r}]\n"
        "try:\n    cli.main()\nexcept SystemExit as ended:\n    assert not ended.code, ended.code\n"
    )


def stages(modules: set[str]) -> set[str]:
    return {name.split(".")[1] for name in modules if name.startswith("sparsegen.")} - SMALL_THINGS


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], *([name, "--help"] for name in COMMANDS)])
def test_help_needs_the_command_line_only(arguments: list[str]) -> None:
    loaded = modules_of(*arguments)
    assert not loaded & {*HEAVY, "numpy"}
    assert not stages(loaded)


def test_a_list_of_kernels_needs_the_kernels_only() -> None:
    loaded = modules_of("list", "kernels")
    assert stages(loaded) == {"kernels"}
    assert not loaded & HEAVY


@pytest.mark.parametrize("what", LISTS)
def test_a_list_stops_at_its_own_stage(what: str) -> None:
    later = {"verify", "bench", "demo"} | ({"firmware"} if what != "boards" else set())
    assert not stages(modules_of("list", what)) & later
