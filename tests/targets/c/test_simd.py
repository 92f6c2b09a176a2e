"""Float loops for processors with vector instructions: other tables, the same scores to the bit."""

from __future__ import annotations

import io
import re
from pathlib import Path

import numpy as np
import pytest
from c_programs import compile_c, compiler, emulated, symbols, warning_level
from golden_models import EVERY, model, rbf, rows, wave

from sparsegen.devices import DEVICES
from sparsegen.devices._toolchain import SECTION_FLAGS
from sparsegen.devices.host import Host
from sparsegen.errors import OptionError
from sparsegen.kernels import KERNELS
from sparsegen.targets import TARGETS, Export
from sparsegen.targets.c.simd import FEWEST_VECTORS, WIDTH, make_blocks

GOLDEN = Path(__file__).parents[2] / "golden" / "simd"
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Wdouble-promotion", "-Werror")
TWO_BLOCKS = WIDTH + 1
MODELS = {
    **{kernel: model([(kernel, {})], TWO_BLOCKS, 5, (0, 1, 2)) for kernel in KERNELS},
    "one_block": model([rbf()], WIDTH, 3, (0, 1)),
    "part_of_a_block": model([rbf()], FEWEST_VECTORS, 18, (0, 1), scale=0.5 + np.arange(18) / 10),
    "one_feature": model([rbf()], 2 * WIDTH, 1, (0, 1)),
    "differences": model([rbf(900.0)], 9, 6, (0, 1)),
    "projected": model([rbf()], TWO_BLOCKS, 20, (0, 1, 2), projected=3),
    "buffered": model([("laplacian", {"gamma": 0.1})], 40, 30, (0, 1), offset=1e3 * wave(30)),
    "several": model([rbf(), rbf(0.5), ("poly", {"degree": 2}), ("laplacian", {"gamma": 0.3})], 10, 4, (0, 1, 2)),
}
SIMD = {name: TARGETS["c"].export(of, name, loops="simd") for name, of in MODELS.items()}


@pytest.fixture(scope="module")
def all_in_one(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One source file that includes every model."""
    folder = tmp_path_factory.mktemp("simd")
    for export in SIMD.values():
        export.save(folder, force=True)
    (folder / "all.c").write_text("".join(f'#include "{name}.c"\n' for name in SIMD))
    return folder / "all.c"


def test_golden(update_golden: bool) -> None:
    export = TARGETS["c"].export(model([rbf()], 9, 2, (0, 1, 2)), "simd", loops="simd")
    path = GOLDEN / "simd.c"
    if update_golden:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(export.files["simd.c"])
    assert export.files["simd.c"].decode() == path.read_text(), "simd.c changed; see pytest --update-golden"


@pytest.mark.parametrize("leads", [False, True])
@pytest.mark.parametrize("m", [FEWEST_VECTORS, WIDTH - 1, WIDTH, WIDTH + 1, 3 * WIDTH])
def test_the_table_holds_every_number_once_where_the_loops_read_it(m: int, leads: bool) -> None:
    blocks = make_blocks(m, leads)
    assert blocks is not None
    assert blocks.fills_up == (m % WIDTH != 0)
    rows_of_block = 4 + leads
    vectors = np.arange(1.0, m * rows_of_block + 1.0).reshape(m, rows_of_block)
    flat = blocks.table(vectors).ravel()
    assert np.count_nonzero(flat) == vectors.size
    for u in range(m):
        start = (u // WIDTH) * WIDTH * rows_of_block
        assert [flat[start + WIDTH * j + u % WIDTH] for j in range(rows_of_block)] == vectors[u].tolist()
    assert blocks.first_feature == (f"i + {WIDTH}" if leads else "i")
    assert blocks.first_advance == WIDTH * (1 + leads)


def same(a: Export, b: Export) -> bool:
    return all(a.files[f"m.{suffix}"] == b.files[f"m.{suffix}"] for suffix in "ch")


def test_few_vectors_and_integers_take_the_portable_loops() -> None:
    assert make_blocks(FEWEST_VECTORS - 1, leads=True) is None
    of = EVERY["rbf_projected"]
    assert of.n_vectors < FEWEST_VECTORS
    assert same(TARGETS["c"].export(of, "m"), TARGETS["c"].export(of, "m", loops="simd"))
    for loops in ("dsp", "avr"):  # which are for integers
        of = MODELS["one_block"]
        assert same(TARGETS["c"].export(of, "m"), TARGETS["c"].export(of, "m", loops=loops))


def test_unknown_loops_are_one_sentence() -> None:
    with pytest.raises(OptionError, match="there are no loops 'mmx'; choose one of: portable, dsp, avr, simd"):
        TARGETS["c"].export(MODELS["one_block"], "m", loops="mmx")


@pytest.mark.parametrize("name", MODELS)
def test_scores_are_those_of_the_portable_loops_to_the_bit(name: str) -> None:
    host = DEVICES["host-simd"]
    if (reason := host.missing()) is not None:
        pytest.skip(reason)
    assert host.loops == "simd"
    of = MODELS[name]
    X = rows(of).astype(np.float32)
    portable, simd = host.run(TARGETS["c"].export(of, name), X), host.run(SIMD[name], X)
    assert b"float sums[" in SIMD[name].files[f"{name}.c"] or KERNELS["linear"].bind() in of.kernels
    np.testing.assert_array_equal(simd.scores.view(np.uint32), portable.scores.view(np.uint32))
    np.testing.assert_array_equal(simd.labels, portable.labels)


@pytest.mark.parametrize("level", ["-O0", "-O3"])
@pytest.mark.parametrize("name", ["gcc", "clang"])
def test_every_level_gives_the_same_bits_and_reads_only_what_is_there(name: str, level: str) -> None:
    if Host((name,)).missing() is not None:
        pytest.skip(f"{name} is not on the PATH")
    sanitizers = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all") if level == "-O0" else ()
    for of in ("several", "part_of_a_block"):
        X = rows(MODELS[of]).astype(np.float32)
        out = Host((name,), ("-std=c99", "-ffp-contract=off", level, *sanitizers)).run(SIMD[of], X)
        expected = Host((name,), ("-std=c99", "-ffp-contract=off", "-O1")).run(TARGETS["c"].export(MODELS[of], of), X)
        np.testing.assert_array_equal(out.scores.view(np.uint32), expected.scores.view(np.uint32))


@pytest.mark.parametrize("language", ["c99", "c++17"])
@pytest.mark.parametrize("name", ["gcc", "clang"])
def test_no_compiler_warns(name: str, language: str, all_in_one: Path, tmp_path: Path) -> None:
    command = [*compiler(name), *(["-x", "c++"] if language == "c++17" else [])]
    flags = (f"-std={language}", warning_level(name, "-O2"), *WARNINGS)
    result = compile_c(command, *flags, "-c", all_in_one, "-o", tmp_path / "out.o")
    assert result.returncode == 0, result.stderr
    assert "warning" not in result.stderr.replace("argument unused", "")


@pytest.mark.parametrize(("name", "device"), [("gcc", None), ("clang", None), ("zig", "cortex-m4f")])
def test_the_object_needs_no_library(name: str, device: str | None, all_in_one: Path, tmp_path: Path) -> None:
    pytest.importorskip("elftools")
    from elftools.elf.elffile import ELFFile

    own = (*emulated(device).compiler_flags, "-ffreestanding") if device else ("-fno-pic",)
    for level in ("-Os", "-O3"):
        flags = ("-std=c99", level, *own, *SECTION_FLAGS)
        compiled = compile_c(compiler(name), *flags, "-c", all_in_one, "-o", tmp_path / "m.o")
        assert compiled.returncode == 0, compiled.stderr
        content = (tmp_path / "m.o").read_bytes()
        if not content.startswith(b"\x7fELF"):
            pytest.skip("no ELF file")
        undefined = {s.name for s in symbols(ELFFile(io.BytesIO(content))) if s["st_shndx"] == "SHN_UNDEF"}
        assert undefined <= {""}, level


def test_table_bytes_are_those_of_the_tables() -> None:
    for name, export in SIMD.items():
        source = export.files[f"{name}.c"].decode()
        sizes = re.findall(rf"^static const {name.upper()}_ROM float {name}_\w+\[(\d+)\]", source, re.MULTILINE)
        assert export.table_bytes == 4 * sum(map(int, sizes))
