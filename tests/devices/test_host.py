"""This computer as a device: compilers, sanitizers, C++, timing and valgrind."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from narrowing import known

from sparsegen.devices.host import Host
from sparsegen.errors import OptionError, ToolError

STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Wdouble-promotion", "-Werror"]
SANITIZE = ["-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
ZIG = "zig"


def compiler_or_skip(name):
    if name == ZIG:
        pytest.importorskip("ziglang")
        from sparsegen.devices._toolchain import zig

        return zig()
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    return (name,)


def check(device, sample):
    out = device.run(sample.export, sample.X)
    np.testing.assert_array_equal(out.scores, sample.scores)
    np.testing.assert_array_equal(out.labels, sample.labels)


@pytest.mark.parametrize("compiler", ["gcc", "clang", ZIG])
@pytest.mark.parametrize(
    "flags",
    [["-std=c99", "-O2", *STRICT], ["-x", "c++", "-std=c++17", "-O2", *STRICT]],
    ids=["c99", "c++17"],
)
def test_every_compiler_gives_the_same(compiler, flags, sample):
    check(Host(compiler_or_skip(compiler), flags), sample)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_sanitizers_pass_a_good_model_and_stop_a_bad_one(compiler, sample, make_export):
    device = Host(compiler_or_skip(compiler), ["-std=c99", *SANITIZE])
    check(device, sample)
    overread = make_export(
        "void m_scores(const float *x, float *s) { s[0] = x[1]; } int m_predict(const float *x) { return x[0] > 0; }",
        1,
        1,
    )
    with pytest.raises(ToolError, match=r"crashed on this computer(.|\n)*heap-buffer-overflow"):
        device.run(overread, np.zeros((1, 1), np.float32))


def test_a_null_write_becomes_a_sentence(null_write):
    device = Host()
    if reason := device.missing():
        pytest.skip(reason)
    with pytest.raises(ToolError, match="m crashed on this computer"):
        device.run(null_write, np.zeros((1, 1), np.float32))


def test_latency_is_told_and_no_cycles(sample):
    device = Host()
    if reason := device.missing():
        pytest.skip(reason)
    cost = device.measure(sample.export, sample.X)
    assert known(cost.latency_us) > 0.0
    assert cost.cycles is cost.worst_cycles is cost.worst_instructions is None


def counting_model(turns):
    """Return C whose predict loops ``turns`` times and whose scores loops far longer."""
    return f"""
    int m_predict(const float *x)
    {{
        volatile int turn;
        for (turn = 0; turn < {turns}; turn++) {{ }}
        return turn > (int)x[0];
    }}
    void m_scores(const float *x, float *scores)
    {{
        volatile int turn;
        for (turn = 0; turn < 50000; turn++) {{ }}
        scores[0] = x[0];
    }}
    """


def test_latency_grows_with_the_work(make_export):
    device, X = Host(), np.ones((3, 1), np.float32)
    if reason := device.missing():
        pytest.skip(reason)
    short, long = (device.measure(make_export(counting_model(turns), 1, 1), X) for turns in (20, 4000))
    assert 0 < known(short.latency_us) < known(long.latency_us)


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed")
def test_instructions_are_those_of_predict_alone(make_export):
    X = np.ones((5, 1), np.float32)
    few, many = (
        known(Host().measure(make_export(counting_model(turns), 1, 1), X).instructions) for turns in (100, 1100)
    )
    assert few < 1500 and 2000 < many - few < 9000


def test_without_valgrind_or_elftools_those_figures_are_none(hide, sample):
    hide("valgrind", "elftools")
    cost = Host().measure(sample.export, sample.X)
    assert cost.instructions is None and cost.flash is None and cost.ram is None and known(cost.latency_us) > 0


def test_flash_counts_only_what_a_prediction_reaches(sample, make_export):
    pytest.importorskip("elftools")
    flash = Host().measure(sample.export, sample.X).flash
    if flash is None:
        pytest.skip("this system's linker makes no ELF file")
    source = sample.export.files["m.c"].decode() + "const char m_unused[9999] = {1};"
    assert (
        Host().measure(make_export(source, sample.export.n_features, sample.export.n_outputs), sample.X).flash == flash
    )


def test_zig_stands_in_for_a_missing_system_compiler(hide, sample):
    pytest.importorskip("ziglang")
    hide("cc", "gcc", "clang")
    check(Host(), sample)


def test_no_compiler_says_what_to_install(hide, sample):
    hide("cc", "gcc", "clang", "ziglang")
    with pytest.raises(ToolError, match=r"no C compiler found; install cc, gcc or clang, or zig's with: pip install"):
        Host().run(sample.export, sample.X)
    assert known(Host(["no-such-compiler"]).missing()).startswith("no-such-compiler not found")


@pytest.mark.parametrize("name", ["m; rm", "9m", "m-x", ""])
def test_a_name_that_is_no_c_identifier_is_refused(name, sample):
    from dataclasses import replace

    with pytest.raises(OptionError, match="cannot prefix C symbols"):
        Host().run(replace(sample.export, name=name), sample.X)


def test_a_file_outside_the_folder_is_refused(sample):
    from dataclasses import replace

    with pytest.raises(OptionError, match="outside its folder"):
        Host().run(replace(sample.export, files={"../evil.h": b""}), sample.X)
