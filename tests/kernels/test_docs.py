"""The table of docs/kernels.md is what the registry holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from sparsegen.kernels import KERNELS, Kernel, Parameter

PAGE = Path(__file__).parent.parent.parent / "docs" / "kernels.md"
START = "<!-- table: pytest tests/kernels/test_docs.py --update-golden -->\n"
END = "<!-- end of table -->"
HEAD = "| kernel | formula | parameters | traits |\n| --- | --- | --- | --- |\n"


def code(text: str) -> str:
    return "`" + text.replace("|", "\\|") + "`"


def parameter_text(name: str, parameter: Parameter) -> str:
    return f"{code(name)}: {parameter.meaning}, {parameter.allowed} ({parameter.default:g})"


def traits(kernel: Kernel) -> str:
    bound = kernel.bind()
    words = ["radial"] if bound.is_radial else []
    words += ["falling"] if bound.falls else []
    words += [f"scale parameter {code(kernel.scale_parameter)}"] if kernel.scale_parameter else []
    words += [f"LIBSVM's {code(kernel.libsvm_name)}"] if kernel.libsvm_name else []
    return ", ".join(words)


def row(name: str) -> str:
    kernel = KERNELS[name]
    parameters = "; ".join(parameter_text(*item) for item in kernel.parameters.items()) or "none"
    return f"| {code(name)} | {code(kernel.formula)} | {parameters} | {traits(kernel)} |\n"


def table() -> str:
    text = PAGE.read_text()
    return text[text.index(START) + len(START) : text.index(END)]


def test_the_table_is_what_the_registry_holds(update_golden: bool) -> None:
    rows = {name: row(name) for name in KERNELS}
    if update_golden:
        before, after = PAGE.read_text().split(START)
        PAGE.write_text(before + START + HEAD + "".join(rows.values()) + after[after.index(END) :])
    shown = table()
    assert shown.startswith(HEAD)
    missing = [name for name in KERNELS if f"| {code(name)} |" not in shown]
    listed = "".join(rows[name] for name in rows if name not in missing)
    assert shown == HEAD + listed, "see pytest --update-golden"
    if missing:
        pytest.skip(f"docs/kernels.md does not list {', '.join(missing)} yet; see pytest --update-golden")
