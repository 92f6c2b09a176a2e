"""A newcomer who reads before they type, and mistypes."""

from __future__ import annotations

import os
import tomllib
from contextlib import ExitStack
from pathlib import Path
from unittest.mock import patch

import numpy as np

from benchmarks._roles import rows
from benchmarks._roles.visit import Skip, Visit
from sparsegen.devices import DEVICES

ROOT = Path(__file__).resolve().parents[2]
PAGES = {
    "tutorial": "the way from a sensor to an Uno",
    "choose_method": "choosing a method",
    "integers": "integers",
    "budgets": "budgets",
    "probabilities": "calibration",
    "accuracy": "groups",
    "python_api": "the API",
    "equations": "the papers' equations",
    "c_api": "the C API",
    "faq": "questions",
}


def visit(newcomer: Visit) -> None:
    """From --help to a first model."""
    _help(newcomer)
    _mistakes(newcomer)
    _models(newcomer)
    _pages(newcomer)


def _help(newcomer: Visit) -> None:
    newcomer.types(
        "-h", "-h", "Train the smallest accurate classifier that fits your microcontroller", "demo", "verify"
    )
    newcomer.types("-V", "-V", r"sparsegen \d+\.\d+\.\d+")
    newcomer.types("what devices are there", "list devices", r"atmega328p c 8-bit AVR.*?RAM")
    newcomer.types("what targets are there", "list targets", "esp-idf .*?component", "rust", "onnx")
    newcomer.types("shell completion", "--show-completion bash", "_sparsegen_completion")
    shell = {"_SPARSEGEN_COMPLETE": "complete_bash", "COMP_WORDS": "sparsegen ins", "COMP_CWORD": "1"}
    with patch.dict(os.environ, shell):
        told = newcomer.command().out.split()
    newcomer.sees("sparsegen ins<TAB>", " ".join(told), told == ["inspect"])


def _mistakes(newcomer: Visit) -> None:
    X, y = rows.blobs(newcomer.seed, 120, features=64)
    table = [[*np.round(row, 3), "abc"[k]] for row, k in zip(X, y, strict=True)]
    rows.write(Path("wide.csv"), [*(f"pixel {j}" for j in range(64)), "label"], table)
    for asked, command, says in (
        ("a file that is not there", "train gestures.csv", "there is no file gestures.csv; check the path"),
        (
            "a column with a typo",
            "train wide.csv --label lable",
            r"column 'lable' is not in wide.csv \(did you mean 'label'\?\)",
        ),
        ("a method with a typo", "train wide.csv --method slcm", r"did you mean 'slmc'"),
        ("a model that is a table", "inspect wide.csv", "wide.csv .*"),
    ):
        newcomer.types(asked, command, says, code=2)


def _models(newcomer: Visit) -> None:
    train = "train wide.csv --vectors 6 --gamma 0.01 --C 1 -o wide.safetensors"
    newcomer.types("a first model", train, "saved to wide.safetensors", "recall")
    newcomer.types(
        "-v: every trial",
        f"{train.replace('--C 1', '')} --set max_iter=3 -v",
        r"cross-validation C accuracy [\d.]+ .*?chosen",
    )
    ended = newcomer.command(*train.split(), "-q")
    newcomer.sees("-q: nothing but warnings", "(nothing)" if ended == (0, "", "") else ended.text, ended == (0, "", ""))
    newcomer.types(
        "what is in the file", "inspect wide.safetensors",
        "what slmc, rbf gamma 0.01, 3 classes: a, b, c accuracy .*? in the test size .*? code input 64 features",
        "^(?!.*pixel 63)",
    )  # fmt: skip
    newcomer.types("all of it", "inspect wide.safetensors --all", r"63 pixel 63 -?[\d.]+ -?[\d.]+")
    with newcomer.wish("an install without compilers"), ExitStack() as stack:
        for device in DEVICES.values():
            stack.enter_context(patch.object(type(device), "missing", lambda self: "not here"))
        newcomer.types(
            "an install without compilers", train, "next: sparsegen export works as it is; verify and bench need: .*"
        )


def _pages(newcomer: Visit) -> None:
    if not (ROOT / "docs").is_dir():
        with newcomer.wish("the pages"):
            raise Skip("there is no checkout around this program")
        return
    for page, what in PAGES.items():
        path = ROOT / "docs" / f"{page}.md"
        title = path.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ") if path.is_file() else "no such page"
        newcomer.sees(f"a page on {what}", f"docs/{page}.md: {title}", path.is_file())
    examples = sorted(path.name for path in (ROOT / "examples").iterdir() if path.suffix in (".py", ".ipynb"))
    newcomer.sees("examples and a notebook", ", ".join(examples), any(name.endswith(".ipynb") for name in examples))
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"].get("urls", {})
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"].get("urls", {})
    asked = "pyproject.toml names its addresses"
    if urls:
        newcomer.sees(asked, ", ".join(urls))
    else:
        newcomer.lacks(asked, "none: the project has no public address yet")
    newcomer.sees("how to cite it", "CITATION.cff", (ROOT / "CITATION.cff").is_file())
