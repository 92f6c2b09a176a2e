"""The self-test that every C export carries: silent when all is well, loud when a table is damaged."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from c_programs import run_c
from golden_models import EVERY, FLASH, INTEGER, SMALL, model, rbf

from benchmarks.trust._together import integer_program, make_integer_case
from sparsegen.devices import DEVICES
from sparsegen.devices._emulated import EmulatedDevice
from sparsegen.devices._emulator import EmulatedProcessor
from sparsegen.devices._image import build_image
from sparsegen.errors import ModelError
from sparsegen.lowering import lower
from sparsegen.lowering.curves import SampledCurve
from sparsegen.lowering.formats import Format
from sparsegen.lowering.integer_program import IntegerProgram
from sparsegen.lowering.program import Program
from sparsegen.lowering.selftest import EXAMPLES, Selftest
from sparsegen.lowering.simulate import float32_scores
from sparsegen.model import SparseModel
from sparsegen.targets import TARGETS

EMULATED = [name for name in DEVICES if isinstance(DEVICES[name], EmulatedDevice)]


def on_host(sources: dict[str, str], folder) -> dict[str, int]:
    """Return what the self-test of every named source gives, all in one program."""
    for name, source in sources.items():
        (folder / f"{name}.c").write_text(source)
    calls = "".join(f'    printf("{name} %d\\n", {name}_selftest());\n' for name in sources)
    includes = "".join(f'#include "{name}.c"\n' for name in sources)
    printed = run_c(f"{includes}#include <stdio.h>\nint main(void)\n{{\n{calls}    return 0;\n}}\n", folder)
    return {line.split()[0]: int(line.split()[1]) for line in printed.decode().splitlines()}


def source_of(name, folder) -> str:
    export = TARGETS["c"].export(EVERY[name], name)
    (folder / f"{name}.h").write_bytes(export.files[f"{name}.h"])
    return export.files[f"{name}.c"].decode()


def corrupted(source: str, table: str, value: str) -> str:
    """Return the source with the first entry of a table replaced."""
    changed, n = re.subn(rf"(_{table}\[\d+\] = {{\s*)[^,}}]+", rf"\g<1>{value}", source, count=1)
    assert n == 1
    return changed


def unsummed(source: str) -> str:
    """Return the source without the sum over its tables, so that only the examples are left."""
    changed, n = re.subn(r"    if \(sum != \d+u\) \{\s*return -1;\s*\}\n", "    (void)sum;\n", source)
    assert n == 1
    return changed


def test_every_kind_of_model_passes_on_the_host(tmp_path):
    found = on_host({name: source_of(name, tmp_path) for name in EVERY}, tmp_path)
    assert found == dict.fromkeys(EVERY, 0)


@pytest.mark.parametrize("value", ["1234.5f", "(0.0f / 0.0f)", "(1.0f / 0.0f)"], ids=["wrong", "nan", "infinite"])
def test_a_damaged_table_is_noticed(value, tmp_path):
    for table in ("coef", "intercept"):
        damaged = {n: corrupted(source_of(n, tmp_path), table, value) for n in SMALL}
        assert set(on_host(damaged, tmp_path).values()) == {-1}
        found = on_host({n: unsummed(source) for n, source in damaged.items()}, tmp_path)
        assert set(found.values()) <= set(range(1, EXAMPLES + 1))


def test_a_damaged_vector_is_noticed(tmp_path):
    sources = {name: corrupted(source_of(name, tmp_path), "vectors", "99.0f") for name in SMALL}
    assert set(on_host(sources, tmp_path).values()) == {-1}
    assert 0 not in on_host({name: unsummed(source) for name, source in sources.items()}, tmp_path).values()


@pytest.mark.parametrize("name", INTEGER)
def test_the_smallest_damage_to_an_integer_table_is_noticed(name, tmp_path):
    """One more or one less, in an entry of any table of the prediction, whether an example visits it or not."""
    export = INTEGER[name].export(name)
    header, source = (export.files[f"{name}.{kind}"].decode() for kind in "hc")
    tables = source[: source.index(f"{name}_in_range")]  # whose range no prediction reads
    entries = [entry for table in re.finditer(r"\] = (\{.*?\});", tables, re.DOTALL) for entry in entries_of(table)]
    assert len(entries) > 10
    rng = np.random.default_rng(0)
    sources = {}
    for at in rng.permutation(len(entries))[:12].tolist():
        start, end = entries[at]
        value = int(source[start:end])
        damaged = f"{source[:start]}{value + 1 if value % 2 == 0 else value - 1}{source[end:]}"
        own = f"{name}_{at}"  # so that all stand in one program
        (tmp_path / f"{own}.h").write_text(called(header, name, own))
        sources[own] = called(damaged, name, own)
    assert len(sources) > 10
    assert on_host(sources, tmp_path) == dict.fromkeys(sources, -1)


def called(text: str, name: str, own: str) -> str:
    """Return C with another name in front of every symbol."""
    return text.replace(name, own).replace(name.upper(), own.upper())


def entries_of(table: re.Match[str]) -> list[tuple[int, int]]:
    """Return where the whole numbers of a table stand."""
    found = re.finditer(r"-?\d+(?=[u,}])", table[1])
    return [(table.start(1) + number.start(), table.start(1) + number.end()) for number in found]


def notices(test: Selftest, program: Program | IntegerProgram) -> bool:
    """Return whether the examples alone fail for a program."""
    if isinstance(program, Program):
        return bool(np.any(~(np.abs(float32_scores(program, test.rows) - test.scores) <= test.tolerance)))
    return bool(np.any(program.scores(test.inputs) != test.scores))


def test_the_examples_alone_notice_a_change_of_one_percent():
    """In one coefficient or one entry of a vector. With a thousandth of a score allowed, they noticed half of these."""
    rng = np.random.default_rng(0)
    found = []
    for of in (*SMALL.values(), *FLASH.values()):
        lowered = lower(of)
        program = lowered.program
        assert isinstance(program, Program)
        for table in ("coef", "vectors") * 8:
            part = program.parts[0]
            values = getattr(part, table).copy()
            at = rng.choice(np.flatnonzero(values))
            values.flat[at] *= 1.01
            damaged = replace(program, parts=(replace(part, **{table: values}), *program.parts[1:]))
            found.append(notices(lowered.selftest, damaged))
    assert np.mean(found) > 0.97


def test_the_examples_of_integers_visit_many_entries_of_a_sampled_curve():
    """They are few; the sum over the tables covers the rest."""
    lowered = lower(model([("cauchy", {"gamma": 0.1})], 16, 16, (0, 1)), Format("q15"))
    program = lowered.program
    assert isinstance(program, IntegerProgram)
    (curve,) = program.curves
    assert isinstance(curve, SampledCurve)
    noticed = 0
    for at in range(len(curve.values)):
        values = curve.values.copy()
        values[at] -= 4
        noticed += notices(lowered.selftest, replace(program, curves=(replace(curve, values=values),)))
    assert noticed >= 24


@pytest.mark.parametrize(
    "of",
    [
        model([rbf(1e14)], 4, 3, (0, 1), offset=np.full(3, 1.0 / 3.0), scale=np.full(3, 1.0 / 3.0)),
        model([("poly", {"gamma": 1e20, "degree": 3})], 3, 4, (0, 1)),
    ],
    ids=["narrow", "huge"],
)
def test_a_model_that_float32_cannot_compute_is_refused(of):
    with pytest.raises(ModelError, match=r"float32.*rescale") as caught:
        lower(of)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("device", EMULATED)
def test_on_every_emulated_device(device):
    device = DEVICES[device]
    if device.missing() is not None:
        pytest.skip(str(device.missing()))
    for name in ("binary_rbf", "laplacian_text"):
        export = TARGETS["c"].export(EVERY[name], name)
        damaged = corrupted(export.files[f"{name}.c"].decode(), "coef", "77.0f").encode()
        for tried, passes in ((export, True), (replace(export, files={**export.files, f"{name}.c": damaged}), False)):
            image = build_image(tried, device.compiler_flags, (f"{name}_selftest",))
            machine = EmulatedProcessor(device.processor, image, 4 * export.n_features, export.n_outputs)
            assert (machine.predict(f"{name}_selftest") == 0) is passes


def test_examples_are_clear_varied_and_exact_in_float32():
    of = model([rbf()], 20, 5, (0, 1, 2))
    test = lower(of).selftest
    assert len(test.inputs) == EXAMPLES
    assert np.array_equal(test.inputs, test.inputs.astype(np.float32))
    assert np.array_equal(test.scores, of.scores(test.inputs))
    assert np.array_equal(test.classes, of.predict_index(test.inputs))
    assert len(set(test.classes.tolist())) > 1
    assert test.clear


def test_one_vector_gives_examples_around_it():
    assert 1 <= len(lower(model([rbf()], 1, 2, (0, 1))).selftest.inputs) <= 3


def test_classes_are_not_compared_where_they_prove_nothing(tmp_path):
    """All scores tie: rounding may decide, so only scores are compared."""
    of = model([rbf()], 3, 2, (0, 1, 2))
    same = np.repeat(of.coef[:1], 3, axis=0)
    flat = SparseModel(of.vectors, same, np.zeros(3), of.kernels, of.transform, of.classes)
    assert not lower(flat).selftest.clear
    export = TARGETS["c"].export(flat, "flat")
    (tmp_path / "flat.h").write_bytes(export.files["flat.h"])
    source = export.files["flat.c"].decode()
    assert "classes[i]" not in source
    assert on_host({"flat": source}, tmp_path) == {"flat": 0}


def test_thousands_of_vectors_are_quick():
    n = 20_000
    small = EVERY["one_feature"]
    of = SparseModel(
        np.linspace(0, 9, n)[:, None], np.ones((1, 1, n)), np.array([-1.0]), small.kernels, small.transform, (0, 1)
    )
    assert len(lower(of).selftest.inputs) == EXAMPLES


def test_bytes_that_add_up_to_more_than_32_bits_pass(tmp_path):
    """The sum is taken modulo 2^32, by Python as by the device."""
    case = make_integer_case(0, m=3000, d=120)
    export = TARGETS["c"].export(case.model, "large", Format("q7", rows=case.rows))
    vectors = integer_program(export).vectors
    assert (vectors * (vectors + 1)).sum() > 2**32
    (tmp_path / "large.h").write_bytes(export.files["large.h"])
    assert on_host({"large": export.files["large.c"].decode()}, tmp_path) == {"large": 0}
