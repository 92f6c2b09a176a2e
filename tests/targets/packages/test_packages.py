"""What every package around the C export promises, over the whole registry."""

from __future__ import annotations

import itertools
import subprocess

import numpy as np
import pytest
from c_programs import any_compiler, compile_c, compiler
from golden_models import CARD, EVERY, SMALL, model, rbf, rows
from narrowing import known
from wrapped import COUNTS, HOSTILE, PACKAGES, WARNINGS, built, counted, packed

from sparsegen.devices import DEVICES
from sparsegen.devices.host import Host
from sparsegen.errors import OptionError
from sparsegen.files import is_generated
from sparsegen.files.writing import UNFINISHED
from sparsegen.targets import TARGETS
from sparsegen.targets.c.package import release


def test_the_promised_packages_are_there():
    assert set(PACKAGES) >= {
        "header",
        "cpp",
        "arduino",
        "platformio",
        "cmake",
        "zephyr",
        "micropython",
        "rust",
        "esp-idf",
    }
    assert all(TARGETS[name].name == name and TARGETS[name].description for name in PACKAGES)


@pytest.mark.parametrize("target", PACKAGES)
def test_devices_run_a_package_like_the_c_export(target):
    of = SMALL["rbf_projected"]
    X = rows(of).astype(np.float32)
    for device in ("host", "cortex-m4f", "rv32imc"):
        if DEVICES[device].missing() is None:
            mine = DEVICES[device].run(TARGETS[target].export(of, "m"), X)
            plain = DEVICES[device].run(TARGETS["c"].export(of, "m"), X)
            assert np.array_equal(mine.scores, plain.scores), device
            assert np.array_equal(mine.labels, of.predict_index(X)), device


@pytest.mark.parametrize("target", PACKAGES)
def test_names_that_differ_only_in_case_are_refused_in_one_file(target, tmp_path):
    """They share macros. Apart, and each of them twice, they compile."""
    names = ("gest", "Gest", "GEST")
    found = [packed(target, SMALL["linear"], name, tmp_path / str(i)) for i, name in enumerate(names)]
    headers = [(p.folder / p.export.sources[0]).with_suffix(".h") for p in found]
    for first, second in itertools.product(headers, headers):
        (tmp_path / "user.c").write_text(f'#include "{first}"\n#include "{second}"\nint f(void);\n')
        result = compile_c(any_compiler(), "-std=c99", "-c", tmp_path / "user.c", "-o", tmp_path / "user.o")
        assert (result.returncode == 0) is (first == second)
        assert first == second or "names differ only in case; rename one" in result.stderr


@pytest.mark.parametrize("target", PACKAGES)
def test_two_models_in_one_binary_never_collide(target, tmp_path):
    models = {"gest": SMALL["laplacian_text"], "gest_label": EVERY["several_kernels"]}
    packages = [packed(target, of, name, tmp_path / name) for name, of in models.items()]
    sources = [p.folder / source for p in packages for source in p.export.sources]
    assert len(sources) == 2
    main = "".join(f'#include "{source.with_suffix(".h")}"\n' for source in sources)
    calls = ", ".join(f"{name}_selftest(), {name}_predict(row)" for name in models)
    row = rows(EVERY["several_kernels"])[3].astype(np.float32)
    numbers = ", ".join(f"{float(v)!r}f" for v in row)
    main += f"""
    #include <stdio.h>
    int main(void)
    {{
        static const float row[] = {{{numbers}}};
        printf("%d %d %d %d", {calls});
        return 0;
    }}
    """
    (tmp_path / "main.c").write_text(main)
    built(any_compiler(), "-std=c99", "-O2", *WARNINGS, *sources, tmp_path / "main.c", "-o", tmp_path / "both")
    printed = subprocess.run([tmp_path / "both"], capture_output=True, text=True, check=True).stdout
    first, second = (int(of.predict_index(row[None, : of.n_features])[0]) for of in models.values())
    assert printed == f"0 {first} 0 {second}"


@pytest.mark.parametrize("target", PACKAGES)
def test_files_hold_no_untrusted_text_except_in_the_c(target):
    card = {**CARD, "method": "*/ #error $(x)", "feature_names": list(HOSTILE[:3])}
    export = TARGETS[target].export(model([rbf()], 3, 3, HOSTILE, card=card), "m")
    for path, content in export.files.items():
        text = content.decode()
        assert text.isascii() and text.endswith("\n") and "\r" not in text, path
        if not path.endswith(("/m.c", "/m.h")) and path not in ("m.c", "m.h"):
            assert not [label for label in HOSTILE if label in text and label not in ("// line", "%s %n")], path
            assert "#error $(x)" not in text


@pytest.mark.parametrize("target", TARGETS)
def test_every_file_carries_the_mark_by_which_an_export_may_overwrite_it(target):
    for path, content in TARGETS[target].export(SMALL["binary_rbf"], "m").files.items():
        assert is_generated(content), path


@pytest.mark.parametrize("target", PACKAGES)
def test_no_package_builds_with_the_header_of_another_export(target, tmp_path):
    package = packed(target, SMALL["binary_rbf"], "m", tmp_path / "p")
    (source,) = package.export.sources
    build = (any_compiler(), "-std=c99", "-c", package.folder / source, "-o", tmp_path / "m.o")
    other = TARGETS[target].export(SMALL["poly"], "m")
    assert package.export.gate is not None and package.export.gate == other.gate
    (package.folder / package.export.gate).write_bytes(UNFINISHED)
    said = compile_c(*build).stderr
    assert "this package is half written; export it again" in said
    if target != "header":  # where the header is the whole model
        (package.folder / other.gate).write_bytes(other.files[other.gate])
        said = compile_c(*build).stderr
        assert "m.h are from different exports; export both again" in said


@pytest.mark.parametrize("target", PACKAGES)
def test_hostile_labels_come_back_byte_for_byte(target, tmp_path):
    package = packed(target, model([rbf()], 3, 3, HOSTILE), "m", tmp_path / "p")
    (source,) = package.export.sources
    (tmp_path / "main.c").write_text(
        f'#include "{(package.folder / source).with_suffix(".h")}"\n#include <stdio.h>\n'
        "int main(void) { int i; for (i = 0; i < M_CLASSES; ++i) { puts(m_label(i)); } return m_selftest(); }"
    )
    built(any_compiler(), "-std=c99", package.folder / source, tmp_path / "main.c", "-o", tmp_path / "labels")
    printed = subprocess.run([tmp_path / "labels"], capture_output=True, check=True).stdout
    assert printed.decode().splitlines() == list(HOSTILE)


@pytest.mark.parametrize("target", PACKAGES)
def test_a_package_says_what_to_do_next(target):
    export = TARGETS[target].export(SMALL["poly"], "some_model")
    assert export.usage and "\n" not in export.usage
    assert any(export.usage in content.decode() for content in export.files.values())
    assert (export.target, export.runs_as, export.name) == (target, "c", "some_model")
    plain = TARGETS["c"].export(SMALL["poly"], "some_model")
    assert (export.table_bytes, export.n_features, export.n_outputs) == (plain.table_bytes, 5, 1)


@pytest.mark.parametrize("target", PACKAGES)
def test_the_same_model_gives_the_same_bytes_and_no_machine_leaks_into_them(target):
    first, second = (TARGETS[target].export(SMALL["rbf_powers"], "m").files for _ in range(2))
    assert first == second and list(first) == list(second)
    for path, content in first.items():
        assert not [word for word in (b"/tmp", b"/home", b"/usr", b"/root", b"Undefined") if word in content], path


@pytest.mark.parametrize("target", PACKAGES)
def test_a_bad_name_is_refused(target):
    for name in ("../m", "a b", "m/n", "int", "m;x", "stdio", "m$(x)"):
        with pytest.raises(OptionError):
            TARGETS[target].export(SMALL["poly"], name)


@pytest.mark.parametrize("target", PACKAGES)
def test_an_integer_export_is_packed_with_its_types(target, counts, tmp_path):
    export = packed(target, COUNTS, "sums", tmp_path / "p", numbers=counts).export
    assert export.input_dtype == counts.reads.dtype and export.score_dtype == np.int32
    assert known(export.lowered).format == counts
    X = np.array([[1, 2, 3, 4, 5], [250, 250, 250, 250, 9]])
    out = Host(compiler("gcc")).run(export, X)
    assert out.scores.tolist() == [[counted(export, *row)] for row in X] and out.labels.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("1.2.3", "1.2.3"),
        ("0.10.0.dev3+gabc", "0.10.0"),
        ("2.0.1rc1", "2.0.1"),
        ("0+unknown", "0.0.0"),
        ("1.2", "0.0.0"),
    ],
)
def test_packages_have_a_version_of_three_numbers(version, expected):
    assert release(version) == expected
