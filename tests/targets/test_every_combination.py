"""Every target, number format, input and kind of model: files that compile, or one sentence."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import typer
from c_programs import any_compiler, compile_c, compiler
from golden_models import SMALL, model, rbf, rows
from wrapped import PACKAGES

from sparsegen.cli import main
from sparsegen.errors import SparsegenError
from sparsegen.lowering.choose_format import choose_format
from sparsegen.lowering.formats import FORMATS, INPUT_KINDS, INTEGERS, Format
from sparsegen.lowering.lowered import Lowered
from sparsegen.lowering.program import Program
from sparsegen.targets import PORTABLE, TARGETS
from sparsegen.targets.c import package
from sparsegen.targets.c.package import SPECIAL_LOOPS

STUB = Path(__file__).parent / "packages" / "micropython_stub"
AUTO = "auto"
MODELS = {
    "binary": SMALL["binary_rbf"],
    "multi-class": SMALL["laplacian_text"],
    "projected": SMALL["rbf_projected"],
    "linear": SMALL["linear"],
    "several kernels": SMALL["rbf_powers"],
    "kernels of two bases": model([rbf(), ("linear", {})], 3, 4, (0, 1)),
    "no integer form": SMALL["poly"],
}
DTYPES = [name for name in FORMATS if name != "q15c8"] + [AUTO]
"""Of every width of vectors and of coefficients; q15c8 prints nothing that q15 and q7c8 do not."""
CASES = list(itertools.product(MODELS, DTYPES, INPUT_KINDS, (False, True)))
REFUSALS = ("has no integer form", "float32 programs read float32", "no integer format", "several kernels")


@cache
def lowered(name: str, dtype: str, reads: str, early_exit: bool, target: str = "c") -> Lowered | str:
    """Return the program, or the sentence with which it is refused."""
    of, lower = MODELS[name], TARGETS[target].lower
    chosen = INTEGERS[0].name if dtype == AUTO else dtype
    try:
        format = Format(chosen, reads, early_exit, rows=rows(of), labels=of.predict(rows(of)))
        return choose_format(of, format, 0.5, lower).lowered if dtype == AUTO else lower(of, format)
    except SparsegenError as error:
        return str(error)


@pytest.fixture(autouse=True)
def rendered_once(monkeypatch):
    """Every package prints the same C: let them share it."""
    made, c_code = {}, package.c_code

    def c_code_once(of, name, loops=PORTABLE):
        key = (id(of), name, loops)
        if key not in made:
            made[key] = of, c_code(of, name, loops)  # with its program, whose id stays its own
        return made[key][1]

    monkeypatch.setattr(package, "c_code", c_code_once)


@pytest.fixture(scope="module", autouse=True)
def command_line_built_once() -> Iterator[None]:
    """Typer builds all commands anew on every call, of which a user's process makes one and this module hundreds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.main, "get_command", cache(typer.main.get_command))
        yield


def sources(
    name: str, dtype: str, reads: str, early_exit: bool, folder: Path, seen: set[tuple[bytes, ...]]
) -> dict[str, list[Path]]:
    """Write every target's files for one program; return what a compiler can check and has not seen, by language."""
    found: dict[str, list[Path]] = {"c": [], "mpy": [], "cpp": []}
    for target, loops in [*((t, PORTABLE) for t in TARGETS), *(("c", loops) for loops in SPECIAL_LOOPS)]:
        program = lowered(name, dtype, reads, early_exit)
        if isinstance(program, str):
            continue
        if target == "onnx" and isinstance(program.program, Program):  # without an exponential of its own
            program = lowered(name, dtype, reads, early_exit, target)
            assert isinstance(program, Lowered)
        try:
            export = TARGETS[target].write(program, "m", loops)
        except SparsegenError as error:
            assert target == "onnx" and "float32 only" in str(error)
            continue
        for file, content in export.files.items():
            path = folder / target / loops / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            kind = "mpy" if file.endswith("_mpy.c") else path.suffix[1:]
            with_header = (content, export.files.get("m.h", b""))
            if kind in found and target in ("c", "cpp", "header", "micropython"):  # the others hold what c does
                found[kind] += [path] if with_header not in seen else []
                seen.add(with_header)
    return found


@pytest.mark.parametrize("name", MODELS)
def test_every_target_dtype_and_input_gives_files_that_compile_or_one_sentence(name, tmp_path):
    cases = [case for case in CASES if case[0] == name]
    seen: set[tuple[bytes, ...]] = set()
    written = [sources(*case, tmp_path / str(i), seen) for i, case in enumerate(cases)]
    made = sum(isinstance(lowered(*case), Lowered) for case in cases)
    assert made >= (2 if name in ("kernels of two bases", "no integer form") else 21)
    for case in cases:
        program = lowered(*case)
        if isinstance(program, str):
            assert "\n" not in program
            assert any(reason in program for reason in REFUSALS), (case, program)
    plain = ("-fsyntax-only", "-Wall", "-Wextra", "-Werror")
    files = {kind: [path for each in written for path in each[kind]] for kind in ("c", "mpy", "cpp")}
    checked = compile_c(any_compiler(), "-std=c99", *plain, *files["c"])
    assert checked.returncode == 0, checked.stderr
    checked = compile_c(any_compiler(), "-std=c99", *plain, f"-I{STUB}", *files["mpy"])
    assert checked.returncode == 0, checked.stderr
    checked = compile_c(compiler("c++"), "-std=c++11", *plain, *files["cpp"])
    assert checked.returncode == 0, checked.stderr


@pytest.mark.parametrize("target", [*PACKAGES, "c", "onnx"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_command_writes_files_or_says_one_sentence(target, dtype, tmp_path, monkeypatch, capsys):
    card = {"ranges": {"low": [0.0] * 4, "high": [200.0] * 4}}
    of = model([rbf()], 6, 4, (10, 20, 30), offset=np.full(4, 100.0), scale=np.full(4, 0.02), card=card)
    of.save(tmp_path / "of.safetensors")
    for reads, options in itertools.product(INPUT_KINDS, ([], ["--early-exit"])):
        folder = tmp_path / f"{reads}{len(options)}"
        arguments = ["export", str(tmp_path / "of.safetensors"), "--target", target, "--dtype", dtype, "--input", reads]
        monkeypatch.setattr("sys.argv", ["sparsegen", *arguments, *options, "-o", str(folder)])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        if ended.value.code:
            assert (ended.value.code, printed.out) == (2, "")
            assert printed.err.startswith("error: ") and printed.err.count("\n") == 1
            assert not folder.exists()
        else:
            assert any(folder.iterdir())
        integers = dtype != "f32"
        fits = target != "onnx" if integers else reads == "f32" and not options
        assert (ended.value.code or 0) == (0 if fits else 2), printed.err
