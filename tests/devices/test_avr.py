"""The AVR parts in simavr: parity, exact cycles, tables in flash, and what is said where something does not fit."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import numpy as np
import pytest
from c_programs import compile_c, compiler
from golden_models import SMALL, rows

from sparsegen.devices import DEVICES, Profile
from sparsegen.devices._avr_program import AvrBuild, _calls
from sparsegen.devices.avr import Avr
from sparsegen.errors import FitError, ToolError
from sparsegen.targets import TARGETS
from sparsegen.verify import verify

SCORES = "void m_scores(const float *x, float *scores) { scores[0] = x[0]; }\n"
SIGN = SCORES + "int m_predict(const float *x) { return x[0] > 0.0f; }\n"
ONE = np.ones((1, 1), np.float32)
MODEL = SMALL["binary_rbf"]


@pytest.fixture(params=[name for name in DEVICES if isinstance(DEVICES[name], Avr)])
def device(request):
    found = DEVICES[request.param]
    if found.missing() is not None:
        pytest.skip(f"{request.param}: {found.missing()}")
    return found


@pytest.mark.parametrize("name", SMALL)
def test_every_row_of_a_float_model_agrees(device, name):
    X = rows(SMALL[name], 60)
    (verdict,) = verify(SMALL[name], X, devices=[device.name])
    assert verdict.ok and verdict.rows == 60
    assert verdict.max_difference < 1e-6 * max(1.0, np.abs(SMALL[name].scores(X)).max())


def test_many_batches_of_rows_come_back_in_order(device, make_export):
    X = np.random.default_rng(0).normal(size=(1203, 1)).astype(np.float32)
    out = device.run(make_export(SIGN, 1, 1), X)
    np.testing.assert_array_equal(out.scores, X)
    np.testing.assert_array_equal(out.labels, X[:, 0] > 0)


def test_a_model_that_leaves_room_for_few_rows_is_run_in_small_batches(device, make_export):
    filler = device.profile.flash_bytes - 1600
    table = f"static const __flash char m_table[{filler}] = {{1, 2}};\n"
    predict = "int m_predict(const float *x) { return m_table[(int)x[0]]; }"
    X = np.tile(np.arange(2, dtype=np.float32), 10)[:, np.newaxis] * np.ones(40, np.float32)
    assert device.run(make_export(SCORES + table + predict, 40, 1), X).labels.tolist() == [1, 2] * 10


@pytest.mark.parametrize(
    ("text", "cycles"),
    [("ret", 4), ("ldi r24, 1\\n ldi r25, 0\\n ret", 6), ("nop\\n rjmp .+0\\n push r1\\n pop r0\\n ret", 11)],
)
def test_cycles_equal_a_hand_count(device, make_export, text, cycles):
    source = f'__attribute__((naked)) int m_predict(const float *x) {{ __asm__ volatile ("{text}"); }}'
    cost = device.measure(make_export(source, 1, 1), np.ones((3, 1), np.float32))
    assert (cost.cycles, cost.worst_cycles, cost.instructions) == (cycles, cycles, None)


def test_cycles_are_told_and_no_latency(device, sample):
    cost = device.measure(sample.export, sample.X)
    assert None not in (cost.flash, cost.ram, cost.cycles, cost.worst_cycles)
    assert cost.instructions is cost.worst_instructions is cost.latency_us is None


def test_mean_and_worst_are_told_apart(device, make_export):
    wait = "int m_predict(const float *x) { if (x[0] > 0.0f) { __builtin_avr_delay_cycles(70000); } return 0; }"
    export = make_export(wait, 1, 1)
    short, long, both = (device.measure(export, np.array(x, np.float32)[:, None]) for x in ([-1], [1], [-1, 1, -1]))
    assert 69_990 < long.cycles - short.cycles < 70_010
    assert both.cycles == (2 * short.cycles + long.cycles) / 3
    assert both.worst_cycles == long.cycles


def test_the_same_figures_every_time(device):
    export, X = TARGETS["c"].export(MODEL, "m"), rows(MODEL, 10).astype(np.float32)
    first = device.measure(export, X)
    assert first == device.measure(export, X)
    assert first.worst_cycles >= first.cycles > 1000


@pytest.mark.parametrize("name", SMALL)
def test_tables_are_in_flash_and_not_in_ram(device, name, tmp_path):
    export = TARGETS["c"].export(SMALL[name], "m")
    image = AvrBuild(export, device.name, device.profile, tmp_path).weigh()
    assert image.static_ram == 0
    assert image.flash > export.table_bytes


@pytest.mark.parametrize("name", SMALL)
def test_ram_holds_the_text_of_labels_and_nothing_else(device, name, tmp_path):
    """As much as the card says. A program that asks for no label has none of it."""
    pytest.importorskip("elftools")
    from elftools.elf.elffile import ELFFile

    export = TARGETS["c"].export(SMALL[name], "m")
    for file in ("m.c", "m.h"):
        (tmp_path / file).write_bytes(export.files[file])
    flags = (f"-mmcu={device.name}", "-std=gnu99", "-Os", "-c")
    built = compile_c(compiler("avr-gcc"), *flags, tmp_path / "m.c", "-o", tmp_path / "m.o")
    assert built.returncode == 0, built.stderr
    sections = ELFFile(io.BytesIO((tmp_path / "m.o").read_bytes())).iter_sections()
    ram = sum(s["sh_size"] for s in sections if s.name.startswith((".rodata", ".data", ".bss")))
    told = re.findall(r"on AVR also (\d+) bytes of label text", export.files["m.h"].decode())
    assert told == ([str(ram)] if SMALL[name].has_classes else [])
    assert ram == 0 or SMALL[name].has_classes


def test_the_self_test_is_in_flash_and_passes(device, make_export, tmp_path):
    export = TARGETS["c"].export(MODEL, "m")
    chosen = b"\nvoid t_scores(const float *x, float *s) { m_scores(x, s); }\nint t_predict(const float *x) { (void)x; "
    source = export.files["m.c"] + chosen + b"return m_selftest(); }\n"
    header = b'#include "m.h"\nvoid t_scores(const float *x, float *s);\nint t_predict(const float *x);\n'
    files = {"m.c": b'#include "t.h"\n' + source, "m.h": export.files["m.h"], "t.h": header}
    tested = replace(export, name="t", files=files)
    assert device.run(tested, rows(MODEL, 1).astype(np.float32)).labels.tolist() == [0]
    assert AvrBuild(tested, device.name, device.profile, tmp_path).weigh().static_ram == 0


def test_strict_c99_is_refused_rather_than_filling_the_ram(device, tmp_path, monkeypatch):
    from sparsegen.devices import _avr_program

    monkeypatch.setattr(_avr_program, "OPTIMISE", "-std=c99")
    with pytest.raises(ToolError, match=r"compile m\.c for AVR with -std=gnu99"):
        AvrBuild(TARGETS["c"].export(MODEL, "m"), device.name, device.profile, tmp_path)


def test_ram_is_static_data_and_stack(device, make_export):
    local = "volatile char big[200]; int i; for (i = 0; i < 200; i++) { big[i] = (char)i; } return big[77];"
    static = "static int calls[50]; static volatile int start = 3; calls[(int)x[0]]++; return calls[start];"
    stack = device.measure(make_export(f"int m_predict(const float *x) {{ (void)x; {local} }}", 1, 1), ONE).ram
    assert 202 <= stack < 215  # the array, the frame pointer and the return address
    assert 102 <= device.measure(make_export(f"int m_predict(const float *x) {{ {static} }}", 1, 1), ONE).ram < 125


def test_flash_counts_only_what_a_prediction_reaches(device, make_export):
    unused = "static const __flash float m_table[300] = {1.5f};\n"
    unused += "float m_other(int i) { return m_table[i] * m_table[i + 1]; }\n"
    unused += 'const char *m_label(int i) { static const char *const names[] = {"no", "yes"}; return names[i]; }\n'
    cost, padded = (device.measure(make_export(source, 1, 1), ONE) for source in (SIGN, SIGN + unused))
    assert cost == padded
    assert cost.flash < 200


@pytest.mark.parametrize("dtype", ["uint8", "int16", "uint16"])
def test_integer_rows_and_scores(device, make_export, dtype):

    kind = f"{dtype}_t"
    header = f"#include <stdint.h>\nvoid m_scores(const {kind} *x, int32_t *scores);\nint m_predict(const {kind} *x);\n"
    source = f"""#include "m.h"
    void m_scores(const {kind} *x, int32_t *s) {{ s[0] = -70000L * x[0]; s[1] = (int32_t)x[1] + x[2]; }}
    int m_predict(const {kind} *x) {{ return x[0] > x[1]; }}
    """
    export = replace(
        make_export("", 3, 2),
        files={"m.h": header.encode(), "m.c": source.encode()},
        input_dtype=np.dtype(dtype),
        score_dtype=np.dtype(np.int32),
    )
    limits = np.iinfo(dtype)
    X = np.random.default_rng(1).integers(limits.min, limits.max, size=(70, 3), endpoint=True).astype(dtype)
    X[:, 0] //= 4  # -70000 x stays within int32
    out = device.run(export, X)
    wide = X.astype(np.int64)
    assert out.scores.dtype == np.int32
    np.testing.assert_array_equal(out.scores, np.column_stack([-70000 * wide[:, 0], wide[:, 1] + wide[:, 2]]))
    np.testing.assert_array_equal(out.labels, X[:, 0] > X[:, 1])
    assert device.measure(export, X).cycles < 60


PREDICT = "int m_predict(const float *x) "
TOO_LARGE = {
    "flash": (
        f"static const __flash long m_table[{{n}}] = {{{{1}}}};\n{PREDICT}{{{{ return m_table[(int)x[0]] > 0; }}}}",
        1,
        "flash",
    ),
    "static": (f"{PREDICT}{{{{ static volatile char b[{{ram}}]; b[(int)x[0]]++; return b[7]; }}}}", 1, "RAM"),
    "frame": (
        f"{PREDICT}{{{{ volatile char b[{{ram}}]; int i; for (i = 0; i < {{ram}}; i++) {{{{ b[i] = x[0] > 0.0f; }}}} "
        "return b[7]; }}",
        1,
        "RAM",
    ),
    "row": (f"{PREDICT}{{{{ return x[0] > 0.0f; }}}}", 600, "RAM"),
}


@pytest.mark.parametrize("what", TOO_LARGE)
def test_what_does_not_fit_is_one_sentence(device, make_export, what):
    text, n_features, memory = TOO_LARGE[what]
    profile = device.profile
    export = make_export(SCORES + text.format(n=profile.flash_bytes // 4 - 2, ram=profile.ram_bytes), n_features, 1)
    X = np.ones((2, n_features), np.float32)
    there = profile.flash_bytes if memory == "flash" else profile.ram_bytes
    sentence = (
        rf"m does not fit device {device.name} \({profile.part}\): .*needs at least [\d,]+ bytes of {memory}, and "
    )
    with pytest.raises(FitError, match=rf"{sentence}there are {there:,}; use fewer"):
        device.run(export, X)
    cost = device.measure(export, X)
    assert (cost.cycles, cost.worst_cycles) == (None, None)
    assert profile.shortage(cost.flash, (cost.ram or 0) + X[0].nbytes) is not None


def test_a_stack_that_meets_the_data_is_one_sentence(device, make_export):
    n = device.profile.ram_bytes - 12  # leaves too little for the row, the return addresses and main's registers
    fill = f"static __attribute__((noinline)) char m_fill(void) {{ volatile char b[{n}]; int i; "
    fill += f"for (i = 0; i < {n}; i++) {{ b[i] = 1; }} return b[7]; }}\n"
    export = make_export(SCORES + fill + "int m_predict(const float *x) { (void)x; return m_fill(); }", 1, 1)
    with pytest.raises(FitError, match=rf"its stack needs at least {device.profile.ram_bytes + 1:,} bytes of RAM"):
        device.run(export, ONE)
    assert device.measure(export, ONE).ram + 4 > device.profile.ram_bytes


@pytest.mark.parametrize(
    "body",
    ["__builtin_trap();", "((void (*)(void))0)();", "return *(volatile char *)0x4000;"],
    ids=["trap", "jump", "read"],
)
def test_a_crash_is_one_sentence_and_soon(device, make_export, body):
    export = make_export(SCORES + f"int m_predict(const float *x) {{ (void)x; {body} return 0; }}", 1, 1)
    with pytest.raises(ToolError, match=r"m crashed in simavr.*outside its arrays"):
        device.run(export, ONE)


def test_a_runaway_prediction_ends(device, make_export, monkeypatch):
    from sparsegen.devices import _avr_program

    monkeypatch.setattr(_avr_program, "FIRST_ROW_SECONDS", 0.5)
    export = make_export(SCORES + "int m_predict(const float *x) { for (;;) { } }", 1, 1)
    with pytest.raises(ToolError, match=r"simavr did not end within 0\.5 s"):
        device.run(export, ONE)


@pytest.mark.parametrize("function", ["predict", "scores"])
def test_a_missing_function_is_named(device, make_export, function):
    kept = SCORES if function == "predict" else "int m_predict(const float *x) { return x[0] > 0.0f; }"
    with pytest.raises(ToolError, match=rf"m \(c99\) does not define the C function m_{function}"):
        device.run(make_export(kept, 1, 1), ONE)


@pytest.mark.parametrize("name", ["atmega328p", "attiny85"])
@pytest.mark.parametrize("tool", ["avr-gcc", "simavr", "elftools"])
def test_a_missing_tool_says_what_to_install(name, tool, hide, sample):
    hide(tool)
    install = r"pip install 'sparsegen\[devices\]'" if tool == "elftools" else "gcc-avr avr-libc simavr"
    with pytest.raises(ToolError, match=rf"device {name} cannot run here: .*{tool} not found; install .*{install}"):
        DEVICES[name].run(sample.export, sample.X)


def test_a_missing_library_says_what_to_install(device, monkeypatch):
    monkeypatch.setattr("sparsegen.devices.avr.has_library", lambda compiler: False)
    assert device.missing().startswith("avr-libc not found; install")


def test_profiles_are_those_of_the_data_sheets():
    assert DEVICES["atmega328p"].profile == Profile("ATmega328P", 16_000_000, 32_768, 2048)
    assert DEVICES["attiny85"].profile == Profile("ATtiny85", 8_000_000, 8192, 512)
    assert {name for name in DEVICES if isinstance(DEVICES[name], Avr)} == {"atmega328p", "attiny85"}


def test_a_trace_is_read_whatever_its_unit():
    changes = "#1\nb00000001 !\n#{a}\nb00000000 !\n#{b}\nb00000001 !\n#{c}\nb00000000 !\n"
    tens = "$timescale 10ns $end\n" + changes.format(a=8, b=9, c=20)
    ones = "$timescale 1ns $end\n" + re.sub(r"#(\d+)", r"#\g<1>0", changes.format(a=8, b=9, c=20))
    assert _calls(tens) == _calls(ones) == [7, 11]
    with pytest.raises(ToolError, match="without a time scale"):
        _calls("")
