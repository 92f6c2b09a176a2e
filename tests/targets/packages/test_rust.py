"""The Rust crate: compiled by rustc around C compiled here, and built by Cargo over a stand-in for the crate cc."""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
from dataclasses import replace

import numpy as np
import pytest
from c_programs import any_compiler, compile_c, compiler
from golden_models import SMALL, model, rbf, rows
from wrapped import COUNTS, HOSTILE, built, packed

from sparsegen.errors import OptionError
from sparsegen.lowering.formats import Format
from sparsegen.model import Calibration
from sparsegen.targets import TARGETS

LEAST = (1, 64)
"""What Cargo.toml asks for: core knows the types of C from then on."""
PLATT = replace(SMALL["binary_rbf"], calibration=Calibration("platt", 1.7, 0.25))
# What build.rs uses of cc, which is not here without a network.
CC = """
use std::{env, process::Command};
pub struct Build(Vec<String>);
impl Build {
    pub fn new() -> Build { Build(Vec::new()) }
    pub fn file(&mut self, path: &str) -> &mut Build { self.0.push(path.to_string()); self }
    pub fn compile(&self, name: &str) {
        let out = env::var("OUT_DIR").unwrap();
        let object = format!("{out}/{name}.o");
        assert!(Command::new("cc").args(["-c", "-O2", &self.0[0], "-o", &object]).status().unwrap().success());
        let archive = format!("{out}/lib{name}.a");
        assert!(Command::new("ar").args(["rcs", &archive, &object]).status().unwrap().success());
        println!("cargo:rustc-link-search=native={out}\\ncargo:rustc-link-lib=static={name}");
    }
}
"""


def rust() -> list[str]:
    """Return the compiler; skip the test where there is none of the version that the crate asks for."""
    command = compiler("rustc")
    said = subprocess.run([*command, "--version"], capture_output=True, text=True, check=False).stdout
    found = re.match(r"rustc (\d+)\.(\d+)", said)
    if found is None or (int(found[1]), int(found[2])) < LEAST:
        pytest.skip(f"rustc {LEAST[0]}.{LEAST[1]} or later is needed, there is {said.strip() or 'none that runs'}")
    return command


def compiled(package, main, tmp_path):
    """Compile the C, the crate and a program that uses it, without a warning; return the program."""
    (rustc,), (archiver,) = rust(), compiler("ar")
    name = package.export.name
    built(any_compiler(), "-O2", "-c", package.folder / "src" / f"{name}.c", "-o", tmp_path / "m.o")
    built([archiver], "rcs", tmp_path / "libm_c.a", tmp_path / "m.o")
    flags = ["--edition", "2021", "-D", "warnings", "-L", tmp_path, "-O"]
    crate = ["--crate-type", "rlib", "--crate-name", name.lower(), "-l", "static=m_c"]
    built([rustc], package.folder / "src" / "lib.rs", *flags, *crate, "--out-dir", tmp_path)
    built([rustc], main, *flags, "--extern", name.lower(), "-o", tmp_path / "program")
    return tmp_path / "program"


def output_of(program) -> str:
    return subprocess.run([program], capture_output=True, text=True, check=True, timeout=60).stdout


@pytest.mark.parametrize("of", ["laplacian_text", "binary_rbf"])
def test_the_example_runs(of, tmp_path):
    package = packed("rust", SMALL[of], "Gestures", tmp_path / "p")
    printed = output_of(compiled(package, package.folder / "examples" / "predict.rs", tmp_path))
    found = re.fullmatch(r"class (\d), label (.+), self-test ok\n", printed)
    assert found and str(SMALL[of].classes[int(found[1])]) == found[2]


def test_the_crate_computes_what_python_computes(tmp_path):
    of = SMALL["matern32"]
    package = packed("rust", of, "m", tmp_path / "p")
    X = rows(of)[:8]
    table = ", ".join(f"[{', '.join(f'{v!r}' for v in row)}]" for row in X.tolist())
    (tmp_path / "main.rs").write_text(f"""
    fn main() {{
        for x in [{table}] as [[m::Input; m::FEATURES]; {len(X)}] {{
            let class = m::predict(&x);
            println!("{{}} {{}} {{:?}}", class.index(), class.label(), m::scores(&x));
            assert!(m::Class::from_index(class.index()) == Some(class) && m::Class::ALL.len() == m::CLASSES);
        }}
        assert!(m::selftest().is_ok() && m::OUTPUTS == 3 && m::VECTORS == 4 && m::UNIT == 1.0);
    }}""")
    lines = output_of(compiled(package, tmp_path / "main.rs", tmp_path)).splitlines()
    for line, expected, scores in zip(lines, of.predict(X), of.scores(X), strict=True):
        index, label, given = line.split(" ", 2)
        assert index == label == str(expected)
        assert [float(v) for v in given.strip("[]").split(",")] == pytest.approx(scores, abs=1e-4)


def test_an_integer_crate_has_its_types_and_says_what_is_in_range(counts, tmp_path):
    package = packed("rust", COUNTS, "sums", tmp_path / "p", numbers=counts)
    (tmp_path / "main.rs").write_text("""
    fn main() {
        let few: [sums::Input; 5] = [1, 2, 3, 4, 5];
        println!("{:?} {:?} {}", sums::predict(&few), sums::predict(&[250; 5]), sums::in_range(&few));
        println!("{:?} {}", sums::scores(&few), std::any::type_name::<sums::Input>());
    }""")
    first, second = output_of(compiled(package, tmp_path / "main.rs", tmp_path)).splitlines()
    assert first == "Few Many true"
    kind = {"int16": "i16", "uint8": "u8"}[package.export.input_dtype.name]
    assert re.fullmatch(rf"\[-\d+\] {kind}", second)


@pytest.mark.parametrize(
    ("machine", "dtype"), [(SMALL["temperature"], "f32"), (SMALL["temperature"], "q7"), (PLATT, "q15")]
)
def test_the_crate_gives_probabilities_and_rejects(machine, dtype, tmp_path):
    X = rows(machine)[:12]
    surest = machine.probabilities(X).max(axis=1)
    confidence = float(np.sort(surest)[5:7].mean())  # so that some rows are rejected and some are not
    package = packed("rust", machine, "m", tmp_path / "p", numbers=Format(dtype, reject=confidence))
    lowered = package.export.lowered
    assert lowered is not None and lowered.probabilities is not None
    table = ", ".join(f"[{', '.join(f'{v!r}' for v in row)}]" for row in X.astype(np.float32).tolist())
    (tmp_path / "main.rs").write_text(f"""
    fn main() {{
        for x in [{table}] as [[m::Input; m::FEATURES]; {len(X)}] {{
            let (class, score) = m::predict_score(&x);
            let p: [m::Probability; m::CLASSES] = m::probabilities(&x);
            let kept: Option<m::Class> = m::predict_or_reject(&x);
            assert!(class == m::predict(&x) && p.iter().all(|one| *one <= m::PROBABILITY_ONE));
            assert_eq!(kept, if p[class.index()] < m::REJECT_BELOW {{ None }} else {{ Some(class) }});
            println!("{{}} {{}} {{:?}} {{:?}}", kept.is_some(), score, p, m::scores(&x));
        }}
    }}""")
    lines = output_of(compiled(package, tmp_path / "main.rs", tmp_path)).splitlines()
    scores = lowered.program.scores(lowered.inputs(X))
    wanted = lowered.probabilities.of(scores)
    assert len({line.split()[0] for line in lines}) == 2
    for line, s, p in zip(lines, scores, wanted, strict=True):
        score, *given = [float(v) for v in re.findall(r"[-\d.e]+", line.split(" ", 1)[1])]
        assert given == pytest.approx([*p.tolist(), *s.tolist()], rel=1e-4, abs=1e-5)
        assert score == pytest.approx(abs(s[0]) if len(s) == 1 else s.max(), rel=1e-4)


def test_a_crate_has_only_what_its_export_has(tmp_path):
    for numbers, there in ((Format("f32"), b"probabilities(x"), (Format("f32", reject=0.5), b"predict_or_reject(x")):
        assert there in packed("rust", SMALL["temperature"], "m", tmp_path, numbers=numbers).export.files["src/lib.rs"]
    plain = TARGETS["rust"].export(SMALL["votes"], "m").files["src/lib.rs"]
    assert b"robabilit" not in plain and b"reject" not in plain and b"the number of its votes" in plain
    assert b"reject" not in TARGETS["rust"].export(SMALL["temperature"], "m").files["src/lib.rs"].lower()


def test_its_own_tests_pass_with_hostile_labels_and_fail_for_a_damaged_table(tmp_path):
    (rustc,), (archiver,) = rust(), compiler("ar")
    package = packed("rust", model([rbf()], 3, 3, HOSTILE), "m", tmp_path / "p")
    source = package.folder / "src" / "m.c"
    text = source.read_text()
    changed = re.sub(r"(m_intercept\[9\] = \{)", r"\g<1>1.0f + ", text)
    assert changed != text
    for content, code in ((text, 0), (changed, 101)):
        source.write_text(content)
        built(any_compiler(), "-c", source, "-o", tmp_path / "m.o")
        built([archiver], "rcs", tmp_path / "libm_c.a", tmp_path / "m.o")
        flags = ["--edition", "2021", "-D", "warnings", "-L", tmp_path, "-l", "static=m_c", "-o", tmp_path / "tests"]
        built([rustc], "--test", package.folder / "src" / "lib.rs", *flags)
        ended = subprocess.run([tmp_path / "tests"], capture_output=True, text=True, check=False, timeout=60)
        assert ended.returncode == code, ended.stdout
        assert "3 passed" in ended.stdout or "Err(Table)" in ended.stdout


def test_the_wrapper_of_another_export_does_not_compile(tmp_path):
    """Its arrays could be shorter than what the C reads."""
    (rustc,) = rust()
    package = packed("rust", SMALL["poly"], "m", tmp_path / "p")
    other = TARGETS["rust"].export(SMALL["linear"], "m").files["src/lib.rs"]
    (package.folder / "src" / "lib.rs").write_bytes(other)
    command = ["--edition", "2021", "--crate-type", "rlib", package.folder / "src" / "lib.rs", "--out-dir", tmp_path]
    said = compile_c([rustc], *command)
    assert said.returncode != 0 and "m.h are from different exports; export both again" in said.stderr


def test_cargo_builds_and_tests_the_crate_without_a_network(tmp_path):
    (cargo,) = compiler("cargo")
    rust(), compiler("cc")
    package = packed("rust", SMALL["laplacian_text"], "Gestures", tmp_path / "p")
    stub = tmp_path / "cc"
    (stub / "src").mkdir(parents=True)
    (stub / "Cargo.toml").write_text('[package]\nname = "cc"\nversion = "1.0.0"\nedition = "2021"\n')
    (stub / "src" / "lib.rs").write_text(CC)
    patch = f'patch.crates-io.cc.path="{stub}"'
    places = {"CARGO_HOME": str(tmp_path / "home"), "CARGO_TARGET_DIR": str(tmp_path / "target")}
    ends = {"test": "3 passed", "run --example predict": "label left, self-test ok"}
    assert " && ".join(f"cargo {what}" for what in ends) == package.export.usage
    for what, expected in ends.items():
        command = [cargo, *what.split(), "--offline", "--config", patch]
        run = subprocess.run(
            command, cwd=package.folder, env={**os.environ, **places}, capture_output=True, text=True, check=False
        )
        assert run.returncode == 0, run.stderr
        assert expected in run.stdout and "warning" not in run.stderr


@pytest.mark.parametrize("name", ["m", "Gestures", "x" * 40])
def test_the_manifest_is_one_of_cargo(name):
    files = TARGETS["rust"].export(model([rbf()], 3, 3, HOSTILE), name).files
    manifest = tomllib.loads(files["Cargo.toml"].decode())
    package = manifest["package"]
    assert package["name"] == name.lower() and package["links"] == name and package["license"] == "0BSD"
    assert re.fullmatch(r"\d+\.\d+\.\d+", package["version"])
    assert package["rust-version"] == "{}.{}".format(*LEAST)
    assert manifest["build-dependencies"] == {"cc": "1"} and "dependencies" not in manifest
    assert "#![no_std]" in files["src/lib.rs"].decode()


@pytest.mark.parametrize("name", ["core", "std", "Match", "self", "test", "proc_macro", "async"])
def test_a_name_that_rust_keeps_is_refused(name):
    with pytest.raises(OptionError, match="choose another"):
        TARGETS["rust"].export(SMALL["poly"], name)
