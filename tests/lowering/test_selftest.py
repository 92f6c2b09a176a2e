"""The self-test that every C export carries: silent when all is well, loud when a table is damaged."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from c_programs import run_c
from golden_models import EVERY, SMALL, model, rbf

from sparsegen.devices import DEVICES
from sparsegen.devices._emulated import EmulatedDevice
from sparsegen.devices._emulator import EmulatedProcessor
from sparsegen.devices._image import build_image
from sparsegen.lowering.selftest import EXAMPLES, make_selftest
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


def test_every_kind_of_model_passes_on_the_host(tmp_path):
    found = on_host({name: source_of(name, tmp_path) for name in EVERY}, tmp_path)
    assert found == dict.fromkeys(EVERY, 0)


@pytest.mark.parametrize("value", ["1234.5f", "(0.0f / 0.0f)", "(1.0f / 0.0f)"], ids=["wrong", "nan", "infinite"])
def test_a_damaged_table_is_noticed(value, tmp_path):
    for table in ("coef", "intercept"):
        found = on_host({n: corrupted(source_of(n, tmp_path), table, value) for n in SMALL}, tmp_path)
        assert {name for name, result in found.items() if result == 0} == set()
        assert set(found.values()) <= set(range(1, EXAMPLES + 1))


def test_a_damaged_vector_is_noticed(tmp_path):
    sources = {name: corrupted(source_of(name, tmp_path), "vectors", "99.0f") for name in SMALL}
    assert 0 not in on_host(sources, tmp_path).values()


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
    test = make_selftest(of)
    assert len(test.inputs) == EXAMPLES
    assert np.array_equal(test.inputs, test.inputs.astype(np.float32))
    assert np.array_equal(test.scores, of.scores(test.inputs))
    assert np.array_equal(test.classes, of.predict_index(test.inputs))
    assert len(set(test.classes.tolist())) > 1
    assert test.clear


def test_one_vector_gives_one_example():
    assert len(make_selftest(model([rbf()], 1, 2, (0, 1))).inputs) == 1


def test_classes_are_not_compared_where_they_prove_nothing(tmp_path):
    """All scores within the tolerance of a tie: rounding may decide, so only scores are compared."""
    of = model([rbf()], 3, 2, (0, 1, 2))
    flat = SparseModel(of.vectors, 1e-6 * of.coef, np.zeros(3), of.kernels, of.transform, of.classes)
    assert not make_selftest(flat).clear
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
    assert len(make_selftest(of).inputs) == EXAMPLES
